package commands

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
)

// Bots in further languages that drop every piece.
const (
	dropRust = "use std::io::BufRead;\nfn main() { for l in std::io::stdin().lock().lines() { if l.unwrap().starts_with(\"action\") { println!(\"drop\"); } } }\n"
	dropJava = "package bot;\nimport java.util.Scanner;\npublic class BotStarter { public static void main(String[] a) { Scanner s = new Scanner(System.in); while (s.hasNextLine()) if (s.nextLine().startsWith(\"action\")) System.out.println(\"drop\"); } }\n"
	dropJS   = "require('readline').createInterface({ input: process.stdin }).on('line', (l) => { if (l.startsWith('action')) console.log('drop'); });\n"
	dropPerl = "$| = 1;\nwhile (<STDIN>) { print \"drop\\n\" if /^action/; }\n"
	dropGo   = "package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"os\"\n\t\"strings\"\n)\n\nfunc main() {\n\ts := bufio.NewScanner(os.Stdin)\n\tfor s.Scan() {\n\t\tif strings.HasPrefix(s.Text(), \"action\") {\n\t\t\tfmt.Println(\"drop\")\n\t\t}\n\t}\n}\n"
	dropCPP  = "#include <iostream>\n#include \"words.hpp\"\nint main() { std::string l; while (std::getline(std::cin, l)) if (l.rfind(\"action\", 0) == 0) std::cout << WORD << std::endl; }\n"
)

// archives are bots as their authors pack them, by the names of the entrants: names and texts of files in turn.
var archives = map[string][]string{
	"python3": {"bot-master/BotRun.py", entries["dropper.py"], "bot-master/Bot/__init__.py", "", "bot-master/Bot/Game/Player.py", "class Player: pass\n", "__MACOSX/bot-master/._BotRun.py", "\x00\x05"},
	"cc":      {"Makefile", "duck: src/x.c\n\tcc -o duck src/x.c\n", "src/x.c", entries["dropper.c"]},
	"c++":     {"include/words.hpp", "#pragma once\n#include <string>\n#define WORD \"drop\"\n", "src/main.cpp", dropCPP, "README.md", "x"},
	"go":      {"bot/go.mod", "module bot\n\ngo 1.21\n", "bot/cmd/bot/main.go", dropGo, "bot/cmd/tune/main.go", "package main\nfunc main() {}\n"},
}

// TestTournamentOfArchives: what authors pack enters and plays a game without a fault.
func TestTournamentOfArchives(t *testing.T) {
	dir := t.TempDir()
	for name, files := range archives {
		writeFiles(t, dir, map[string]string{name + ".zip": compiletest.Zip(t, files...)})
	}
	r := playTournament(t, "--dir", dir, "--out", filepath.Join(t.TempDir(), "out"), "--format", "swiss", "--rounds", "1",
		"--games", "1", "--finals", "0", "--workers", "1", "--timebank", "60s", "--build-time", "10m")
	for _, e := range r.Refused {
		t.Errorf("%s is refused: %s\n%s", e.Name, e.Refused, e.Output)
	}
	require.Len(t, r.Players, len(archives))
	for _, s := range r.Players {
		require.Zero(t, s.Faults, s.Name)
	}
}

// TestHostSubmissions: bots may be an archive and a source file, whose names may have blanks; what does not compile is
// said with the compiler's words.
func TestHostSubmissions(t *testing.T) {
	source := written(t, "my dropper.py", entries["dropper.py"])
	archive := written(t, "bot.zip", compiletest.Zip(t, "bot/main.c", entries["dropper.c"]))
	out, _ := hosts(t, "blockbattle --games 2 --seed 1", source, archive)
	require.Contains(t, out, "A: my dropper\nB: bot\n")
	require.NotContains(t, out, "time-outs 1")

	broken := written(t, "broken.cpp", entries["broken.cpp"])
	_, errs := ends(t, 1, "host blockbattle", flagged([]string{source, broken})...)
	require.Contains(t, errs, "broken.cpp\": does not compile: ")
	require.Contains(t, errs, "broken.cpp:1")
}
