package programs

import (
	"io"

	"blockyard/env/dropblox"
)

// Limits of one turn's output. A program that exceeds MaxCommands or maxOutput is ended.
const (
	MaxCommands = 1 << 16  // commands
	maxOutput   = 16 << 20 // bytes in all
	maxShown    = 64 << 10 // bytes of lines that are not commands
)

// An output parses a program's output.
type output struct {
	foreign  func(line string) // gets the lines that are not commands; may be nil
	commands []dropblox.Command
	flooded  bool

	lines dropblox.Output
	total int
	shown int
}

// read reads to the end, or up to the limits.
func (o *output) read(r io.Reader) {
	buf := make([]byte, 4096)
	for !o.flooded {
		n, err := r.Read(buf)
		if o.total += n; o.total > maxOutput {
			o.flooded = true
		}
		o.lines.Write(buf[:n], o.line)
		if err != nil {
			break
		}
	}
	o.lines.Close(o.line)
}

func (o *output) line(text string) {
	c, ok := dropblox.ParseCommand(text)
	switch {
	case ok && len(o.commands) < MaxCommands:
		o.commands = append(o.commands, c)
	case ok:
		o.flooded = true
	case o.foreign != nil && o.shown <= maxShown:
		o.foreign(text)
		if o.shown += len(text) + 1; o.shown > maxShown {
			o.foreign("(more of this is not shown)")
		}
	}
}
