package compile

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// above returns the build file, of some patterns, in the folder of a file or the nearest one around it.
func (c *compiler) above(name string, patterns ...string) (buildFile string, ok bool) {
	for _, s := range c.seen {
		if dir := path.Dir(s.name); (dir == "." || strings.HasPrefix(name, dir+"/")) && matches(s.name, patterns) {
			buildFile, ok = s.name, true // files in more folders are later
		}
	}
	return buildFile, ok
}

func beside(main string, files []string) []string {
	return narrow(files, func(name string) bool {
		return path.Dir(main) == "." || strings.HasPrefix(name, path.Dir(main)+"/")
	})
}

func golang(c *compiler, l *language, files []string, tool, main string) {
	if c.err == nil {
		c.err = c.ownGoCache()
	}
	buildFile, ok := c.above(main, "go.mod")
	home := buildFile
	if !ok {
		home, buildFile = main, "go.mod"
		c.run(tool, "mod", "init", c.goModule(files))
	}
	binary := filepath.Join(c.dir, "bot.host")
	c.begin(home, binary)
	pkg := strings.TrimPrefix(strings.TrimPrefix(path.Dir(main), path.Dir(buildFile)), "/")
	c.run(tool, "build", "-C", path.Dir(buildFile), "-ldflags=-s -w", "-o", binary, "./"+pkg)
}

// ownGoCache gives Go a copy of the compiled standard library: it wants to write there.
func (c *compiler) ownGoCache() error {
	if c.goCache == "" {
		return errNeedsGo
	}
	own := filepath.Join(os.TempDir(), "go-build")
	return errors.Join(os.CopyFS(own, os.DirFS(c.goCache)), os.Setenv("GOCACHE", own))
}

var quotedPath = regexp.MustCompile(`"([\w.~/-]{1,300}\.[\w.~/-]{1,300})"`)

// goModule is the path under which a program without go.mod imports its own folders, such as github.com/me/bot.
func (c *compiler) goModule(files []string) string {
	folders := map[string]bool{}
	for _, name := range files {
		folders[path.Dir(name)] = true
	}
	for _, name := range files {
		for _, m := range quotedPath.FindAllStringSubmatch(c.text(name), -1) {
			for at := 0; at < len(m[1]); at++ {
				if m[1][at] == '/' && folders[m[1][at+1:]] {
					return m[1][:at]
				}
			}
		}
	}
	return "bot"
}

func rust(c *compiler, l *language, files []string) {
	buildFile, ok := c.find(l.BuildFiles)
	if !ok {
		started(toBinary)(c, l, files)
		return
	}
	target := filepath.Join(c.dir, ".host-build")
	c.run(c.tool("Rust", "cargo"), "build", "--release", "--offline", "--manifest-path", buildFile, "--target-dir", target)
	c.product(buildFile, ".host-build/release")
}

// toBinary compiles the file to start, whose compiler finds the others.
func toBinary(c *compiler, l *language, files []string, tool, main string) {
	binary := filepath.Join(c.dir, "bot.host")
	c.begin(main, binary)
	c.run(slices.Concat([]string{tool}, l.Flags, []string{"-o", binary, main})...)
}

var (
	cabalMain    = regexp.MustCompile(`(?mi)^\s*main-is:\s*(\S+)`)
	cabalFolders = regexp.MustCompile(`(?mi)^\s*hs-source-dirs:\s*(\S.*)$`)
)

func haskell(c *compiler, l *language, files []string) {
	in := *l
	in.Flags = slices.Clone(l.Flags)
	if buildFile, ok := c.find([]string{"*.cabal"}); ok {
		text := c.text(buildFile)
		for _, m := range cabalFolders.FindAllStringSubmatch(text, -1) {
			for _, dir := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(", \t\r", r) }) {
				in.Flags = append(in.Flags, "-i"+path.Join(path.Dir(buildFile), dir))
			}
		}
		if m := cabalMain.FindStringSubmatch(text); m != nil {
			files = narrow(files, func(name string) bool { return path.Base(name) == path.Base(m[1]) })
		}
	}
	for _, name := range files {
		if c.isUsual(name) {
			in.Flags = append(in.Flags, "-i"+path.Dir(name))
		}
	}
	started(toBinary)(c, &in, files)
}

var jvmPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;?`)

func (c *compiler) inPackage(main, class string) string {
	if m := jvmPackage.FindStringSubmatch(c.text(main)); m != nil {
		return m[1] + "." + class
	}
	return class
}

// onJVM starts a class. By default the JVM writes warnings to standard output, where they would be answers.
func (c *compiler) onJVM(main string, args ...string) {
	run := c.tool("Java", "java")
	c.begin(main, append([]string{run, "-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=warning:stderr"}, args...)...)
}

// classPath is the folder of the classes, those of resources, and every library, as absolute paths.
func (c *compiler) classPath() string {
	list := []string{filepath.Join(c.dir, "classes.host"), c.dir, filepath.Join(c.dir, "src/main/resources")}
	_ = filepath.WalkDir(c.dir, func(name string, _ os.DirEntry, err error) error {
		if err == nil && strings.EqualFold(filepath.Ext(name), ".jar") {
			list = append(list, name)
		}
		return nil
	})
	return strings.Join(list, string(os.PathListSeparator))
}

// java compiles all files, or else, if one of them is no part of the bot and fails, those that the first needs.
func java(c *compiler, l *language, files []string, javac, main string) {
	class := c.inPackage(main, strings.TrimSuffix(path.Base(main), path.Ext(main)))
	c.onJVM(c.projectOf(main), "-cp", c.classPath(), class)
	root := path.Dir(main)
	for range strings.Count(class, ".") {
		root = path.Dir(root)
	}
	base := slices.Concat([]string{javac}, l.Flags, []string{"-cp", c.classPath()})
	c.try(slices.Concat(base, files), slices.Concat(base, []string{"-sourcepath", root, main}))
}

// projectOf is the build file of a program for the JVM, whose folder it is started in, or the top.
func (c *compiler) projectOf(main string) string {
	if buildFile, ok := c.above(main, languageOf(main).BuildFiles...); ok {
		return buildFile
	}
	return "."
}

func kotlin(c *compiler, l *language, files []string, kotlinc, main string) {
	name := strings.TrimSuffix(path.Base(main), path.Ext(main))
	class := c.inPackage(main, strings.ToUpper(name[:1])+name[1:]+"Kt")
	c.onJVM(c.projectOf(main), "-cp", filepath.Join(c.dir, "bot.host.jar"), class)
	c.run(slices.Concat([]string{kotlinc}, l.Flags, files)...)
}

func scala(c *compiler, l *language, files []string, scalac, main string) {
	const out = "classes.host"
	c.fail(c.root.MkdirAll(out, 0o755))
	class := strings.TrimSuffix(path.Base(main), path.Ext(main))
	text := c.text(main)
	if at := l.Main.FindStringIndex(text); at != nil { // the object that this is part of
		for _, m := range regexp.MustCompile(`object\s+(\w+)`).FindAllStringSubmatch(text[:at[1]], -1) {
			class = m[1]
		}
	}
	c.begin(c.projectOf(main), c.tool("Scala", "scala"), "-cp", filepath.Join(c.dir, out), c.inPackage(main, class))
	c.run(slices.Concat([]string{scalac}, l.Flags, files)...)
}

// What a project file of C# says.
var (
	aProject  = []string{"*.csproj"}
	exeOutput = regexp.MustCompile(`<OutputType>\s*(Win)?Exe\s*<`)
	testKit   = regexp.MustCompile(`(?i)nunit|xunit|Microsoft\.NET\.Test|UnitTest`)
	refersTo  = regexp.MustCompile(`<ProjectReference\s+Include="([^"]+)"`)
	systemDLL = regexp.MustCompile(`<Reference\s+Include="((System|Microsoft\.CSharp)[\w.]*)"`)
)

// project returns the project of the file to start, and its files and those of the projects that it refers to.
func (c *compiler) project(main string, files []string) (buildFile string, own []string) {
	buildFile, ok := c.above(main, aProject...)
	if !ok {
		return "", files
	}
	folders := []string{path.Dir(buildFile)}
	for _, m := range refersTo.FindAllStringSubmatch(c.text(buildFile), -1) {
		folders = append(folders, path.Join(path.Dir(buildFile), path.Dir(strings.ReplaceAll(m[1], `\`, "/"))))
	}
	own = narrow(files, func(name string) bool {
		of, ok := c.above(name, aProject...)
		return ok && slices.Contains(folders, path.Dir(of))
	})
	return buildFile, own
}

func csharp(c *compiler, l *language, files []string) {
	// A project that makes a program comes before tests and libraries.
	starts := narrow(files, func(name string) bool {
		buildFile, ok := c.above(name, aProject...)
		return ok && exeOutput.MatchString(c.text(buildFile)) && !testKit.MatchString(c.text(buildFile))
	})
	compiler, main := c.tool(l.Name, l.Tools...), c.start(l, starts)
	if c.err != nil {
		return
	}
	buildFile, own := c.project(main, files)
	if path.Base(compiler) == "mcs" {
		argv := []string{compiler, "-optimize", "-unsafe", "-langversion:latest", "-out:bot.host.exe"}
		for _, m := range systemDLL.FindAllStringSubmatch(c.text(buildFile), -1) {
			argv = append(argv, "-r:"+m[1])
		}
		c.begin(buildFile, c.tool("Mono", "mono"), filepath.Join(c.dir, "bot.host.exe"))
		c.try(slices.Concat(argv, own), slices.Concat(argv, beside(main, own)))
		return
	}
	if buildFile == "" {
		const project = `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>` +
			`<TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>`
		buildFile = "bot.csproj"
		c.fail(c.root.WriteFile(buildFile, []byte(project), 0o644))
	}
	name := strings.TrimSuffix(path.Base(buildFile), ".csproj")
	c.begin(buildFile, compiler, filepath.Join(c.dir, "out.host", name+".dll"))
	c.run(compiler, "build", buildFile, "--configuration", "Release", "--output", filepath.Join(c.dir, "out.host"))
}
