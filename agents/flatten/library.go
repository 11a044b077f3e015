package flatten

import (
	"fmt"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A stdlibUse is one mention of something in the standard library.
type stdlibUse struct {
	obj types.Object
	pos token.Pos
}

// checkLibrary refuses functions, types and variables that the standard library gained after Lang. It reads the lists
// of additions in the folder api of the Go distribution. If that folder is missing, nothing is refused; then only a
// compiler of version Lang can tell.
func (p *program) checkLibrary() {
	since, err := additions()
	if p.err = err; err != nil {
		return
	}
	for _, u := range p.stdlibUses {
		if version := since[libraryName(u.obj)]; version != "" {
			p.refuse(u.pos, "%s came with %s, and a flattened program is in %s: write it out",
				libraryName(u.obj), version, Lang)
		}
	}
}

// libraryName is "path.Name", or "path.Type.Name" of a method or field.
func libraryName(obj types.Object) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	path := obj.Pkg().Path() + "."
	if f, ok := obj.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if ptr, ok := t.(*types.Pointer); ok {
			t = ptr.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			return path + named.Obj().Name() + "." + obj.Name()
		}
	}
	return path + obj.Name()
}

// addition matches a line such as "pkg strings, func Cut(string, string) (string, string, bool) #46336".
var addition = regexp.MustCompile(
	`(?m)^pkg ([^ ,]+)(?: \([^)]*\))?, (func|method|type|var|const) (?:\(\*?(\w+)[^)]*\) )?(\w+)`)

// additions maps the names that came after Lang to the version that added them.
var additions = sync.OnceValues(func() (map[string]string, error) {
	newest, err := strconv.Atoi(strings.TrimPrefix(Lang, "go1."))
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "api", "go1*.txt"))
	if err != nil {
		return nil, err
	}
	old, since := map[string]bool{}, map[string]string{}
	for _, file := range files {
		version := strings.TrimSuffix(filepath.Base(file), ".txt")
		minor, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(version, "go1"), "."))
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range addition.FindAllStringSubmatch(string(text), -1) {
			name := m[1] + "." + m[4]
			if m[3] != "" {
				name = m[1] + "." + m[3] + "." + m[4]
			}
			if minor <= newest {
				old[name] = true
			} else if since[name] == "" {
				since[name] = version
			}
		}
	}
	for name := range old {
		delete(since, name)
	}
	return since, nil
})
