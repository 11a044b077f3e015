package env_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// streams is why the standard streams have one owner. children are programs that a program of ours starts and reads.
const (
	streams  = "what a command prints goes through the Console, where a terminal can only show it"
	children = "agents/contest/cage agents/contest/compile agents/contest/library agents/submit/programs/... agents/submit/starters/..."
)

// An owner says what some packages, files or functions (file.go:function) alone do, or which types only they have, and why. what is a name of an imported
// package or the own one, such as net/http.Server, or a declared type, such as type:Text. Both lists have spaces in between.
type owner struct{ what, who, why string }

var once = []owner{
	{"net/http.Server net/http.Serve net/http.ServeTLS net/http.ListenAndServe net/http.ListenAndServeTLS", "datasets/program/web",
		"limits of time, size and connections are set, and the Host and Origin of every request are checked, in one place"},
	{"net/http/httptest.NewServer", "datasets/program/web/webtest", "it is for tests, and checks no Host"},
	{"os.Stdout", "datasets/program " + children, streams},
	{"os.Stderr", "datasets/program agents/submit agents/play/playground rpc/library " + children, streams},
	{"fmt.Print fmt.Printf fmt.Println", children, streams},
	{"blockyard/env/ansi.Styled", "env/ansi datasets/program datasets/commands agents/commands agents/play/human agents/contest/dropblox",
		"only colours and screens of our own go around an ansi.Writer"},
	{"golang.org/x/term.IsTerminal", "datasets/program", "a progress bar and a prompt decide alike"},
	{"os/signal.NotifyContext os/signal.Notify", "datasets/program", "the first signal asks to stop and the second one ends, in every program"},
	{"github.com/alecthomas/kong.New github.com/alecthomas/kong.Parse", "datasets/program", "usage errors and exit statuses are alike"},
	{"type:Outcome", "agents/contest", "a game that was played before a referee has one shape"},
	{"type:Option", "agents/contest agents/bots/entry", "a setting of a contest and one of an agent are data of two kinds"},
	{"type:Ledger", "rpc/session/limits", "what clients take is counted in one place"},
	{"type:Timeline", "datasets/record/playback", "the positions of a recorded game have one name"},
	{"type:Text", "agents/bots", "who wrote the text of an agent is part of its type"},
	{"type:Program", "datasets/program agents/contest agents/contest/dropblox", "a command line, and a bot as it is started"},
}

// TestOnce holds one home for one idea.
func TestOnce(t *testing.T) {
	const server = "import h \"net/http\"\nvar s = &h.Server{}\n"
	holds(t, owned(once), trial{"datasets/program/web/server.go", server, ""},
		trial{"rpc/watch.go", server, "rpc/watch.go:3:10: net/http.Server is for datasets/program/web alone, because limits of time"},
		trial{"rpc/watch.go", strings.ReplaceAll(server, "h.", "x."), ""}, trial{"agents/x.go", "type Ledger struct{}\n", "type:Ledger is for"},
		trial{"agents/x.go", "type ledger struct{}\nvar Ledger = 1\n", ""})
}

// starts are the files that start programs otherwise than by contest.StartChild, which wants a cage, with what each
// starts, and trusting those that put programs in the cage Trusted, which has no walls, with whose programs these are.
var (
	starts = []owner{
		{starting, "agents/contest/child.go", "StartChild itself"},
		{starting, "agents/contest/child_unix.go agents/contest/child_other.go agents/contest/isolate_other.go " +
			"agents/contest/cage/cage.go agents/contest/cage/cage_other.go agents/contest/cage/support_linux.go",
			"nothing: the type of the command that a cage returns, and what is set of it"},
		{starting, "agents/contest/isolate.go", "the command that the cage Trusted returns, for StartChild"},
		{starting, "agents/contest/isolate_linux.go", "a shell that does nothing, to see which namespaces there are"},
		{starting, "agents/contest/command.go", "a shell that looks up a word that has no special characters"},
		{starting, "agents/contest/cage/room_linux.go", "bubblewrap, which makes a room for the program"},
		{starting, "agents/contest/cage/walls_linux.go", "this program again, whose process puts up walls and becomes the program"},
		{starting, "agents/contest/compile/build.go", "compilers, in the contained process that reads a submission"},
		{starting, "agents/contest/compile/submission.go", "Go, in a folder of this user's, for its settings and standard library"},
		{starting, "agents/bots/dropbloxbot/replay.go", "the bot that agents bundle has made, of our source, to compare it"},
		{starting, "agents/submit/submit.go", "Go, on our source of a bot"},
		{starting, "agents/submit/flatten/language.go", "Go, for the place of its own files"},
		{starting, "datasets/program/web/server.go", "the browser, on an address of our own"},
	}
	trusting = []owner{
		{trusted, "agents/bots/agent.go", "a command of the user's own, until a tournament contains it, and an agent of ours"},
		{trusted, "agents/contest/cage/cage.go", "what --isolate off asks for"},
		{trusted, "agents/contest/isolate.go", "where it is made"},
		{trusted, "agents/contest/trial/replay.go", "the bot that agents bundle has made, of our source, to measure it"},
		{trusted, "agents/contest/library/process.go", "a WinTetris plug-in that the user names; SECURITY.md says that it is not contained"},
		{trusted, "agents/contest/policy/policy.go", "the interpreter of a policy of Python that the user names"},
	}
)

// starting are the ways to start a program, or to become one.
const (
	starting = "os/exec.Command os/exec.CommandContext os/exec.Cmd os.StartProcess syscall.Exec syscall.ForkExec " +
		"syscall.StartProcess golang.org/x/sys/unix.Exec syscall.SYS_EXECVE syscall.SYS_EXECVEAT syscall.SYS_FORK " +
		"syscall.SYS_CLONE golang.org/x/sys/unix.SYS_EXECVE golang.org/x/sys/unix.SYS_EXECVEAT"
	trusted = "blockyard/agents/contest.Trusted"
)

// texts are the functions that trust text as much as the user of the program, with where it comes from.
var texts = []owner{
	{ownText, "agents/bots/agent.go:Own", "where it is made"},
	{ownText, "agents/commands/arena.go:players", "--a, --b and the arguments of agents arena and ladder"},
	{ownText, "agents/commands/play.go:match", "--agent, --a and --b of agents play"},
	{ownText, "agents/commands/bot.go:agent", "--agent of agents bot"},
	{ownText, "agents/commands/main.go:contestants", "--bot of agents host, arguments of agents tournament, league.toml of agents league"},
	{ownText, "agents/fleet/matches/matches.go:pack", "what agents arena has parsed before as its own, read again for workers"},
	{ownText, "agents/fleet/matches/shared.go:Share", "the agents of a self-test, named there"},
	{ownText, "agents/play/analyst/analyst.go:ranker", "--agent of agents analyze; whatever a page asks for is foreign"},
	{ownText, "rpc/commands/openenv.go:openEnv", "--opponents of serve"},
	{ownText, "rpc/session/batch/agents.go:text", "a client's own request, if the server was started with --trust-specs"},
	{ownText, "train/commands/selfplay.go:trust", "--gate-against of this command line; else what a run's folder says is foreign"},
	{ownText, "train/commands/selfplay.go:keepWeights", "--gate-against of a new run"},
	{ownText, "train/commands/selfplay.go:ofLeagues", "league.toml of a league that --gate-against names"},
	{ownText, "train/commands/regret.go:judge", "the agents that train regret is to judge"},
	{ownText, "train/commands/panel.go:panel", "--teacher, --nominate, --play and --policy of train regret"},
}

const ownText = "blockyard/agents/bots.Own"

// TestCallersOfOwn: only a list of functions takes text for the user's own; all other text is bots.Foreign.
func TestCallersOfOwn(t *testing.T) {
	const call = "import b \"blockyard/agents/bots\"\nfunc match() { b.Own(\"hand\") }"
	holds(t, owned(texts), trial{"agents/commands/play.go", call, "arena.go:players does not do what is said of it any more"},
		trial{"agents/commands/play.go", strings.Replace(call, "match", "other", 1), "agents/commands/play.go:3:16: " + ownText + " is for"},
		trial{"agents/bots/agent.go", "var text = Own(\"hand\")", "agents/bots/agent.go:2:12: " + ownText + " is for"})
}

// TestNoProgramStartsWithoutACage: no code of the product starts a program but by contest.StartChild, which refuses one
// without a cage, apart from a list of programs that are not foreign; and only a list of files trusts one.
func TestNoProgramStartsWithoutACage(t *testing.T) {
	file := func(text string) trial { return trial{"agents/contest/x.go", text, "agents/contest/x.go:"} }
	holds(t, owned(starts), file("import \"os/exec\"\nfunc f() { exec.Command(\"x\") }"),
		file("import e \"os/exec\"\nvar start = e.CommandContext"), file("import \"os/exec\"\nfunc f() { c := exec.Cmd{}; c.Run() }"),
		trial{"agents/x.go", "", "agents/contest/child.go does not do what is said of it any more"})
	holds(t, owned(trusting), file("import \"blockyard/agents/contest\"\nvar c = contest.Trusted"),
		file("func f() { StartChild(Spec{Cage: Trusted}) }"),
		trial{"agents/contest/x.go", "import \"x/config\"\nvar c = config.Get().Trusted", ""})
}

// owned returns the rule that what owners have is used nowhere else, and that files that are named as owners use it. Several
// rows may have the same.
func owned(owners []owner) rule {
	of := map[string]owner{}
	for _, o := range owners {
		for _, what := range strings.Fields(o.what) {
			of[what] = owner{what, of[what].who + o.who + " ", o.why}
		}
	}
	return func(all []source) (out []string) {
		used := ""
		for _, f := range all {
			if !f.isProduct() {
				continue
			}
			for _, m := range f.mentions() {
				switch o, has := of[m.what]; {
				case !has:
				case fits(f.path, o.who), fits(f.path+":"+m.in, o.who):
					used += f.path + " " + f.path + ":" + m.in + " "
				case !fits(path.Dir(f.path), o.who):
					out = append(out, fmt.Sprintf("%s: %s is for %s alone, because %s: use what is there, or add a row to "+
						"env/once_test.go", places.Position(m.at), m.what, strings.TrimSpace(o.who), o.why))
				}
			}
		}
		for _, o := range owners {
			for _, who := range strings.Fields(o.who) {
				if strings.Contains(who, ".go") && !fits(who, used) {
					out = append(out, who+" does not do what is said of it any more: remove it from env/once_test.go")
				}
			}
		}
		return out
	}
}

// A mention is what a file uses of another package, as the path of the package, a dot and the name, what it uses of its
// own folder in the same form, and what it declares, such as type:Text. in is the function, "" outside of functions.
type mention struct {
	what, in string
	at       token.Pos
}

func (f *source) mentions() (all []mention) {
	imports := map[string]string{}
	for k, from := range f.imports() {
		name := path.Base(from)
		if own := f.tree.Imports[k].Name; own != nil {
			name = own.Name
		}
		if imports[name] = from; name == "." {
			panic(f.path + ": names of " + from + " would look like its own: import it without a dot")
		}
	}
	in := ""
	found := func(n ast.Node, what string) { all = append(all, mention{what, in, n.Pos()}) }
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				found(n, imports[x.Name]+"."+n.Sel.Name)
			} else {
				ast.Inspect(n.X, look)
			}
			return false // the name after a dot is nothing by itself
		case *ast.TypeSpec:
			found(n, "type:"+n.Name.Name)
		case *ast.Ident:
			found(n, module+"/"+path.Dir(f.path)+"."+n.Name)
		}
		return true
	}
	for _, d := range f.tree.Decls {
		in = ""
		if d, ok := d.(*ast.FuncDecl); ok {
			in = d.Name.Name
		}
		ast.Inspect(d, look)
	}
	return all
}
