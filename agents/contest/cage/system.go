package cage

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

//go:embed lists.toml
var listsText string

// lists are those of lists.toml, which says what each is.
var lists = sync.OnceValue(func() (all struct {
	System, Devices, Tools, Passed []string
	Homes                          map[string]string
	Refused                        map[string][]string
}) {
	if _, err := toml.Decode(listsText, &all); err != nil {
		panic(err) // a file of the program
	}
	return all
})

// readable returns what every contained program may read here.
var readable = sync.OnceValue(func() (list []string) {
	home, _ := os.UserHomeDir()
	add := func(path string) {
		if found, err := filepath.Glob(path); err == nil {
			list = append(list, found...)
		}
	}
	for _, path := range lists().System {
		add(path)
	}
	for _, path := range lists().Tools {
		add(filepath.Join(home, path))
	}
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(bin) && !private(bin) {
			list = append(list, bin)
		}
		list = append(list, installation(bin)...)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(p string) bool {
		return slices.ContainsFunc(list, func(q string) bool { return q != p && within(p, q) })
	})
})

// installation returns the folder of which bin, such as /usr/local/go/bin, is a part.
func installation(bin string) []string {
	folder := filepath.Dir(bin)
	hidden := strings.HasPrefix(filepath.Base(folder), ".") // such as .local and .cargo
	if filepath.Base(bin) != "bin" || !filepath.IsAbs(bin) || hidden || private(folder) {
		return nil
	}
	return []string{folder}
}

// program returns what a program that is started by path may need of its installation.
func program(path string) (list []string) {
	if found, err := exec.LookPath(path); err == nil {
		path = found
	}
	for _, path := range []string{path, resolved(path)} {
		if path, err := filepath.Abs(path); err == nil && filepath.Dir(path) != path {
			list = append(append(list, path), installation(filepath.Dir(path))...)
		}
	}
	return list
}

func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// environment is what a contained program gets of ours, with a home and a folder for temporary files of its own.
func environment(temporary string, more []string) (list []string) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(lists().Passed, func(p string) bool { ok, _ := filepath.Match(p, name); return ok }) {
			list = append(list, variable)
		}
	}
	home, _ := os.UserHomeDir()
	for name, folder := range lists().Homes {
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
