package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
)

// A packed bot for Block Battle drops every piece. Its files are names and texts in turn.
type packed struct {
	tool  string // that it needs
	files []string
}

const (
	dropRust    = "use std::io::BufRead;\nfn main() { for l in std::io::stdin().lock().lines() { if l.unwrap().starts_with(\"action\") { println!(\"drop\"); } } }\n"
	dropJava    = "package bot;\nimport java.util.Scanner;\npublic class BotStarter { public static void main(String[] a) { Scanner s = new Scanner(System.in); while (s.hasNextLine()) if (s.nextLine().startsWith(\"action\")) System.out.println(\"drop\"); } }\n"
	dropKotlin  = "fun main(args: Array<String>) { while (true) { val l = readLine() ?: break; if (l.startsWith(\"action\")) println(\"drop\") } }\n"
	dropScala   = "object Bot extends App { for (l <- io.Source.stdin.getLines()) if (l.startsWith(\"action\")) println(\"drop\") }\n"
	dropCS      = "using System;\nclass Program { static void Main() { string l; while ((l = Console.ReadLine()) != null) if (l.StartsWith(\"action\")) Console.WriteLine(\"drop\"); } }\n"
	dropJS      = "require('readline').createInterface({ input: process.stdin }).on('line', (l) => { if (l.startsWith('action')) console.log('drop'); });\n"
	dropTS      = "declare var require: any, process: any;\nrequire('readline').createInterface({ input: process.stdin }).on('line', (l: string) => { if (l.indexOf('action') === 0) console.log('drop'); });\n"
	dropHaskell = "import Data.List (isPrefixOf)\nimport System.IO\nmain = do { hSetBuffering stdout LineBuffering; t <- getContents; mapM_ (const (putStrLn \"drop\")) (filter (isPrefixOf \"action\") (lines t)) }\n"
	dropRuby    = "$stdout.sync = true\nwhile (l = $stdin.gets)\n  puts 'drop' if l.start_with?('action')\nend\n"
	dropPerl    = "$| = 1;\nwhile (<STDIN>) { print \"drop\\n\" if /^action/; }\n"
	dropPHP     = "<?php\nwhile (($l = fgets(STDIN)) !== false) { if (strncmp($l, 'action', 6) === 0) { echo \"drop\\n\"; } }\n"
	dropLua     = "for l in io.lines() do if l:sub(1, 6) == 'action' then print('drop') io.flush() end end\n"
	dropGo      = "package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"os\"\n\t\"strings\"\n)\n\nfunc main() {\n\ts := bufio.NewScanner(os.Stdin)\n\tfor s.Scan() {\n\t\tif strings.HasPrefix(s.Text(), \"action\") {\n\t\t\tfmt.Println(\"drop\")\n\t\t}\n\t}\n}\n"
	dropCPP     = "#include <iostream>\n#include \"words.hpp\"\nint main() { std::string l; while (std::getline(std::cin, l)) if (l.rfind(\"action\", 0) == 0) std::cout << WORD << std::endl; }\n"
)

// archives are bots as their authors pack them. The first four are played in every run of the tests.
var archives = []packed{
	{"python3", []string{"bot-master/BotRun.py", entries["dropper.py"], "bot-master/Bot/__init__.py", "", "bot-master/Bot/Game/Player.py", "class Player: pass\n", "__MACOSX/bot-master/._BotRun.py", "\x00\x05"}},
	{"cc", []string{"Makefile", "duck: src/x.c\n\tcc -o duck src/x.c\n", "src/x.c", entries["dropper.c"]}},
	{"c++", []string{"include/words.hpp", "#pragma once\n#include <string>\n#define WORD \"drop\"\n", "src/main.cpp", dropCPP, "README.md", "x"}},
	{"go", []string{"bot/go.mod", "module bot\n\ngo 1.21\n", "bot/cmd/bot/main.go", dropGo, "bot/cmd/tune/main.go", "package main\nfunc main() {}\n"}},
	{"python3", []string{"bot/__main__.py", entries["dropper.py"], "bot/__init__.py", ""}},
	{"python3", []string{`my\bot.py`, "\ufeff" + entries["dropper.py"], `my\Thumbs.db`, "x"}},
	{"python3", []string{"bot1.py", "input()\n", "bot2.py", entries["dropper.py"], "run.sh", "#!/bin/sh\r\nexec python3 bot2.py\r\n"}},
	{"cmake", []string{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.5)\nproject(b C)\nadd_executable(b src/b.c)\n", "src/b.c", entries["dropper.c"]}},
	{"cargo", []string{"Cargo.toml", "[workspace]\nmembers = [\"bot\"]\n", "bot/Cargo.toml", "[package]\nname = \"bot\"\nversion = \"0.1.0\"\n", "bot/src/main.rs", dropRust}},
	{"rustc", []string{"main.rs", dropRust}},
	{"javac", []string{"src/bot/BotStarter.java", dropJava, ".classpath", "x", "bin/bot/BotStarter.class", "\xca\xfe"}},
	{"javac", []string{"pom.xml", "<project/>", "src/main/java/bot/BotStarter.java", dropJava, "src/test/java/bot/BotTest.java", "no"}},
	{"kotlinc", []string{"src/main/kotlin/Main.kt", dropKotlin}},
	{"scalac", []string{"build.sbt", "", "src/main/scala/Bot.scala", dropScala}},
	{"mcs", []string{"Bot.sln", "", "Bot/Bot.csproj", "<Project><OutputType>Exe</OutputType></Project>", "Bot/Program.cs", dropCS, "Bot/obj/x.cs", "no"}},
	{"node", []string{"package.json", `{"main": "lib/x.js"}`, "lib/x.js", dropJS, "node_modules/a/index.js", "no("}},
	{"tsc", []string{"tsconfig.json", "{}", "src/app.ts", dropTS}},
	{"ghc", []string{"bot.cabal", "main-is: Main.hs\n", "Main.hs", dropHaskell, "Tests.hs", "main = undefined\n"}},
	{"ruby", []string{"main.rb", dropRuby, "lib/a.rb", "X = 1\n"}},
	{"perl", []string{"bot.pl", dropPerl}},
	{"php", []string{"bot.php", dropPHP}},
	{"lua", []string{"bot.lua", dropLua}},
}

// TestTournamentOfArchives: what authors pack enters and plays a game without a fault. The long tests play all of which
// the tools are here.
func TestTournamentOfArchives(t *testing.T) {
	dir, entered := t.TempDir(), 0
	for k, a := range archives {
		if k >= 4 && os.Getenv("BLOCKYARD_LONG") == "" {
			break
		}
		if _, err := exec.LookPath(a.tool); err != nil {
			t.Logf("%s is not here", a.tool)
			continue
		}
		writeFiles(t, dir, map[string]string{string(rune('a'+k)) + " " + a.tool + ".zip": compiletest.Zip(t, a.files...)})
		entered++
	}
	r := playTournament(t, "--dir", dir, "--out", filepath.Join(t.TempDir(), "out"), "--format", "swiss", "--rounds", "1",
		"--games", "1", "--finals", "0", "--workers", "1", "--timebank", "60s", "--build-time", "10m")
	for _, e := range r.Refused {
		t.Errorf("%s is refused: %s\n%s", e.Name, e.Refused, e.Output)
	}
	require.Len(t, r.Players, entered)
	for _, s := range r.Players {
		require.Zero(t, s.Faults, s.Name)
	}
}
