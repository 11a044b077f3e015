package compile

import (
	"archive/zip"
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

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
	bot, err := submit(t, write(t, "bot.zip", b.String()))
	require.NoError(t, err)
	requireHello(t, bot)
}
