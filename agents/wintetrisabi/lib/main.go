// Wintetrisplugin is the demo solver of WinTetris as a shared library that a host in any
// language loads, through the C interface of wintetris.h:
//
//	go build -buildmode=c-shared -o libwintetris_solver.so ./agents/wintetrisabi/lib
//
// Its README says what a host and a solver's author need to know. The library needs cgo and
// a C compiler; without them the package builds as an empty program.
package main

func main() {}
