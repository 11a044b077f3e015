package contest

import (
	"fmt"
	"strings"
)

// runtimes returns the variables that tell the runtimes of languages how much memory a program may use: by default,
// they would go by the memory of the machine. The heap gets a part of it. What a command says itself counts more.
func runtimes(memory int64) []string {
	heap := memory / 10 * 6
	return []string{
		fmt.Sprintf("JAVA_TOOL_OPTIONS=-Xmx%dk", heap>>10),
		fmt.Sprintf("DOTNET_GCHeapHardLimit=%x", heap),
		fmt.Sprintf("MONO_GC_PARAMS=max-heap-size=%dk", heap>>10),
		fmt.Sprintf("NODE_OPTIONS=--max-old-space-size=%d", max(heap>>20, 1)),
		fmt.Sprintf("GOMEMLIMIT=%d", heap),
	}
}

// obeys reports whether a line of standard error only says that the JVM has read such a variable.
func obeys(line string) bool { return strings.HasPrefix(line, "Picked up JAVA_TOOL_OPTIONS: -Xmx") }
