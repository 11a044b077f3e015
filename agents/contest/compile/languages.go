package compile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A language says how a bot is compiled and started.
type language struct {
	name    string
	endings []string // of its source files
	build   func(c *compiler, files []string) (argv []string, err error)
}

// languages are in the order in which they are looked for: a submission in Python may hold a library in C, but not the
// other way round.
var languages = []language{
	{"Python", []string{".py"}, python},
	{"Go", []string{".go"}, golang},
	{"Rust", []string{".rs"}, rust},
	{"Java", []string{".java"}, java},
	{"C#", []string{".cs"}, csharp},
	{"JavaScript", []string{".js", ".mjs"}, javascript},
	{"C++", []string{".cpp", ".cc", ".cxx"}, cplusplus},
	{"C", []string{".c"}, plainC},
}

// languageOf is the language of a source file, nil if it has none.
func languageOf(path string) *language {
	for k := range languages {
		if slices.Contains(languages[k].endings, strings.ToLower(filepath.Ext(path))) {
			return &languages[k]
		}
	}
	return nil
}

// detect returns the language of the sources below a folder, and their files relative to it.
func detect(root string) (*language, []string, error) {
	files := map[*language][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if l := languageOf(path); l != nil {
			local, _ := filepath.Rel(root, path)
			files[l] = append(files[l], local)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for k := range languages {
		if l := &languages[k]; len(files[l]) > 0 {
			return l, files[l], nil
		}
	}
	var known []string
	for _, l := range languages {
		known = append(known, l.name+" ("+strings.Join(l.endings, ", ")+")")
	}
	return nil, nil, refuse("holds no source file of %s", strings.Join(known, ", "))
}

// tool returns the first of several programs that this machine has.
func tool(what string, names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", refuse("needs %s, which this machine does not have: %s is not found", what, strings.Join(names, " or "))
}

// start returns the file with which a program begins: the only one, one of a usual name, or the only one that matches.
func (c *compiler) start(files []string, pattern string, usual ...string) (string, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	for _, name := range usual {
		if slices.Contains(files, name) {
			return name, nil
		}
	}
	var found []string
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			return "", err
		}
		if regexp.MustCompile(pattern).Match(text) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", refuse("%d of its %d source files can be the one to start: call it %s", len(found), len(files), usual[0])
	}
	return found[0], nil
}

func python(c *compiler, files []string) ([]string, error) {
	python, err := tool("Python", "python3", "python")
	if err != nil {
		return nil, err
	}
	main, err := c.start(files, `__name__\s*==\s*['"]__main__['"]`, "main.py", "bot.py", "__main__.py")
	if err != nil {
		return nil, err
	}
	return []string{python, "-u", main}, c.run(append([]string{python, "-m", "py_compile"}, files...)...)
}

func javascript(c *compiler, files []string) ([]string, error) {
	node, err := tool("Node.js", "node", "nodejs")
	if err != nil {
		return nil, err
	}
	main, err := c.start(files, `process\.stdin`, "main.js", "bot.js", "index.js", "main.mjs")
	if err != nil {
		return nil, err
	}
	return []string{node, main}, c.run(node, "--check", main)
}

func golang(c *compiler, files []string) ([]string, error) {
	tool, err := tool("Go", "go")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(c.dir, "go.mod")); err != nil {
		if err := os.WriteFile(filepath.Join(c.dir, "go.mod"), []byte("module bot\n\ngo 1.17\n"), 0o644); err != nil {
			return nil, err
		}
	}
	if err := c.shareGo(tool); err != nil {
		return nil, err
	}
	return c.binary(), c.run(tool, "build", "-o", "bot", ".")
}

// usual are packages that most programs import.
var usual = []string{"bufio", "encoding/json", "fmt", "math/rand/v2", "os", "sort", "strconv", "strings", "time"}

// shareGo lets a contained build read the caches of this user, so that it does not compile the standard library anew.
func (c *compiler) shareGo(tool string) error {
	if c.cage == nil {
		return nil
	}
	where, err := exec.CommandContext(c.ctx, tool, "env", "GOROOT", "GOCACHE", "GOMODCACHE").Output()
	paths := strings.Split(strings.TrimSpace(string(where)), "\n")
	if err != nil || len(paths) != 3 {
		return fmt.Errorf("%s env: %q, %w", tool, where, err)
	}
	if _, err := os.Stat(filepath.Join(paths[1], "00")); err != nil { // it has never been used
		fill := exec.CommandContext(c.ctx, tool, append([]string{"build"}, usual...)...)
		fill.Dir = os.TempDir()
		_ = fill.Run() // the contained build says what is wrong
	}
	c.cage.Read = append(c.cage.Read, paths...)
	c.cage.Env = append(c.cage.Env, "GOTOOLCHAIN=local", "GOPROXY=off", "GOROOT="+paths[0], "GOCACHE="+paths[1],
		"GOMODCACHE="+paths[2])
	return nil
}

func rust(c *compiler, files []string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(c.dir, "Cargo.toml")); err == nil {
		cargo, err := tool("Rust", "cargo")
		if err != nil {
			return nil, err
		}
		return []string{cargo, "run", "--release", "--quiet", "--offline"}, c.run(cargo, "build", "--release", "--offline")
	}
	rustc, err := tool("Rust", "rustc")
	if err != nil {
		return nil, err
	}
	main, err := c.start(files, `fn\s+main\s*\(`, "main.rs", "src/main.rs", "bot.rs")
	if err != nil {
		return nil, err
	}
	return c.binary(), c.run(rustc, "-O", "-o", "bot", main)
}

var javaPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;`)

func java(c *compiler, files []string) ([]string, error) {
	javac, err := tool("a Java compiler", "javac")
	if err != nil {
		return nil, err
	}
	run, err := tool("Java", "java")
	if err != nil {
		return nil, err
	}
	main, err := c.start(files, `static\s+(public\s+)?void\s+main\s*\(`, "Main.java", "Bot.java")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(c.dir, main))
	if err != nil {
		return nil, err
	}
	class := strings.TrimSuffix(filepath.Base(main), ".java")
	if m := javaPackage.FindSubmatch(text); m != nil {
		class = string(bytes.Join([][]byte{m[1], []byte(class)}, []byte(".")))
	}
	err = c.run(append([]string{javac, "-encoding", "UTF-8", "-d", "classes"}, files...)...)
	// By default the JVM writes warnings to standard output, where they would be answers, such as one that another JVM
	// with the same number of its process holds the file of its performance counters.
	return []string{run, "-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=warning:stderr", "-cp", "classes", class}, err
}

func csharp(c *compiler, files []string) ([]string, error) {
	if mcs, err := exec.LookPath("mcs"); err == nil {
		mono, err := tool("Mono", "mono")
		if err != nil {
			return nil, err
		}
		return []string{mono, "bot.exe"}, c.run(append([]string{mcs, "-optimize", "-out:bot.exe"}, files...)...)
	}
	dotnet, err := tool("C#", "dotnet")
	if err != nil {
		return nil, err
	}
	projects, err := filepath.Glob(filepath.Join(c.dir, "*.csproj"))
	if err != nil {
		return nil, err
	}
	if len(projects) == 0 {
		const project = `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>` +
			`<TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>`
		if err := os.WriteFile(filepath.Join(c.dir, "bot.csproj"), []byte(project), 0o644); err != nil {
			return nil, err
		}
		projects = []string{"bot.csproj"}
	}
	name := strings.TrimSuffix(filepath.Base(projects[0]), ".csproj")
	return []string{dotnet, filepath.Join("out", name+".dll")},
		c.run(dotnet, "build", "--configuration", "Release", "--output", "out")
}

func cplusplus(c *compiler, files []string) ([]string, error) {
	compiler, err := tool("a C++ compiler", "c++", "g++", "clang++")
	if err != nil {
		return nil, err
	}
	return c.binary(), c.run(append([]string{compiler, "-O2", "-std=c++17", "-pthread", "-o", "bot"}, files...)...)
}

func plainC(c *compiler, files []string) ([]string, error) {
	compiler, err := tool("a C compiler", "cc", "gcc", "clang")
	if err != nil {
		return nil, err
	}
	return c.binary(), c.run(append(append([]string{compiler, "-O2", "-o", "bot"}, files...), "-lm")...)
}

// binary is the command of the executable that a compiler has written.
func (c *compiler) binary() []string { return []string{filepath.Join(c.dir, "bot")} }
