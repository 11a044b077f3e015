package provenance

import (
	"regexp"
	"slices"
)

var (
	// A flag with a secret as its value. Flags ending in -file and the like name a file instead.
	secretFlag = regexp.MustCompile(`^(--?[\w-]*(?:token|password|secret|key))(=|$)`)
	// The user and password of an address.
	secretUser = regexp.MustCompile(`://[^/@\s]+@`)
)

// hideSecrets returns a copy of the arguments of a process with *** in place of secrets.
func hideSecrets(args []string) []string {
	args = slices.Clone(args)
	for k, arg := range args {
		if match := secretFlag.FindStringSubmatch(arg); match != nil {
			switch {
			case match[2] == "=":
				args[k] = match[1] + "=***"
			case k+1 < len(args):
				args[k+1] = "***"
			}
			continue
		}
		args[k] = secretUser.ReplaceAllString(arg, "://***@")
	}
	return args
}
