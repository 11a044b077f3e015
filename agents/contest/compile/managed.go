package compile

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func golang(c *compiler, files []string) error {
	tool, main, err := c.toolAndStart(files, "Go", "go")
	if err != nil {
		return err
	}
	mark, ok := c.mark([]string{"go.mod"})
	if !ok {
		mark = "go.mod"
		if err := os.WriteFile(filepath.Join(c.dir, mark), []byte("module bot\n\ngo 1.17\n"), 0o644); err != nil {
			return err
		}
	}
	binary := filepath.Join(c.dir, "bot.host")
	c.begin(main, binary)
	if ok {
		c.begin(mark, binary)
	}
	pkg := strings.TrimPrefix(strings.TrimPrefix(path.Dir(main), path.Dir(mark)), "/")
	if err := c.shareGo(tool); err != nil {
		return err
	}
	return c.run(tool, "build", "-C", path.Dir(mark), "-o", binary, "./"+pkg)
}

func rust(c *compiler, files []string) error {
	if mark, ok := c.mark([]string{"Cargo.toml"}); ok {
		cargo, err := tool("Rust", "cargo")
		if err != nil {
			return err
		}
		target := filepath.Join(c.dir, ".host-build")
		err = c.run(cargo, "build", "--release", "--offline", "--manifest-path", mark, "--target-dir", target)
		if err != nil {
			return err
		}
		return c.product(mark, ".host-build/release")
	}
	rustc, main, err := c.toolAndStart(files, "Rust", "rustc")
	if err != nil {
		return err
	}
	binary := filepath.Join(c.dir, "bot.host")
	c.begin(main, binary)
	return c.run(rustc, "--edition", "2021", "-O", "-o", binary, main)
}

var javaPackage = regexp.MustCompile(`(?m)^\s*package\s+([\w.]+)\s*;?`)

// class is the full name of the class that a file is called after.
func (c *compiler) class(main, ending string) string {
	class := strings.TrimSuffix(path.Base(main), path.Ext(main)) + ending
	if m := javaPackage.FindStringSubmatch(c.text(main)); m != nil {
		class = m[1] + "." + class
	}
	return class
}

// onJVM starts a class. By default the JVM writes warnings to standard output, where they would be answers, such as
// one that another JVM with the same number of its process holds the file of its performance counters.
func (c *compiler) onJVM(main string, args ...string) error {
	run, err := tool("Java", "java")
	c.begin(main, append([]string{run, "-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=warning:stderr"}, args...)...)
	return err
}

// classPath is the folder of the classes, those of resources, and every library.
func (c *compiler) classPath() string {
	list := []string{filepath.Join(c.dir, "classes.host"), c.dir, filepath.Join(c.dir, "src/main/resources")}
	_ = filepath.WalkDir(c.dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && strings.EqualFold(filepath.Ext(name), ".jar") {
			list = append(list, name)
		}
		return nil
	})
	return strings.Join(list, string(os.PathListSeparator))
}

func java(c *compiler, files []string) error {
	javac, main, err := c.toolAndStart(files, "a Java compiler", "javac")
	if err != nil {
		return err
	}
	if err := c.onJVM(c.mavenRoot(main), "-cp", c.classPath(), c.class(main, "")); err != nil {
		return err
	}
	flags := []string{"-nowarn", "-encoding", "UTF-8", "-cp", c.classPath(), "-d", "classes.host"}
	return c.run(slices.Concat([]string{javac}, flags, files)...)
}

// mavenRoot is the build file of a program in Java, whose folder it is started in, or the file to start.
func (c *compiler) mavenRoot(main string) string {
	if mark, ok := c.mark(languageOf(main).marks); ok {
		return mark
	}
	return "."
}

func kotlin(c *compiler, files []string) error {
	kotlinc, main, err := c.toolAndStart(files, "Kotlin", "kotlinc")
	if err != nil {
		return err
	}
	class := c.class(main, "Kt")
	if at := strings.LastIndex(class, ".") + 1; class[at:] != "" {
		class = class[:at] + strings.ToUpper(class[at:at+1]) + class[at+1:]
	}
	if err := c.onJVM(c.mavenRoot(main), "-cp", "bot.host.jar", class); err != nil {
		return err
	}
	return c.run(slices.Concat([]string{kotlinc}, files, []string{"-include-runtime", "-d", "bot.host.jar"})...)
}

func scala(c *compiler, files []string) error {
	scalac, err := tool("a Scala compiler", "scalac")
	if err != nil {
		return err
	}
	run, main, err := c.toolAndStart(files, "Scala", "scala")
	if err != nil {
		return err
	}
	out := filepath.Join(c.dir, "classes.host")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	class := c.class(main, "")
	if m := regexp.MustCompile(`object\s+(\w+)`).FindStringSubmatch(c.text(main)); m != nil {
		class = strings.TrimSuffix(class, path.Ext("." + class)[1:]) + m[1]
	}
	c.begin(c.mavenRoot(main), run, "-cp", out, class)
	return c.run(slices.Concat([]string{scalac, "-d", out}, files)...)
}

func haskell(c *compiler, files []string) error {
	ghc, main, err := c.toolAndStart(files, "Haskell", "ghc")
	if err != nil {
		return err
	}
	binary := filepath.Join(c.dir, "bot.host")
	c.begin(main, binary)
	return c.run(ghc, "-O2", "-i"+path.Dir(main), "-o", binary, main)
}

func csharp(c *compiler, files []string) error {
	if mcs, err := tool("C#", "mcs"); err == nil {
		mono, err := tool("Mono", "mono")
		if err != nil {
			return err
		}
		c.begin(".", mono, "bot.host.exe")
		return c.run(append([]string{mcs, "-optimize", "-out:bot.host.exe"}, files...)...)
	}
	dotnet, err := tool("C#", "dotnet")
	if err != nil {
		return err
	}
	mark, ok := c.mark([]string{"*.csproj"})
	if !ok {
		const project = `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>` +
			`<TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>`
		mark = "bot.csproj"
		if err := os.WriteFile(filepath.Join(c.dir, mark), []byte(project), 0o644); err != nil {
			return err
		}
	}
	name := strings.TrimSuffix(path.Base(mark), ".csproj")
	c.begin(mark, dotnet, filepath.Join(c.dir, "out.host", name+".dll"))
	return c.run(dotnet, "build", mark, "--configuration", "Release", "--output", filepath.Join(c.dir, "out.host"))
}
