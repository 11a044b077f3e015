package program

import "io"

// Bounds of one turn's output. Who goes beyond MaxCommands or maxOutput is ended.
const (
	MaxCommands = 1 << 16  // commands
	maxOutput   = 16 << 20 // bytes in all
	maxShown    = 64 << 10 // bytes of lines that are no command
	maxLine     = 4 << 10  // bytes kept of one line
)

// words are the commands, so that a list of them keeps none of the program's bytes.
var words = map[string]string{"left": "left", "right": "right", "up": "up", "down": "down", "rotate": "rotate"}

// An output takes a program's output apart: lines end in LF, CR LF or CR, and the last one
// counts unfinished.
type output struct {
	foreign  func(line string) // gets the lines that are no command; may be nil
	commands []string
	flooded  bool

	line  []byte
	begun bool // something of the line has come
	cr    bool // the last byte was a CR
	total int
	shown int
}

// read takes everything there is to read, up to the bounds.
func (o *output) read(r io.Reader) {
	buf := make([]byte, 4096)
	for !o.flooded {
		n, err := r.Read(buf)
		o.take(buf[:n])
		if err != nil {
			break
		}
	}
	if o.begun && !o.flooded {
		o.end()
	}
}

func (o *output) take(chunk []byte) {
	if o.total += len(chunk); o.total > maxOutput {
		o.flooded = true
	}
	for _, c := range chunk {
		switch {
		case c == '\n' && o.cr:
			o.cr = false
			continue
		case c == '\n' || c == '\r':
			o.end()
		default:
			o.begun = true
			if len(o.line) < maxLine {
				o.line = append(o.line, c)
			}
		}
		o.cr = c == '\r'
	}
}

// end ends a line.
func (o *output) end() {
	word, ok := words[string(o.line)]
	switch {
	case ok && len(o.commands) < MaxCommands:
		o.commands = append(o.commands, word)
	case ok:
		o.flooded = true
	default:
		o.show(string(o.line))
	}
	o.line, o.begun = o.line[:0], false
}

func (o *output) show(line string) {
	if o.foreign == nil || o.shown > maxShown {
		return
	}
	o.foreign(line)
	if o.shown += len(line) + 1; o.shown > maxShown {
		o.foreign("(more of this is not shown)")
	}
}
