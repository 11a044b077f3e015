// Rpc serves games to reinforcement-learning clients over sockets. PROTOCOL.md specifies the messages.
package main

import (
	_ "embed"
	"os"
	"strings"

	"blockyard/rpc/commands"
)

// version is the version of the server and of its Python client.
//
//go:embed python/blockyard/VERSION
var version string

func main() { os.Exit(commands.MainOf(strings.TrimSpace(version))) }
