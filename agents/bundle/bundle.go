// Package bundle flattens a program of this module and every package of ours it reaches
// into one Go source file: standard library only, unused declarations dropped, language
// no newer than Lang. That is the form in which contests take a bot.
//
// What it does with each declaration, in this order: branches under a constant condition
// are folded (fold.go), everything main does not reach is dropped (reach.go), language
// newer than Lang is written out the old way (lower.go, loops.go), package-level names
// are made unique (names.go), and what is left is printed without comments (print.go).
// It refuses, naming the place, what it cannot carry over faithfully: type parameters,
// assembly, embedded files, packages from elsewhere, library calls newer than Lang.
package bundle

import (
	"fmt"
	"strings"
)

const (
	// Lang is the newest language version a bundle uses.
	Lang = "go1.17"
	// MaxChars is how long a source file the contests take, in characters.
	MaxChars = 100000
)

const tooLong = "more than the limit of"

// Options say what to flatten.
type Options struct {
	// Package is the import path of the program, such as "blockyard/agents/submissions/blockbattle".
	Package string
	// Dir is a folder inside the module; empty means the current one.
	Dir string
	// Replace gives files of Package another content, by file name.
	Replace map[string][]byte
	// Header is the opening comment, a line each, without slashes.
	Header []string
	// Limit is the most characters allowed; 0 means MaxChars.
	Limit int
}

// Source returns the flattened, gofmt-clean program. It does not compile it; see Check.
func Source(o Options) ([]byte, error) {
	prog, err := load(o)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", o.Package, err)
	}
	src, err := prog.flatten(o.Header)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", o.Package, err)
	}
	limit := o.Limit
	if limit == 0 {
		limit = MaxChars
	}
	if n := len([]rune(string(src))); n > limit {
		return nil, fmt.Errorf("bundle %s: %d characters, %d %s %d%s",
			o.Package, n, n-limit, tooLong, limit, prog.largest(src))
	}
	return src, nil
}

func (p *program) flatten(header []string) ([]byte, error) {
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Syntax {
			foldFile(pkg.TypesInfo, f)
			p.foldTypes(pkg.TypesInfo, f)
		}
	}
	if err := p.reach(); err != nil {
		return nil, err
	}
	if err := p.checkLibrary(); err != nil {
		return nil, err
	}
	if err := p.lower(); err != nil {
		return nil, err
	}
	p.name()
	return p.print(header)
}

// largest says which packages fill a bundle, for the error about its length.
func (p *program) largest(src []byte) string {
	var parts []string
	for i, section := range strings.Split(string(src), sectionMark) {
		if i > 0 {
			name, _, _ := strings.Cut(section, "\n")
			parts = append(parts, fmt.Sprintf("%s %d", name, len(section)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
