package cage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// system are the folders and files of the system that every contained program may read, as far as they exist.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	"/etc/alternatives", "/etc/ca-certificates*", "/etc/debian_version", "/etc/dotnet", "/etc/fonts",
	"/etc/host.conf", "/etc/hosts", "/etc/java*", "/etc/ld.so.*", "/etc/locale*", "/etc/localtime", "/etc/mime.types",
	"/etc/mono", "/etc/nsswitch.conf", "/etc/os-release", "/etc/pki/tls/certs", "/etc/python*",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone", "/var/lib/ghc",
}

// tools may be read below the home folder, where languages are often installed; files with passwords are not there.
var tools = []string{
	".cargo/bin", ".cargo/config*", ".cargo/env", ".cargo/git", ".cargo/registry", ".rustup/settings.toml",
	".rustup/toolchains", ".local/bin", ".local/lib", ".pyenv/bin", ".pyenv/libexec", ".pyenv/shims", ".pyenv/version",
	".pyenv/versions", ".nvm/versions", ".sdkman/candidates", ".dotnet", "go/pkg/mod", "sdk",
}

// installed are variables that name the folder in which a language is installed.
var installed = []string{"CONDA_PREFIX", "DOTNET_ROOT", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV"}

// homes are variables that tell tools where they are installed: their own home folder is another one in a cage.
var homes = map[string]string{"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"}

// passed are the variables of the environment that contained programs get. A star stands for any ending.
var passed = []string{
	"CC", "CONDA_PREFIX", "CXX", "DOTNET_ROOT", "GOAMD64", "GOFLAGS", "GOMAXPROCS", "JAVA_HOME", "LANG", "LC_*",
	"LD_LIBRARY_PATH", "MKL_NUM_THREADS", "NODE_PATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PYENV_VERSION",
	"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONHOME", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONUNBUFFERED",
	"PYTHONUTF8", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV",
}

// readable lists what every contained program may read: the system, and where languages are installed: below the home
// folder, in folders that variables name, and in the folders of /opt that are on PATH.
var readable = sync.OnceValue(func() (list []string) {
	home, _ := os.UserHomeDir()
	patterns := slices.Clone(system)
	for _, path := range tools {
		patterns = append(patterns, filepath.Join(home, path))
	}
	for _, name := range installed {
		if folder := os.Getenv(name); filepath.IsAbs(folder) && !private(folder) {
			patterns = append(patterns, filepath.Clean(folder))
		}
	}
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		if rest, ok := strings.CutPrefix(filepath.Clean(bin), "/opt/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			patterns = append(patterns, "/opt/"+name)
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // all patterns are valid, but for an odd home folder
		list = append(list, found...)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(p string) bool {
		return slices.ContainsFunc(list, func(q string) bool { return q != p && within(p, q) })
	})
})

// environment is what a contained program gets of ours, with a home and a folder for temporary files of its own.
func environment(temporary string, more []string) (list []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(passed, func(p string) bool { ok, _ := filepath.Match(p, name); return ok }) {
			list = append(list, variable)
		}
	}
	home, _ := os.UserHomeDir()
	for name, folder := range homes {
		path := filepath.Join(home, folder)
		if set := os.Getenv(name); set != "" {
			path = set
		}
		if _, err := os.Stat(path); err == nil {
			list = append(list, name+"="+path)
		}
	}
	return append(append(list, "HOME="+temporary, "TMPDIR="+temporary), more...)
}
