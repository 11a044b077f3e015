package compile

import (
	"cmp"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// native builds with the author's build file, or else, or if that fails, with the compiler alone.
func native(c *compiler, l *language, files []string) {
	tool := c.tool(l.Name, l.Tools...)
	if c.err != nil {
		return
	}
	first := c.trueNames()
	for _, buildFile := range c.buildFiles() {
		if c.byBuildFile(buildFile); c.err == nil {
			return
		}
		first, c.err = cmp.Or(first, c.err), nil
	}
	c.alone(l, files, append([]string{tool}, l.Flags...))
	if c.err != nil && first != nil {
		c.err = first
	}
}

// buildFiles are those of make and CMake in the fewest folders whose tools are here.
func (c *compiler) buildFiles() (buildFiles []string) {
	for name, pattern := range map[string]string{"cmake": "CMakeLists.txt", "make": "*[Mm]akefile"} {
		_, make := exec.LookPath("make") // which CMake needs too
		_, missing := exec.LookPath(name)
		if buildFile, ok := c.find([]string{pattern}); ok && missing == nil && make == nil {
			buildFiles = append(buildFiles, buildFile)
		}
	}
	slices.Sort(buildFiles) // CMake first
	slices.SortStableFunc(buildFiles, func(a, b string) int { return depth(a) - depth(b) })
	return buildFiles
}

func (c *compiler) byBuildFile(buildFile string) {
	dir := path.Dir(buildFile)
	_, err := c.executables(dir, true)
	c.fail(err)
	if path.Base(buildFile) == "CMakeLists.txt" {
		const out = ".host-build"
		c.run("cmake", "-S", dir, "-B", out, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY="+
			filepath.Join(c.dir, dir, ".host-bin"))
		c.run("cmake", "--build", out)
	} else {
		c.unixLines(buildFile)
		c.make(dir)
	}
	c.product(buildFile, dir)
}

// absent is what make says of a compiler that is not here; its name may have a version or a system.
var absent = regexp.MustCompile(`(?m)(?:^|[\s:/])(([\w.]+-)*(g\+\+|c\+\+|clang\+\+|icpc|gcc|cc|clang|icc)` +
	`(-[\d.]+)?(\.exe)?): (?:command |No such file|not found)`)

// make runs make in a folder, where a compiler that is missing is the one that is here.
func (c *compiler) make(dir string) {
	tools := filepath.Join(os.TempDir(), "tools.host")
	for c.run("make", "-C", dir); ; c.run("make", "-C", dir) {
		why := new(Refusal)
		if !errors.As(c.err, &why) {
			return
		}
		m := absent.FindStringSubmatch(why.Output)
		if m == nil {
			return
		}
		kind := languageThat(func(l language) bool { return l.Name == "C" })
		if strings.HasSuffix(m[3], "++") || m[3] == "icpc" {
			kind = languageThat(func(l language) bool { return l.Name == "C++" })
		}
		first := c.err
		c.err = nil
		tool := c.tool(kind.Name, kind.Tools...)
		c.fail(os.MkdirAll(tools, 0o755))
		if err := os.Symlink(tool, filepath.Join(tools, m[1])); err != nil || c.err != nil {
			c.err = first // a compiler that is named by its path stays missing
			return
		}
		if path := os.Getenv("PATH"); !strings.HasPrefix(path, tools) {
			c.fail(os.Setenv("PATH", tools+string(os.PathListSeparator)+path))
		}
	}
}

// product makes the executable that a build has left below a folder the program.
func (c *compiler) product(buildFile, dir string) {
	if c.err != nil {
		return
	}
	found, err := c.executables(dir, false)
	if k := slices.IndexFunc(found, c.isUsual); k >= 0 {
		found = found[k : k+1]
	}
	switch {
	case err != nil:
		c.err = err
	case len(found) == 0:
		c.err = refuse("%s builds no executable; say what to run in bot.toml", buildFile)
	case len(found) > 1:
		c.err = refuse("%s builds %d executables: %s; say which to run in bot.toml", buildFile, len(found), some(found))
	default:
		c.begin(buildFile, filepath.Join(c.dir, found[0]))
	}
}

// executables lists the programs in machine code below a folder, or removes them.
func (c *compiler) executables(dir string, remove bool) (list []string, err error) {
	err = filepath.WalkDir(filepath.Join(c.dir, dir), func(name string, d fs.DirEntry, err error) error {
		local, _ := filepath.Rel(c.dir, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "CMakeFiles" || d.Name() == "deps" || local == ".host-build/release/build"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || !machineCode(name):
			return nil
		case remove:
			return os.Remove(name)
		}
		list = append(list, filepath.ToSlash(local))
		return nil
	})
	return list, err
}

func machineCode(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".so", ".o", ".obj", ".dll", ".dylib", ".a":
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	_, _ = io.ReadFull(f, head[:])
	programs := []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"}
	return slices.Contains(programs, string(head[:])) || string(head[:2]) == "MZ"
}

// runsHere reports whether a program in machine code is for a system and processor such as ours.
func runsHere(name string) bool {
	f, err := elf.Open(name)
	if err != nil {
		return runtime.GOOS != "linux"
	}
	defer f.Close()
	ours, err := elf.Open("/proc/self/exe")
	if err != nil {
		return false
	}
	defer ours.Close()
	return f.Machine == ours.Machine && f.Class == ours.Class
}

// include is a line with which code includes a file, in parts: what leads up from its folder, and the name there.
var include = regexp.MustCompile(`(?m)^(\s*#\s*include\s*"[./\\]*)([^"\n]+)`)

// trueNames makes includes name files as they are called: elsewhere capitals and backslashes make no difference.
func (c *compiler) trueNames() (err error) {
	names, exact := map[string]string{}, map[string]bool{} // from all folders around a file; by small letters
	for _, s := range c.seen {
		for name := s.name; name != ""; _, name, _ = strings.Cut(name, "/") {
			names[strings.ToLower(name)], exact[name] = name, true
		}
	}
	mend := func(line string) string {
		m := include.FindStringSubmatch(strings.ReplaceAll(line, `\`, "/"))
		if name := names[strings.ToLower(m[2])]; name != "" && !exact[m[2]] {
			return m[1] + name
		}
		return m[0]
	}
	for _, s := range c.seen {
		text := c.text(s.name)
		if mended := include.ReplaceAllStringFunc(text, mend); mended != text {
			err = errors.Join(err, c.write(s.name, mended, 0o644))
		}
	}
	return err
}

// alone compiles all that is not included and has no other main; if that fails, only what is beside the main file.
func (c *compiler) alone(l *language, files, compiler []string) {
	inside := map[string]bool{}
	for _, s := range c.seen {
		for _, m := range include.FindAllStringSubmatch(c.code(s.name), -1) {
			inside[path.Base(m[2])] = true
		}
	}
	units := narrow(files, func(name string) bool { return !inside[path.Base(name)] })
	main := c.start(l, units)
	if c.err != nil {
		return
	}
	c.begin(main, filepath.Join(c.dir, "bot.host"))
	others := c.matchingCode(units, l.Main)
	units = narrow(units, func(name string) bool { return name == main || !slices.Contains(others, name) })
	base := append(compiler, "-o", "bot.host")
	for _, s := range c.seen { // a header of the system comes before one of the bot with its name
		dir := path.Dir(s.name)
		if strings.HasPrefix(path.Ext(s.name), ".h") && !slices.Contains(base, "-iquote"+dir) {
			base = append(base, "-iquote"+dir, "-idirafter"+dir, "-idirafter"+path.Dir(dir))
		}
	}
	var tries [][]string
	for _, files := range [][]string{units, beside(main, units)} {
		for _, standard := range l.Standards {
			tries = append(tries, slices.Concat(base, files, []string{"-lm", standard}))
		}
	}
	c.try(tries...)
}
