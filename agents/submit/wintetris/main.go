// Wintetris is the demo solver of WinTetris as a shared library for any language, with the C interface of wintetris.h:
//
//	go build -buildmode=c-shared -o libwintetris_solver.so ./agents/submit/wintetris
//
// The README is for authors of hosts and solvers. The library needs cgo and a C compiler;
// without them the package builds as an empty program.
package main

func main() {}
