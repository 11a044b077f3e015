// Package flatten turns a program of this module, together with every package of the module that it imports, into one
// Go source file. The file imports the standard library only, contains no unused declarations, and uses no language
// newer than Lang. Programming contests take a bot in this form.
//
// Source works in these steps:
//
//   - load.go reads and type-checks the packages; language.go type-checks them again as Lang, and refuses language and
//     library functions that are newer.
//   - fold.go removes the branches of if statements that are never taken, because their conditions are constants.
//   - reach.go finds the declarations that func main needs, and the fields of structs that these mention; all others
//     are dropped.
//   - print.go gives every package-level declaration a unique name and prints it without comments, as gofmt would.
//
// Assembly, embedded files, packages of other modules and init functions, which one package would run at another time
// than several packages do, are refused too. Every refusal names the place.
package flatten

import (
	"fmt"
	"strings"
)

// Lang is the newest language version that a flattened program uses.
const Lang = "go1.17"

// Options say what to flatten.
type Options struct {
	// Package is the import path of the program, such as "blockyard/agents/submit/programs/blockbattle".
	Package string
	// Dir is a folder inside the module; empty means the current one.
	Dir string
	// Replace gives source files other content, with the same imports. A key is a file's path below the module's
	// root, with slashes.
	Replace map[string][]byte
	// Header is the opening comment, one element per line, without slashes.
	Header []string
}

// Source returns the flattened, gofmt-clean program. It does not compile it.
func Source(o Options) (src []byte, err error) {
	defer func() {
		if err != nil {
			src, err = nil, fmt.Errorf("flatten %s: %w", o.Package, err)
		}
	}()
	p, err := load(o)
	if err != nil {
		return nil, err
	}
	p.findNewerLanguage()
	for _, pkg := range p.pkgs {
		for _, f := range pkg.Syntax {
			foldFile(pkg.TypesInfo, f)
			p.foldTypes(pkg.TypesInfo, f)
		}
	}
	for _, step := range []func(){p.collect, p.reach, p.checkLanguage} {
		if step(); p.err != nil {
			return nil, p.err
		}
	}
	p.name()
	return p.print(o.Header)
}

// Sizes describes how many bytes of a flattened program come from each package, for an error about its length.
func Sizes(src []byte) string {
	var parts []string
	for i, section := range strings.Split(string(src), sectionMark) {
		if i > 0 {
			name, _, _ := strings.Cut(section, "\n")
			parts = append(parts, fmt.Sprintf("%s %d", name, len(section)))
		}
	}
	return strings.Join(parts, ", ")
}
