package compile

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"blockyard/agents/contest"
)

// verb is the argument of this program when it is the contained process that reads a submission.
const verb = "read a submission for blockyard"

// An order says what the contained process shall do. It comes as JSON on standard input. Behind it is the submission as
// tar: the files of a folder, or one file.
type order struct {
	Name    string // of the submission
	Folder  bool   // it is one
	Uploads contest.Uploads
	Limits  Limits
	GoCache string // a folder with the standard library of Go in compiled form; "" if there is none yet
}

// A message is part of what the contained process answers, as JSON on standard output. The first says that it has
// started, the next ones which tools it runs, and the last has the answer. Behind that are the files of a bot, as tar.
type message struct {
	Tool   string  `json:",omitempty"`
	Answer *answer `json:",omitempty"`
}

type answer struct {
	Language string
	Dialect  string
	Argv     []string // how the bot is started
	Dir      string   // the folder for that, below that of the files
	Refusal  *Refusal `json:",omitempty"`
	NeedsGo  bool     `json:",omitempty"` // start again with GoCache
}

var errNeedsGo = errors.New("the standard library of Go is not there")

// init runs before any main, so that every program and test that takes submissions can read them.
func init() {
	readLanguages()
	if len(os.Args) == 2 && os.Args[1] == verb {
		if err := inside(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// inside reads an order, builds the submission in the working folder, and writes the messages and the files.
func inside(in io.Reader, out io.Writer) error {
	var o order
	orders := json.NewDecoder(in)
	if err := orders.Decode(&o); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(message{}); err != nil {
		return err
	}
	into, err := os.Getwd()
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "submission-") // of its own also where nothing is contained
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := os.Setenv("TMPDIR", temporary); err != nil {
		return err
	}
	c := &compiler{limits: o.Limits, uploads: o.Uploads, goCache: o.GoCache, texts: map[string]string{},
		tell: func(tool string) { _ = answers.Encode(message{Tool: tool}) }}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(context.Background(), o.Limits.Time)
	defer cancel()
	err = c.submission(&o, behind(orders, in), into)
	a := answer{Language: c.language, Dialect: c.dialect, Dir: c.begins}
	for _, arg := range c.argv { // all is moved elsewhere
		a.Argv = append(a.Argv, strings.ReplaceAll(arg, c.dir, upFrom(c.begins)))
	}
	refusal := new(Refusal)
	switch {
	case err == nil:
		top, err := filepath.Rel(into, c.dir)
		if err != nil {
			return err
		}
		a.Dir = path.Join(filepath.ToSlash(top), c.begins)
	case errors.As(err, &refusal):
		a.Refusal = refusal
	case errors.Is(err, errNeedsGo):
		a.NeedsGo = true
	default:
		a.Refusal = &Refusal{Why: "cannot be built: " + err.Error()}
	}
	if err := answers.Encode(message{Answer: &a}); err != nil || a.Argv == nil || c.err != nil {
		return err
	}
	return pack(into, out, true)
}

// behind returns what follows a line of JSON.
func behind(line *json.Decoder, in io.Reader) io.Reader {
	rest := io.MultiReader(line.Buffered(), in)
	_, _ = io.ReadFull(rest, make([]byte, len("\n"))) // where it is missing, so is the rest
	return rest
}

// upFrom is the path that leads from a folder to the one that its path begins in.
func upFrom(dir string) string {
	if dir == "." || dir == "" {
		return "."
	}
	return strings.TrimSuffix(strings.Repeat("../", depth(dir)+1), "/")
}

// submission unpacks a submission and builds it.
func (c *compiler) submission(o *order, in io.Reader, into string) (err error) {
	c.dir = into
	if c.err = unpack(c.ctx, o, in, into); c.err != nil {
		return c.err
	}
	if c.dir, err = sourceRoot(into); err != nil {
		return err
	}
	if c.root, err = os.OpenRoot(c.dir); err != nil {
		return err
	}
	defer c.root.Close()
	if c.seen, err = look(c.dir, c.uploads.Kit); err != nil {
		return err
	}
	return c.build()
}

// left are folders of what compilers keep to compile again.
var left = regexp.MustCompile(`(^|/)(CMakeFiles|\.host-build/release/(deps|build|incremental|\.fingerprint))$`)

// pack writes as tar what is in a folder, or the file root: files and, for all, folders and links to something in it.
func pack(root string, out io.Writer, all bool) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		local, _ := filepath.Rel(root, name)
		local = filepath.ToSlash(local)
		if err != nil || d.IsDir() && (local == "." || !all) {
			return err
		}
		if local == "." {
			local = filepath.Base(root)
		}
		if d.IsDir() && left.MatchString(local) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err = os.Readlink(name); err != nil || !all || !staysInside(local, to) {
				return nil
			}
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil
		}
		head, err := tar.FileInfoHeader(info, to)
		if err != nil {
			return err
		}
		head.Name = local
		head.Uname, head.Gname, head.Uid, head.Gid = "", "", 0, 0
		if err := w.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.CopyN(w, f, head.Size)
		return err
	})
	return errors.Join(err, w.Close())
}

// staysInside reports whether a link leads to something in the folder in which its name is a path.
func staysInside(name, to string) bool {
	return !path.IsAbs(to) && filepath.IsLocal(path.Join(path.Dir(name), to))
}
