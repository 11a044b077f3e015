package flatten

import (
	"bytes"
	"go/scanner"
	"go/token"
)

// compact removes the empty lines inside gofmt-ed declarations, and keeps one in front of each.
func compact(src []byte) []byte {
	inside := map[int]bool{} // lines that are part of a raw string
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.STRING && text[0] == '`' {
			from := file.Line(pos)
			for i := 1; i <= bytes.Count([]byte(text), []byte("\n")); i++ {
				inside[from+i] = true
			}
		}
	}
	var out [][]byte
	lines := bytes.Split(src, []byte("\n"))
	for i, line := range lines {
		number := i + 1
		next := []byte(nil)
		if number < len(lines) {
			next = lines[number]
		}
		if len(line) == 0 && !inside[number] && len(next) > 0 && (next[0] == '\t' || next[0] == '}' || next[0] == ')') {
			continue
		}
		out = append(out, line)
	}
	return bytes.Join(out, []byte("\n"))
}
