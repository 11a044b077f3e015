package compile

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/envtest"
)

// Texts of the uploads below, each of which answers "hello" if it is the bot and is started as it has to be.
const (
	goMod    = "module x\n\ngo 1.21\n"
	cHeader  = "#pragma once\n#define WORD \"hello\"\n"
	useWord  = "#include <cstdio>\n#include \"bot.hpp\"\nint main() { std::getchar(); std::puts(WORD); }\n"
	other    = "int main() { return 3; }\n"
	notThis  = "if __name__ == '__main__':\n    print('not this')\n"
	apple    = "\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        "
	oldHello = "import sys\nsys.stdin.readline()\nprint \"hello\"\nsys.stdout.flush()\n"
)

// An upload is an archive as people make it.
type upload struct {
	files   []string // names and texts in turn
	want    string   // language, or what the refusal says
	refused bool
	tool    string // that this machine may lack; what needs one is built and started in a room
}

// uploads are archives as people make them.
func uploads() map[string]upload {
	py, js, gos, cpp, c, java, rust := sources["hello.py"], sources["hello.js"], sources["hello.go"], sources["hello.cpp"],
		sources["hello.c"], sources["Hello.java"], sources["hello.rs"]
	cpp20 := "#include <concepts>\ntemplate<std::integral T> T same(T x) { return x; }\n" + cpp
	return map[string]upload{
		"macos":            {[]string{"bot/main.py", py, "__MACOSX/bot/._main.py", apple, "bot/.DS_Store", "\x00"}, "Python", false, ""},
		"macos, Java":      {[]string{"bot/Hello.java", java, "__MACOSX/bot/._Hello.java", apple}, "Java", false, "javac"},
		"deep":             {[]string{"README.md", "x", "src/bot.py", py, "src/util.py", notThis}, "Python", false, ""},
		"its own file":     {[]string{"README.md", "x", "src/main.py", "open('w.json')\n" + py, "src/w.json", "[1]"}, "Python", false, ""},
		"tool in Python":   {[]string{"main.cpp", cpp, "tools/plot.py", "import matplotlib\n" + strings.Repeat("#", 9999)}, "C++", false, ""},
		"C++20":            {[]string{"main.cpp", cpp20}, "C++", false, ""},
		"old C++":          {[]string{"main.cpp", "void f() throw(int);\n" + cpp}, "C++", false, ""},
		"CMake":            {[]string{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.5)\nproject(x)\nadd_executable(b src/x.cpp)\ntarget_include_directories(b PRIVATE inc)\n", "src/x.cpp", useWord, "inc/bot.hpp", cHeader}, "C++", false, "c++"},
		"broken CMake":     {[]string{"CMakeLists.txt", "find_package(Nothing REQUIRED)\n", "src/x.cpp", useWord, "inc/bot.hpp", cHeader}, "C++", false, ""},
		"make":             {[]string{"Makefile", "duck:\n\tc++ -DWORD='\"hello\"' -o duck a.cpp\n", "a.cpp", strings.Replace(useWord, "#include \"bot.hpp\"\n", "", 1)}, "C++", false, ""},
		"make for Windows": {[]string{"Makefile", "bot.exe: x.obj\n", "main.c", c}, "C", false, ""},
		"C++ tests":        {[]string{"main.cpp", cpp, "test/test_main.cpp", other, "bench.cpp", other}, "C++", false, ""},
		"includes code":    {[]string{"main.cpp", "#include \"bot.cpp\"\n", "bot.cpp", cpp}, "C++", false, ""},
		"venv":             {[]string{"main.py", py, ".venv/lib/x/old.py", oldHello}, "Python", false, ""},
		"Maven":            {[]string{"pom.xml", "<project/>", "src/main/java/a/b/Hello.java", java, "src/test/java/HelloTest.java", "import org.junit.Test;\npublic class HelloTest {}\n"}, "Java", false, "javac"},
		"Eclipse":          {[]string{"src/Hello.java", java, ".metadata/.plugins/x.java", "no"}, "Java", false, "javac"},
		"package.json":     {[]string{"package.json", `{"main": "src/app.js"}`, "src/app.js", "require('./lib.js');\n", "src/lib.js", js}, "JavaScript", false, "node"},
		"npm start":        {[]string{"package.json", `{"scripts": {"start": "node lib/x.js"}}`, "lib/x.js", js, "index.js", "process.exit(1)"}, "JavaScript", false, "node"},
		"node_modules":     {[]string{"index.js", js, "node_modules/gyp/gyp_main.py", "import sys\n"}, "JavaScript", false, "node"},
		"cmd":              {[]string{"go.mod", goMod, "cmd/bot/main.go", gos, "x/x.go", "package x\n"}, "Go", false, ""},
		"Cargo":            {[]string{"Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/main.rs", rust}, "Rust", false, "cargo"},
		"unicode":          {[]string{"мой бот 方块/main.py", py}, "Python", false, ""},
		"BOM and CRLF":     {[]string{"main.py", "\ufeff" + strings.ReplaceAll(py, "\n", "\r\n")}, "Python", false, ""},
		"old module":       {[]string{"main.py", py, "old/first_try.py", oldHello}, "Python", false, ""},
		"bot.toml":         {[]string{"bot.toml", "# my bot\nbuild = \"cc -o it x.c\"\nrun = './it' # so\nlanguage = \"my C\"\n", "x.c", c, "main.py", "no"}, "my C", false, ""},
		"bot.toml names":   {[]string{"bot.toml", "language = \"C\"\n", "x.c", c, "main.py", py}, "C", false, ""},
		"Perl":             {[]string{"bot.pl", "$| = 1; <STDIN>; print \"hello\\n\";\n"}, "Perl", false, "perl"},
		"script":           {[]string{"x/dropblox_ai", "#!/usr/bin/python\r\ninput()\r\nprint('hello', flush=True)\r\n"}, "dropblox_ai", false, ""},
		"script, no #!":    {[]string{"dropblox_ai", "read x; exec python3 -u bot.py\n", "bot.py", "print('hello')\n"}, "dropblox_ai", false, ""},

		"header of the system's name": {[]string{"main.cpp", "#include <ctime>\n#include <cstdlib>\n" + useWord, "json/features.h", cHeader, "time.h", cHeader, "inc/bot.hpp", cHeader}, "C++", false, ""},
		"own header, angles":          {[]string{"main.cpp", strings.Replace(useWord, "\"bot.hpp\"", "<lib/bot.hpp>", 1), "x/lib/bot.hpp", cHeader}, "C++", false, ""},
		"main in a comment":           {[]string{"bot.cpp", "const char *word();\n#include <cstdio>\nint main() { std::getchar(); std::puts(word()); }\n", "shape.cpp", "const char *word() { return \"hello\"; }\n/* test\nint main() {\n}\n*/\n// \\\"\nint f(){ return '\"'; }\n"}, "C++", false, ""},
		"main under #ifdef":           {[]string{"bot.c", "#include <stdio.h>\nconst char *word(void);\nint main(void) { getchar(); puts(word()); return 0; }\n", "shape.c", "const char *word(void) { return \"hello\"; }\n#ifdef TEST\nint main(void) { return 1; }\n#endif\n#if 0\nint main(void) { return 1; }\n#else\n#endif\n"}, "C", false, ""},
		"main under #ifndef":          {[]string{"bot.c", "#include <stdio.h>\nconst char *word(void);\n#ifndef TEST\nint main(void) { getchar(); puts(word()); return 0; }\n#endif\n", "shape.c", "const char *word(void) { return \"hello\"; }\n", "other.c", other}, "C", false, ""},
		"make with another compiler":  {[]string{"Makefile", "CXX = g++-4.2\nduck: a.cpp\n\t$(CXX) -DWORD='\"hello\"' -o duck a.cpp\n", "a.cpp", strings.Replace(useWord, "#include \"bot.hpp\"\n", "", 1)}, "C++", false, "c++"},
		"library of a usual name":     {[]string{"ai.py", "from lib.bot import go\ngo()\n", "lib/__init__.py", "", "lib/bot.py", "import sys\ndef go():\n    print('hello') if sys.stdin.readline() else 0\n"}, "Python", false, ""},
		"library, started for tests":  {[]string{"ai.py", "from lib.bot import go\ngo()\n", "lib/bot.py", "import sys\ndef go(x='hello'):\n    print(x) if sys.stdin.readline() else 0\nif __name__ == '__main__':\n    go('not this')\n"}, "Python", false, ""},
		"library beside":              {[]string{"ai.py", "# main loop\nfrom bot import go\ngo()\n", "bot.py", "def go():\n    input()\n    print('hello')\n"}, "Python", false, ""},
		"library beside, tested":      {[]string{"ai.py", "from bot import go\ngo()\n", "bot.py", "def go():\n    input()\n    print('hello')\n" + notThis}, "Python", false, ""},
		"tool imports the bot":        {[]string{"bot.py", "import util\nif __name__ == '__main__':\n    input(); print('hello')\n", "train.py", "import bot  # and not\n" + notThis, "util.py", "# from bot import x\n"}, "Python", false, ""},
		"each imports the other":      {[]string{"main.py", "import util\n" + py, "util.py", "def f():\n    import main\n", "x.py", ""}, "Python", false, ""},
		"library, JavaScript":         {[]string{"ai.js", "const { go } = require('./src/bot');\ngo();\n", "src/bot.js", "exports.go = () => {\n" + js + "};\n"}, "JavaScript", false, "node"},
		"library, Ruby":               {[]string{"ai.rb", "require_relative 'lib/bot'\nBot.go\n", "lib/bot.rb", "class Bot\n  def self.go\n    $stdin.gets\n    puts 'hello'\n    $stdout.flush\n  end\nend\n"}, "Ruby", false, "ruby"},
		"package of old, iterating":   {[]string{"BotRun.py", "import Bot.Planner\n", "Bot/__init__.py", "", "Bot/Planner.py", "import sys\nfrom Helper import word\nfor line in sys.stdin:\n    print(word)\n    sys.stdout.flush()\n", "Bot/Helper.py", "word = 'hello'\n"}, "Python", false, ""},
		"sample of another language":  {[]string{"src/main.py", py, "README", "x", "samples/Java/dropblox_ai", "#!/bin/sh\necho not this\n"}, "Python", false, ""},

		"__main__ in a comment, JavaScript": {[]string{"play.js", "// __main__\nrequire('./index');\n", "index.js", js, "other.js", "process.exit(1)\n"}, "JavaScript", false, "node"},
		"__main__ in a comment, Perl":       {[]string{"play.pl", "#!/usr/bin/perl\n# file: __main__\n$| = 1; <STDIN>; print \"hello\\n\";\n", "bot.pl", "<STDIN>; exit 1;\n"}, "Perl", false, "perl"},
		"__main__ in a comment, PHP":        {[]string{"play.php", "<?php\n/* __main__ */\nfgets(STDIN); echo \"hello\\n\";\n", "index.php", "<?php fgets(STDIN); exit(1);\n"}, "PHP", false, "php"},

		"two starts":         {[]string{"a.py", notThis, "b.py", notThis, "c.py", ""}, "2 of its 3 source files can be the one to start: a.py, b.py; call one main.py", true, ""},
		"two mains deep":     {[]string{"a/main.py", py, "b/main.py", py}, "can be the one to start: a/main.py, b/main.py", true, ""},
		"no main":            {[]string{"a.cpp", "int f() { return 1; }\n", "b.cpp", ""}, "none of its 2 source files has main: a.cpp, b.cpp", true, ""},
		"two executables":    {[]string{"Makefile", "all:\n\tcc -o a x.c\n\tcc -o b x.c\n", "x.c", c, "y.c", c}, "Makefile builds 2 executables: a, b", true, ""},
		"bad bot.toml":       {[]string{"bot.toml", "run = ./bot\n"}, `want build, run, language and dialect, each a text: run = "./bot"`, true, ""},
		"error on output":    {[]string{"bot.toml", "build = \"echo 'x.c:1: error: no' && false\"\nrun = \"./bot\"\n"}, "does not compile: sh: x.c:1: error: no", true, ""},
		"nothing there":      {[]string{"bot.toml", "run = \"./bot\"\n"}, `run = "./bot": there is no such file after the build`, true, ""},
		"bad package.json":   {[]string{"package.json", "{", "index.js", js}, "package.json is no JSON", true, "node"},
		"unknown first line": {[]string{"dropblox_ai", "#!/usr/bin/env smalltalk\n"}, "needs smalltalk (the first line of dropblox_ai), which this machine does not have", true, ""},
	}
}

// dropbloxUploads are those of a contest that takes a file of a certain name.
var dropbloxUploads = contest.Uploads{Program: "dropblox_ai", Kit: []string{"client.py"}}

// TestUploads: what people upload is found, built and started, and answers; what cannot be is refused for the right
// reason. A language whose tool this machine lacks is refused for that.
func TestUploads(t *testing.T) {
	for name, u := range uploads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tryUpload(t, u, zipped(t, u.files...))
		})
	}
}

// tryUpload requires that an upload answers or is refused as it should be.
func tryUpload(t *testing.T, u upload, path string) {
	limits := Default
	limits.Open = u.tool == "" && u.want != "Go" // builds of Go share a folder where they are not contained
	bot, err := Submission(t.Context(), path, filepath.Join(t.TempDir(), "b"), dropbloxUploads, limits)
	_, missing := exec.LookPath(cmp.Or(u.tool, "cc"))
	switch {
	case missing != nil:
		require.ErrorContains(t, err, "which this machine does not have")
	case u.refused:
		requireRefusal(t, err, u.want)
	default:
		require.NoError(t, err)
		require.Equal(t, u.want, bot.Language)
		requireHello(t, bot)
	}
}

// TestPython2 is named as such, where it is missing too: by its syntax, or by modules of a package that import each other
// by their names alone.
func TestPython2(t *testing.T) {
	for path, want := range map[string]string{
		envtest.File(t, "bot.py", oldHello): "python3: bot.py:3: SyntaxError: Missing ",
		zipped(t, "BotRun.py", "import Bot.Planner\n", "Bot/__init__.py", "", "Bot/random.py", "", "Bot/Planner.py", "import random\n"+
			"from Helper import word\nimport sys\nsys.stdin.readline()\nsys.stdout.write(word + '\\n')\n", "Bot/Helper.py",
			"word = 'hello'\n"): "Bot/Planner.py:2: imports Helper, ",
	} {
		bot, err := submit(t, path)
		require.Equal(t, "Python 2", bot.Language)
		if err == nil {
			requireHello(t, bot)
		} else {
			requireRefusal(t, err, "is written for Python 2, which this machine does not have: "+want)
		}
	}
}

// TestClassIsWrapped: a file with the class of a contest is run by the contest's own program.
func TestClassIsWrapped(t *testing.T) {
	u := contest.Uploads{Class: regexp.MustCompile(`(?m)^class Player\b`),
		Wrapper: "import runpy, sys\ninput()\nprint(runpy.run_path(sys.argv[1])['Player']().word, flush=True)\n"}
	bot, err := Submission(t.Context(), zipped(t, "me/code.py", "class Player:\n    word = 'hello'\n", "helper.py", "x = 1\n"),
		filepath.Join(t.TempDir(), "b"), u, Default)
	require.NoError(t, err)
	requireHello(t, bot)
}

// TestArchives: all kinds are read, and what is encrypted says so.
func TestArchives(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(sources["hello.py"]), 0o644))
	files := []string{envtest.File(t, "my bot.rar", rar("src/main.py", sources["hello.py"], 0)), envtest.File(t, "my bot.RAR", rar("main.py", sources["hello.py"], 0)),
		envtest.File(t, "my bot.tar.gz", tarred(t, "bot/main.py", sources["hello.py"]))}
	for ending, flag := range map[string]string{".tar": "-cf", ".tar.bz2": "-cjf", ".tbz2": "-cjf", ".tar.xz": "-cJf", ".txz": "-cJf", ".tgz": "-czf"} {
		path := filepath.Join(t.TempDir(), "my bot"+ending)
		out, err := exec.Command("tar", "-C", dir, flag, path, "main.py").CombinedOutput()
		require.NoError(t, err, "%s", out)
		files = append(files, path)
	}
	for _, path := range files {
		require.True(t, Is(path))
		require.Equal(t, "my bot", Name(path))
		requireHello(t, envtest.Must(submit(t, path)))
	}
	var locked bytes.Buffer
	z := zip.NewWriter(&locked)
	_, err := z.CreateHeader(&zip.FileHeader{Name: "main.py", Flags: 1})
	require.NoError(t, errors.Join(err, z.Close()))
	no := strings.Repeat("no", 500)
	for _, u := range []struct{ name, text, want string }{
		{"a.7z", no, "damaged"}, {"a.rar", no, "the archive is damaged: rardecode: RAR signature not found"}, {"a.tar.xz", no, "not an xz archive"},
		{"a.tar.bz2", no, "damaged"}, {"a.tar", no, "damaged"},
		{"a.lzh", no, "a.lzh is neither a source file nor an archive that is read (.zip, .jar, .tar, "},
		{"a.rar", rar("main.py", "x", 4), "the archive is encrypted: hand it in without a password"},
		{"a.rar", rar("../../main.py", "x", 0), "leads out of the archive"},
		{"a.rar", rar("main.py", "x", 0)[:40], "the archive is damaged"},
		{"a.zip", locked.String(), "the archive is encrypted: hand it in without a password"},
	} {
		_, err := unpacked(t, u.name, u.text, Default)
		require.ErrorAs(t, err, new(*Refusal), u.name)
		require.ErrorContains(t, err, u.want)
	}
}

// rar is an archive of one file, not compressed, in the format of RAR 4. Flag 4 says that the file is encrypted.
func rar(name, text string, flag uint16) string {
	block := func(kind byte, flags uint16, more []byte) []byte {
		head := binary.LittleEndian.AppendUint16([]byte{kind}, flags)
		head = append(binary.LittleEndian.AppendUint16(head, uint16(7+len(more))), more...)
		return append(binary.LittleEndian.AppendUint16(nil, uint16(crc32.ChecksumIEEE(head))), head...)
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	file := append(append(slices.Clone(size), size...), 3) // made on Unix
	file = append(binary.LittleEndian.AppendUint32(file, crc32.ChecksumIEEE([]byte(text))), 0, 0, 33, 0, 20, '0')
	file = binary.LittleEndian.AppendUint16(file, uint16(len(name)))
	file = append(binary.LittleEndian.AppendUint32(file, 0o100644), name...)
	return "Rar!\x1a\x07\x00" + string(block(0x73, 0, make([]byte, 6))) + string(block(0x74, 0x8000|flag, file)) + text +
		string(block(0x7b, 0x4000, nil))
}

// TestJar: a Java archive is started if it says which class begins.
func TestJar(t *testing.T) {
	jar, missing := exec.LookPath("jar")
	if missing != nil {
		t.Skip(missing)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Hello.java"), []byte(strings.Replace(sources["Hello.java"], "package a.b;", "", 1)), 0o644))
	for _, argv := range [][]string{{"javac", "Hello.java"}, {jar, "cfe", "bot.jar", "Hello", "Hello.class"}} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	requireHello(t, envtest.Must(submit(t, filepath.Join(dir, "bot.jar"))))
}

// TestPagesNameTheLanguages: the pages that say which languages bots are written in name all, in one order.
func TestPagesNameTheLanguages(t *testing.T) {
	const names = "Python, JavaScript, TypeScript, Java, Kotlin, Scala, Go, Rust, C#, C++, C, Haskell, Ruby, Perl, PHP or Lua"
	listed := strings.Split(strings.Replace(names, " or ", ", ", 1), ", ")
	var read []string
	for _, l := range languages {
		read = append(read, l.Name)
	}
	require.ElementsMatch(t, read, listed)
	for _, page := range []string{"README.md", "rpc/python/docs/hosting.md", "agents/SUBMISSIONS.md"} {
		text := envtest.Must(os.ReadFile(filepath.Join("../../..", page)))
		require.Contains(t, strings.Join(strings.Fields(string(text)), " "), names, page)
	}
}

// TestErrorIn: the line with the error is shown, not the first line.
func TestErrorIn(t *testing.T) {
	for said, want := range map[string]string{
		"# bot\n./bot.go:3:4: undefined: x":                                                                    "./bot.go:3:4: undefined: x",
		"a.cpp: In function 'int main()':\na.cpp:1:2: error: no":                                               "a.cpp:1:2: error: no",
		"  File \"a.py\", line 3\n    print 1\n    ^\nSyntaxError: bad":                                        "a.py:3: SyntaxError: bad",
		"   Compiling x\nwarning: unused\nerror[E0425]: no x\n --> src/main.rs:2:5\n":                          "src/main.rs:2:5: error[E0425]: no x",
		"a.js:7\n  x(\n   ^\n\nSyntaxError: Unexpected end of input":                                           "a.js:7: SyntaxError: Unexpected end of input",
		"Note: old\nA.java:3: error: cannot find symbol":                                                       "A.java:3: error: cannot find symbol",
		"make: Entering directory\nmake: *** No rule to make target 'x.obj'.  Stop.":                           "make: *** No rule to make target 'x.obj'.  Stop.",
		"A.java:3: error: cannot find symbol\n    Foo x;\n    ^\n  symbol:   class Foo\n  location: class A\n": "A.java:3: error: cannot find symbol: class Foo",
		"make: g++-9: No such file or directory\nmake: *** [Makefile:2: x] Error 127":                          "make: g++-9: No such file or directory",
		"/bin/sh: 1: icpc: not found\nmake: *** [Makefile:2: x] Error 127":                                     "/bin/sh: 1: icpc: not found",
		"a.c:1:2: warning: unused\na.c:3: note: here\nld: cannot find -lfoo":                                   "ld: cannot find -lfoo",
		"warning: unused\nnote: here":                                                                          "note: here",
		"":                                                                                                     "",
	} {
		require.Equal(t, want, errorIn(said), "%q", said)
	}
}

// Programs in the languages whose tools few machines have; each answers "hello".
const (
	kotlinHello  = "package bot\n\nfun main(args: Array<String>) { readLine(); println(\"hello\") }\n"
	scalaHello   = "package bot\n\nobject Helper { val word = \"hello\" }\n\nobject Hello {\n  def main(a: Array[String]): Unit = { io.StdIn.readLine(); println(Helper.word) }\n}\n"
	haskellMain  = "module Main where\nimport Words.Word (word)\nimport System.IO\nmain :: IO ()\nmain = do { hSetBuffering stdout NoBuffering; _ <- getLine; putStrLn word }\n"
	haskellWord  = "module Words.Word (word) where\nword :: String\nword = \"hello\"\n"
	rubyHello    = "require_relative 'lib/bot/word'\n$stdout.sync = true\n$stdin.gets\nputs WORD\n"
	luaHello     = "io.read('l')\nprint('hello')\nio.flush()\n"
	phpHello     = "<?php\nfgets(STDIN);\necho \"hello\\n\";\n"
	tsHello      = "/// <reference path=\"typings/node.d.ts\" />\nimport { word } from './word';\nprocess.stdin.once('data', () => { console.log(word); process.exit(); });\n"
	csHello      = "using Words;\nclass Program { static void Main() { System.Console.ReadLine(); System.Console.WriteLine(Word.Text); } }\n"
	csWord       = "namespace Words { public static class Word { public const string Text = \"hello\"; } }\n"
	csExe        = "<Project><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup><ItemGroup><Reference Include=\"System.Core\" /><ProjectReference Include=\"..\\Words\\Words.csproj\" /></ItemGroup></Project>"
	csLibrary    = "<Project><PropertyGroup><OutputType>Library</OutputType></PropertyGroup></Project>"
	csTests      = "<Project><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup><ItemGroup><Reference Include=\"nunit.framework\" /></ItemGroup></Project>"
	javaParser   = "package bot;\npublic class BotParser { void run() throws Exception { System.in.read(); System.out.println(field.Field.WORD); } }\n"
	javaStarter  = "package bot;\npublic class BotStarter { public static void main(String[] args) throws Exception { new BotParser().run(); } }\n"
	javaField    = "package field;\npublic class Field { public static final String WORD = \"hello\"; public static void main(String[] a) { System.out.println(\"debug\"); } }\n"
	javaTest     = "package test;\nimport org.junit.Test;\npublic class StarterCheck { @Test public void it() {} public static void main(String[] a) {} }\n"
	planner      = "import sys\n\ndef run():\n    sys.stdin.readline()\n    print('hello', flush=True)\n\nif __name__ == '__main__':\n    print('debug')\n"
	kitPlayer    = "class Player:\n    def __init__(self):\n        self.name = ''\n"
	askWord      = "#include <stdio.h>\n#include <words/word.h>\nint main(void) { getchar(); puts(word()); fflush(stdout); return 0; }\n"
	wordHeader   = "#pragma once\nconst char *word(void);\n"
	wordSource   = "#include \"words/word.h\"\nconst char *word(void) { return \"hello\"; }\n"
	goOwnImport  = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/me/block-battle/words\"\n)\n\nfunc main() { fmt.Scanln(); fmt.Println(words.Word) }\n"
	startsClient = "#!/usr/bin/env python\nimport os, sys\nos.system('java -cp ./:./json_simple.jar AIClient')\n"
	client       = "class AIClient { public static void main(String[] a) throws Exception { System.in.read(); System.out.println(\"hello\"); } }\n"
	macProgram   = "\xcf\xfa\xed\xfe\x07\x00\x00\x01"
	cargo        = "[package]\nname = \"duck\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
)

// projects are archives as their authors have them on disk, with what tools and starter kits leave there. The name of the
// first folder of all is that of a service that packs repositories.
func projects() map[string]upload {
	py, js, gos, cpp, c, rust := sources["hello.py"], sources["hello.js"], sources["hello.go"], sources["hello.cpp"],
		sources["hello.c"], sources["hello.rs"]
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	starter := []string{"src/bot/BotStarter.java", javaStarter, "src/bot/BotParser.java", javaParser, "src/field/Field.java", javaField}
	with := func(files []string, more ...string) []string { return append(more, files...) }
	return map[string]upload{
		"Eclipse, compiled":    {with(starter, ".classpath", "<classpath/>", ".project", "<p/>", "bin/bot/BotStarter.class", "\xca\xfe", "sources.txt", "src/bot/BotStarter.java"), "Java", false, "javac"},
		"IntelliJ":             {with(starter, ".idea/misc.xml", "<x/>", "bot.iml", "<m/>", "out/production/bot/bot/BotStarter.class", "\xca\xfe"), "Java", false, "javac"},
		"Java, tests beside":   {with(starter, "src/Check/StarterCheck.java", javaTest, "Engine.java", "package com.theaigames; class Engine extends Missing {}\n"), "Java", false, "javac"},
		"Maven and package":    {[]string{"name-master/pom.xml", "<project/>", "name-master/src/main/java/bot/BotStarter.java", javaStarter, "name-master/src/main/java/bot/BotParser.java", javaParser, "name-master/src/main/java/field/Field.java", javaField, "name-master/src/test/java/bot/BotStarterTest.java", javaTest}, "Java", false, "javac"},
		"Gradle":               {with(starter, "build.gradle", "apply plugin: 'java'\n", "settings.gradle", "", "gradlew", "#!/bin/sh\n"), "Java", false, "javac"},
		"C# solution":          {[]string{"Bot.sln", "", "Bot/Bot.csproj", csExe, "Bot/Program.cs", csHello, "Bot/obj/Debug/T.cs", "no", "Bot/bin/Debug/Bot.exe", "MZ", "Words/Words.csproj", csLibrary, "Words/Word.cs", csWord, "Bot.UnitTests/Bot.UnitTests.csproj", csTests, "Bot.UnitTests/Check.cs", "using NUnit.Framework;\nclass Check { static void Main() {} }\n"}, "C#", false, "mcs"},
		"CMake and make":       {[]string{"CMakeLists.txt", "cmake_minimum_required(VERSION 99)\n", "Makefile", "duck: b.cpp\n\tc++ -o duck b.cpp\n", "b.cpp", cpp}, "C++", false, ""},
		"make with CRLF":       {[]string{"Makefile", "CC = cc\r\nall:\r\n\t$(CC) -o duck b.c\r\n", "b.c", c}, "C", false, ""},
		"headers in include":   {[]string{"include/words/word.h", wordHeader, "src/main.c", askWord, "src/word.c", wordSource, "README", "x"}, "C", false, ""},
		"names of Windows":     {[]string{"src/main.c", strings.Replace(askWord, "<words/word.h>", `"..\Words\WORD.H"`, 1), "words/word.h", wordHeader, "words/Word.c", strings.Replace(wordSource, "words/word.h", "Word.h", 1)}, "C", false, ""},
		"two copies":           {[]string{"src/main.cpp", strings.Replace(cpp, "int main", "int word() { return 1; }\nint main", 1), "old/word.cpp", "int word() { return 2; }\n"}, "C++", false, ""},
		"Python package":       {[]string{"bot/__main__.py", "from bot import planner\nplanner.run()\n", "bot/__init__.py", "", "bot/planner.py", planner, "setup.py", "import setuptools\n"}, "Python", false, ""},
		"main three down":      {[]string{"code/python/bot/main.py", "import planner\nplanner.run()\n", "code/python/bot/planner.py", planner, "notebooks/try.ipynb", "{}", "code/python/tests/check.py", notThis, "code/tune.py", "from python.bot import planner\n" + notThis}, "Python", false, ""},
		"Python starter kit":   {[]string{"BotRun.py", "from Bot.Game import Player\n" + py, "Bot/__init__.py", "", "Bot/Game/__init__.py", "", "Bot/Game/Player.py", kitPlayer, "Makefile", "zip:\n\tzip -r bot.zip Bot BotRun.py\n", "viewer/package.json", "{}", "viewer/main.js", js}, "Python", false, ""},
		"one at the top":       {[]string{"ai.py", py, "game/state.py", notThis, "game/__init__.py", ""}, "Python", false, ""},
		"not the one imported": {[]string{"go.py", "import planner\nplanner.run()\n", "planner.py", planner}, "Python", false, ""},
		"go.mod below":         {[]string{"go/go.mod", goMod, "go/cmd/bot/main.go", gos, "go/cmd/tune/main.go", "package main\nfunc main() { undefined() }\n", "docs/x.md", ""}, "Go", false, ""},
		"Go of today":          {[]string{"bot.go", strings.Replace(gos, "func main() {", "func main() {\n\tfor range max(0, 1) {\n\t}\n", 1)}, "Go", false, ""},
		"Go path":              {[]string{"main.go", goOwnImport, "words/words.go", "package words\n\nconst Word = \"hello\"\n"}, "Go", false, ""},
		"Go, Makefile, C":      {[]string{"Makefile", "run:\n\tgo run .\n", "main.go", gos, "bots/fast/fast.c", c, "play.py", py}, "Go", false, ""},
		"Cargo workspace":      {[]string{"Cargo.toml", "[workspace]\nmembers = [\"bot\", \"words\"]\nresolver = \"2\"\n", "bot/Cargo.toml", cargo, "bot/src/main.rs", rust, "words/Cargo.toml", strings.Replace(cargo, "duck", "words", 1), "words/src/lib.rs", "pub fn f() {}\n"}, "Rust", false, "cargo"},
		"JavaScript, Makefile": {[]string{"Makefile", "test:\n\tmocha\n", "package.json", `{"name": "bot", "scripts": {"test": "mocha"}}`, "main.js", "require('./bot');", "bot.js", js, "host.js", "process.stdin.pipe(process.stdout)"}, "JavaScript", false, "node"},
		"TypeScript":           {[]string{"tsconfig.json", "{}", "src/app.ts", tsHello, "src/word.ts", "export const word: string = 'hello';\n", "src/typings/node.d.ts", "declare var process: any;\n"}, "TypeScript", false, "tsc"},
		"Haskell, cabal":       {[]string{"bot.cabal", "executable bot\n  main-is: Start.hs\n  hs-source-dirs: app, src\n", "app/Start.hs", haskellMain, "src/Words/Word.hs", haskellWord, "Check.hs", "main = undefined\n"}, "Haskell", false, "ghc"},
		"Kotlin":               {[]string{"build.gradle.kts", "", "src/main/kotlin/bot/main.kt", kotlinHello}, "Kotlin", false, "kotlinc"},
		"sbt":                  {[]string{"build.sbt", "", "project/plugins.sbt", "", "src/main/scala/bot/Hello.scala", scalaHello, "src/test/scala/bot/PathSpec.scala", "no"}, "Scala", false, "scalac"},
		"Ruby":                 {[]string{"main.rb", rubyHello, "lib/bot/word.rb", "WORD = 'hello'\n", "try.rb", "puts gets\n", "test/main.rb", "no"}, "Ruby", false, "ruby"},
		"Lua":                  {[]string{"bot.lua", luaHello, "words.lua", "return {}\n"}, "Lua", false, "lua"},
		"PHP":                  {[]string{"composer.json", "{}", "bot.php", phpHello}, "PHP", false, "php"},
		"backslashes":          {[]string{`bot\main.py`, "import words\n" + py, `bot\words.py`, "x = 1\n"}, "Python", false, ""},
		"by version":           {[]string{"bot1.py", py, "bot2.py", py}, "can be the one to start: bot1.py, bot2.py; call one main.py at the top, or say so in bot.toml", true, ""},
		"by version, run.sh":   {[]string{"bot1.py", notThis, "bot2.py", py, "run.sh", crlf("#!/bin/bash\ncd \"$(dirname \"$0\")\"\nexec python3 -u bot2.py\n")}, "bash", false, ""},
		"run.sh alone":         {[]string{"run.sh", "read line\necho hello\n", "README.md", "x"}, "sh", false, ""},
		"run.sh beside":        {[]string{"main.py", py, "run.sh", "java -jar engine.jar 'python main.py'\n"}, "Python", false, ""},
		"a folder as main":     {[]string{"bot-master/package.json", `{"main": "./lib/", "scripts": {"start": "node ."}}`, "bot-master/lib/index.js", js, "bot-master/lib/grid.js", "no(", "bot-master/engine/run.js", "no("}, "JavaScript", false, "node"},
		"engine beside":        {with(nil, "name-master/engine/src/com/theaigames/Main.java", "package com.theaigames;\npublic class Main extends Missing { public static void main(String[] a) {} }\n", "name-master/bot/src/bot/BotStarter.java", javaStarter, "name-master/bot/src/bot/BotParser.java", javaParser, "name-master/bot/src/field/Field.java", javaField, "name-master/bot/.classpath", "x", "name-master/bot/lib/empty.jar", "PK\x05\x06"+strings.Repeat("\x00", 18), "name-master/.gitignore", "bin\n"), "Java", false, "javac"},
		"C++ in folders":       {[]string{"n-master/src/main.cpp", "#include <iostream>\n#include \"game/word.h\"\nint main() { std::cin.get(); std::cout << word() << std::endl; }\n", "n-master/src/game/word.h", wordHeader, "n-master/src/game/word.cpp", "#include \"word.h\"\n#include \"../ai/text.h\"\nconst char *word() { return text; }\n", "n-master/src/ai/text.h", "static const char *text = \"hello\";\n", "n-master/.gitignore", "x", "n-master/LICENSE", "x"}, "C++", false, ""},
		"Visual Studio, C++":   {[]string{"Duck/Duck.sln", "\ufeff\r\n", "Duck/Duck.vcxproj", "<Project/>", "Duck/Duck.v12.suo", "x", "Duck/Main.cpp", crlf("#include \"stdafx.h\"\n") + cpp, "Duck/stdafx.h", "#pragma once\r\n", "Duck/stdafx.cpp", "#include \"stdafx.h\"\r\n", "Duck/Debug/Duck.exe", "MZ"}, "C++", false, ""},
		"make that plays":      {[]string{"n-master/Makefile", "run: duck\n\t./duck < input.txt\nduck: duck.o\n\tc++ -o duck duck.o\nduck.o: duck.cpp\n\tc++ -c duck.cpp\n", "n-master/duck.cpp", cpp, "n-master/input.txt", "x\n"}, "C++", false, ""},
		"make that cleans":     {[]string{"Makefile", "clean:\n\trm -f duck *.o\nduck: duck.cpp\n\tc++ -o duck duck.cpp\n", "duck.cpp", cpp}, "C++", false, ""},
		"make with tests":      {[]string{"Makefile", "all: duck check\nduck: duck.cpp\n\tc++ -o duck duck.cpp\ncheck: check.cpp\n\tc++ -o check check.cpp\n", "duck.cpp", cpp, "check.cpp", other}, "C++", false, ""},
		"scripts without end":  {[]string{"n-master/Start.py", py, "n-master/grid.py", "x = 1\n", "n-master/run", "#!/bin/sh\nexec java -jar engine.jar\n", "n-master/compile", "#!/bin/sh\n", "n-master/tests/test.py", notThis}, "Python", false, ""},
		"README only":          {[]string{"README.md", "soon"}, "holds no source file of Python (.py), ", true, ""},
		"CRLF start script":    {[]string{"bot.toml", "run = \"./start\"\r\n", "start", crlf("#!/bin/sh\nread line\necho hello\n")}, "bot.toml", false, ""},

		"dropblox, shell":          {[]string{"dropblox_ai", crlf("#!/bin/bash\nread x\necho hello\n"), "config.txt", "me", "client.py", "import urllib2\n"}, "dropblox_ai", false, ""},
		"dropblox, ruby":           {[]string{"dropblox_ai", "#!/usr/bin/env ruby\ngets\nputs 'hello'\n"}, "dropblox_ai", false, "ruby"},
		"dropblox, node":           {[]string{"dropblox_ai", "#!/usr/local/bin/node\n" + js}, "dropblox_ai", false, "node"},
		"dropblox, per system":     {[]string{"Linux/dropblox_ai", "#!/usr/bin/env python\n" + py, "Mac/dropblox_ai", macProgram, "Cygwin/dropblox_ai", "#!/bin/false\n", "Windows/dropblox_ai.bat", "x"}, "dropblox_ai", false, ""},
		"dropblox, Java":           {[]string{"dropblox_ai", startsClient, "AIClient.java", client, "client.py", "x"}, "dropblox_ai", false, "javac"},
		"dropblox, for a Mac":      {[]string{"C++/dropblox_ai", macProgram, "C++/dropblox_ai.cpp", cpp, "C++/holes.cpp", other, "client.py", "print 'x'"}, "C++", false, ""},
		"dropblox, only for a Mac": {[]string{"dropblox_ai", macProgram, "client.py", "print 'x'"}, "dropblox_ai is a program for another system than", true, ""},
		"dropblox, the sample":     {[]string{"src/dropblox_ai.cpp", cpp, "samples/C++/dropblox_ai.cpp", other, "config.txt", ""}, "C++", false, ""},
		"dropblox, source":         {[]string{"src/main.py", py, "r", "x"}, "Python", false, ""},
		"dropblox, the client":     {[]string{"client.py", py, "config.txt", ""}, "holds no source file", true, ""},
	}
}

// TestProjects: what authors have on disk is found, built and started. The long tests try every language whose tool is
// here, the others those without another tool than a compiler for C.
func TestProjects(t *testing.T) {
	for name, u := range projects() {
		t.Run(name, func(t *testing.T) {
			if u.tool != "" && os.Getenv("BLOCKYARD_LONG") == "" {
				t.Skip("a long test")
			}
			t.Parallel()
			tryUpload(t, u, zipped(t, u.files...))
		})
	}
}

// TestZipOfOtherKinds: the bits of a Unix file, and a name that is marked as UTF-8, make no difference.
func TestZipOfOtherKinds(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	require.NoError(t, z.AddFS(fstest.MapFS{
		"köder/bot.toml": {Data: []byte("\ufeffrun = \"./go\"\n"), Mode: 0o644},
		"köder/go":       {Data: []byte("#!/bin/sh\nread x\necho hello\n"), Mode: 0o644},
	}))
	require.NoError(t, z.Close())
	requireHello(t, envtest.Must(submit(t, envtest.File(t, "bot.zip", b.String()))))
}
