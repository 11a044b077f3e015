package compile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Standards of C++ and C, the newest first: an old program may need an old one.
var (
	plusStandards = []string{"-std=gnu++20", "-std=gnu++14"}
	cStandards    = []string{"-std=gnu11", "-std=gnu89"}
)

func cplusplus(c *compiler, files []string) error {
	compiler, err := tool("a C++ compiler", "c++", "g++", "clang++")
	if err != nil {
		return err
	}
	return c.native(files, plusStandards, compiler, "-O2", "-pthread")
}

func plainC(c *compiler, files []string) error {
	compiler, err := tool("a C compiler", "cc", "gcc", "clang")
	if err != nil {
		return err
	}
	return c.native(files, cStandards, compiler, "-O2")
}

// native builds with the author's build file, or else, or if that fails, with the compiler alone.
func (c *compiler) native(files, standards []string, compiler ...string) error {
	first := c.byBuildFile()
	if first == nil {
		return nil
	}
	err := c.alone(files, standards, compiler)
	if err != nil && !errors.Is(first, errNoBuildFile) {
		return first
	}
	return err
}

var errNoBuildFile = errors.New("no build file whose tool is here")

// byBuildFile builds with make or cmake.
func (c *compiler) byBuildFile() error {
	makefile, plain := c.mark([]string{"[Mm]akefile", "GNUmakefile"})
	lists, cmakes := c.mark([]string{"CMakeLists.txt"})
	make, err := tool("make", "make")
	if err != nil || !plain && !cmakes {
		return errNoBuildFile
	}
	mark := makefile
	if cmakes && (!plain || depth(lists) <= depth(makefile)) {
		mark = lists
	}
	dir := path.Dir(mark)
	if _, err := c.executables(dir, true); err != nil {
		return err
	}
	if mark == makefile {
		err = c.run(make, "-C", dir)
	} else {
		cmake, missing := tool("CMake", "cmake")
		if missing != nil {
			return errNoBuildFile
		}
		const out = ".host-build"
		err = c.run(cmake, "-S", dir, "-B", out, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY="+
			filepath.Join(c.dir, dir, ".host-bin"))
		if err == nil {
			err = c.run(cmake, "--build", out)
		}
	}
	if err != nil {
		return err
	}
	return c.product(mark, dir)
}

// product makes the executable that a build has left below a folder the program.
func (c *compiler) product(mark, dir string) error {
	found, err := c.executables(dir, false)
	if err != nil {
		return err
	}
	for _, name := range found {
		if slices.Contains(usual, stem(name)) {
			found = []string{name}
			break
		}
	}
	switch len(found) {
	case 0:
		return refuse("%s builds no executable; say what to run in bot.toml (%s)", mark, page)
	case 1:
		c.begin(mark, filepath.Join(c.dir, found[0]))
		return nil
	}
	return refuse("%s builds %d executables: %s; say which to run in bot.toml (%s)", mark, len(found), some(found), page)
}

// executables lists the programs in machine code below a folder, or removes them.
func (c *compiler) executables(dir string, remove bool) (list []string, err error) {
	err = filepath.WalkDir(filepath.Join(c.dir, dir), func(name string, d fs.DirEntry, err error) error {
		local, _ := filepath.Rel(c.dir, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "CMakeFiles" || d.Name() == "deps"):
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

// machineCode reports whether a file is a program of Linux, macOS or Windows, and no library or object.
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
	return string(head[:]) == "\x7fELF" || string(head[:]) == "\xcf\xfa\xed\xfe" || bytes.HasPrefix(head[:], []byte("MZ"))
}

// included is a file of code that another one includes, so that it is not compiled by itself.
var included = regexp.MustCompile(`(?m)^\s*#\s*include\s+"([^"]+\.(c|cc|cpp|cxx))"`)

// alone compiles all files but those that others include, and those with another main.
func (c *compiler) alone(files, standards, compiler []string) error {
	l := languageOf(files[0])
	var units []string
	inside := map[string]bool{}
	for _, s := range c.seen {
		for _, m := range included.FindAllStringSubmatch(c.text(s.name), -1) {
			inside[path.Base(m[1])] = true
		}
	}
	for _, name := range files {
		if !inside[path.Base(name)] {
			units = append(units, name)
		}
	}
	main, err := c.start(l, units)
	if err != nil {
		return err
	}
	argv := append(compiler, "-o", "bot.host")
	for _, s := range c.seen {
		dir := "-I" + path.Dir(s.name)
		if strings.HasPrefix(path.Ext(s.name), ".h") && !slices.Contains(argv, dir) {
			argv = append(argv, dir)
		}
	}
	others := c.matching(units, l.main)
	for _, name := range units {
		if name == main || !slices.Contains(others, name) {
			argv = append(argv, name)
		}
	}
	argv = append(argv, "-lm")
	c.begin(main, filepath.Join(c.dir, "bot.host"))
	if err = c.run(append(slices.Clone(argv), standards[0])...); err == nil || c.ctx.Err() != nil {
		return err
	}
	if c.run(append(argv, standards[1])...) == nil {
		return nil
	}
	return err
}
