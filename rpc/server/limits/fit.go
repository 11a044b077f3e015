package limits

import "log/slog"

// Fit lowers MaxMappings and MaxFiles to half of what the kernel allows this process: the other half is for the Go
// runtime, for files and connections that no client asked for, and for agents. It logs what it lowers, and warns of a
// MaxMemory for which this machine has too little, unless it is Unlimited.
func (l *Limits) Fit(log *slog.Logger) {
	if fits, bound := Fitting(); l.MaxMemory > fits && l.MaxMemory != Unlimited {
		log.Warn("the machine has too little memory for --max-memory: the kernel may end this process", "value", l.MaxMemory,
			"fits", fits, "bound", bound)
	}
	mappings, files := kernelLimits()
	for _, v := range []struct {
		flag, kernel string
		limit        *int
		most         int
	}{
		{"--max-mappings", "vm.max_map_count", &l.MaxMappings, mappings / 2},
		{"--max-files", "RLIMIT_NOFILE (ulimit -n)", &l.MaxFiles, files / 2},
	} {
		if *v.limit > v.most {
			log.Warn("limit lowered to half of what the kernel allows", "limit", v.flag, "from", *v.limit, "to", v.most,
				"kernel", v.kernel)
			*v.limit = v.most
		}
	}
}
