// Package program has what all programs of the project have in common: a command line with help, version and
// exit status (Program), the streams and the progress bar of a command (Console, Bar), the signals that end it
// (Context), and the file that says how a result was made (Run). Below it are files that are never half written (disk),
// HTTP servers (web), and health checks and metrics (ops).
//
// It knows no program: it imports nothing of the project but what is below it.
package program
