// Package broker is a NATS server with JetStream, embedded or external, and the connection to it: its flags, its keys
// and its certificates. The server of a run and its workers exchange jobs and results there; package fleet lists what
// they keep in it.
package broker
