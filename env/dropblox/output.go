package dropblox

import "bytes"

// MaxLine is the number of bytes of an output line that are kept.
const MaxLine = 4096

// An Output splits what a program writes into lines (rules §8). LF, CR and CR LF end a line; text
// after the last line end is a line too. The zero value is ready to use.
type Output struct {
	line []byte
	cr   bool // the last byte was CR: an LF that follows belongs to it
}

// Write takes the next part of the output and calls line for every line that ends in it. Lines are
// cut to MaxLine bytes.
func (o *Output) Write(piece []byte, line func(text string)) {
	for len(piece) > 0 {
		if o.cr {
			o.cr = false
			if piece[0] == '\n' {
				piece = piece[1:]
				continue
			}
		}
		end := bytes.IndexAny(piece, "\r\n")
		if end < 0 {
			o.keep(piece)
			return
		}
		o.keep(piece[:end])
		o.cr = piece[end] == '\r'
		piece = piece[end+1:]
		line(string(o.line))
		o.line = o.line[:0]
	}
}

func (o *Output) keep(text []byte) {
	if room := MaxLine - len(o.line); len(text) > room {
		text = text[:room]
	}
	o.line = append(o.line, text...)
}

// Close ends the output. It calls line for a last line without a line end.
func (o *Output) Close(line func(text string)) {
	if len(o.line) > 0 {
		line(string(o.line))
	}
	*o = Output{}
}

// ReadOutput returns the commands in a program's output of a whole turn, and the lines that are not
// commands, which a host shows and does not pass on.
func ReadOutput(text string) (commands []Command, foreign []string) {
	take := func(line string) {
		if c, ok := ParseCommand(line); ok {
			commands = append(commands, c)
		} else {
			foreign = append(foreign, line)
		}
	}
	var o Output
	o.Write([]byte(text), take)
	o.Close(take)
	return commands, foreign
}
