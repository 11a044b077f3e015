package program

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"blockyard/datasets/program/named"
)

// Several is an executable with the commands of several programs.
type Several struct {
	Name  string // in help; Called may replace it
	About string // what --help says before the lists of commands
	Parts []Part
	// Outside are commands of whoever started the executable, which help lists too: lines with a name, a tab and what it
	// does.
	Outside string
}

// A Part is one program of several in one executable.
type Part struct {
	*Program
	Start func() int // runs the program with the command line of this process, and returns its exit status
}

// Main runs the command line of this process: a command, or a program's name before it. The longer of two commands,
// such as "serve dropblox" and "serve", counts.
func (s *Several) Main() int {
	s.say()
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
		os.Args = append(os.Args[:1:1], args...)
	}
	if len(args) == 0 || slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
		s.list(os.Stdout)
		if len(args) == 0 {
			return Wrong
		}
		return Done
	}
	if args[0] == "--version" {
		return s.Parts[0].Start()
	}
	part, named := s.find(args)
	if part == nil {
		name := Called(s.Name)
		fmt.Fprintf(os.Stderr, "%s: unknown command %.80q%s\n%s help lists the commands\n",
			name, args[0], s.guess(args[0]), name)
		return Wrong
	}
	if named {
		os.Args = append(os.Args[:1:1], args[1:]...)
	}
	return part.Start()
}

// find returns the part whose command begins args, or nil, and whether its program's name stands before it.
func (s *Several) find(args []string) (part *Part, named bool) {
	longest := 0
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.Name == args[0] {
			return p, true
		}
		if n := begun(reflect.TypeOf(p.Commands).Elem(), args); n > longest {
			part, longest = p, n
		}
	}
	return part, false
}

// guess asks whether a command that is like a word was meant, as the parsers of the programs do.
func (s *Several) guess(word string) string {
	words := []string{"help"}
	for _, p := range s.Parts {
		words = append(words, wordsOf(p.Program)...)
	}
	for _, command := range s.outside() {
		words = append(words, command[0])
	}
	all := &Program{Name: s.Name, Commands: new(struct{})}
	slices.Sort(words)
	for _, name := range slices.Compact(words) {
		all.Options = append(all.Options, kong.DynamicCommand(name, "", "", new(struct{})))
	}
	parser, err := all.parser(nil, &Console{os.Stdin, io.Discard, io.Discard})
	if err == nil {
		_, err = parser.Parse([]string{word})
	}
	if at := strings.Index(fmt.Sprint(err), ", did you mean"); at >= 0 {
		return err.Error()[at:]
	}
	return ""
}

// outside are the names and texts of the commands of Outside.
func (s *Several) outside() (all [][2]string) {
	for line := range strings.Lines(s.Outside) {
		name, help, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, [2]string{name, help})
	}
	return all
}

// entry writes a command and what it does, in lines of at most 80 columns.
func entry(to io.Writer, name, help string) {
	line := fmt.Sprintf("  %-18s", name)
	for word := range strings.FieldsSeq(help) {
		if utf8.RuneCountInString(line+word) >= 80 {
			fmt.Fprintln(to, line)
			line = strings.Repeat(" ", 20)
		}
		line += " " + word
	}
	fmt.Fprintln(to, line)
}

// say makes Named write the commands of the parts as those of this executable.
func (s *Several) say() {
	parts, as := []string{}, "${1}"+Called(s.Name)+" "
	for k, p := range s.Parts {
		parts = append(parts, p.Name+" ("+strings.Join(wordsOf(p.Program), "|")+")")
		as += fmt.Sprintf("${%d}", k+2) // of one part
	}
	names := regexp.MustCompile(`(^|[^\w/])(?:` + strings.Join(parts, "|") + `)\b`)
	named.In = func(text string) string { return names.ReplaceAllString(text, as) }
}

func (s *Several) list(to io.Writer) {
	fmt.Fprintf(to, "Usage: %s COMMAND [flags]\n\n%s\n", Called(s.Name), s.About)
	for _, p := range s.Parts {
		about, _, _ := strings.Cut(p.About, "\n")
		fmt.Fprintf(to, "\n%s: %s\n", p.Name, about)
		parser, err := p.parser(nil, &Console{os.Stdin, io.Discard, io.Discard})
		if err != nil {
			panic(err) // the struct of commands is wrong
		}
		for _, command := range parser.Model.Leaves(true) {
			entry(to, command.Path(), command.Help)
		}
	}
	if s.Outside != "" {
		fmt.Fprint(to, "\npython: The package that has this program.\n")
		for _, command := range s.outside() {
			entry(to, command[0], command[1])
		}
	}
	fmt.Fprintf(to, "\n%s COMMAND --help explains the flags.\n", Called(s.Name))
	if s.Outside != "" {
		fmt.Fprintf(to, "To begin: %[1]s demo, then %[1]s docs first.\n", Called(s.Name))
	}
}
