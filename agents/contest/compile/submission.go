package compile

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/env/ansi"
)

// What a contained process may answer, in bytes.
const (
	mostMessages = 1 << 20   // before the files
	mostLeft     = 256 << 20 // of all files of a bot
	mostReason   = 1000      // of why a submission is refused
	mostSaid     = 4 << 10   // of standard error that is kept
	mostWords    = 32 << 10  // of the command that starts a bot
)

// waitTime is how long a contained process has, beside the time for its compilers, to say that this is over.
const waitTime = 10 * time.Second

// Submission makes a bot of a submission to the contest with these uploads, in a contained process. Its files are in
// the folder into afterwards, which must be empty or missing; the bot only reads them. The error is a *Refusal if the
// author has to mend something.
func Submission(ctx context.Context, path, into string, uploads contest.Uploads, l Limits) (bot Bot, err error) {
	defer func() {
		if why := new(Refusal); errors.As(err, &why) {
			err = &Refusal{Why: ansi.Plain(why.Why, mostReason) + "; see " + Page, Output: why.Output}
		}
	}()
	if path, err = filepath.Abs(path); err == nil {
		into, err = filepath.Abs(into)
	}
	if err == nil {
		err = os.MkdirAll(into, 0o755)
	}
	if err != nil {
		return Bot{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Bot{}, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // opening a named pipe would wait for its writer
		return Bot{}, refuse("neither a file nor a folder")
	}
	if !info.IsDir() && info.Size() > l.Size {
		return Bot{}, refuse("%d bytes, want at most %d", info.Size(), l.Size)
	}
	r := &reading{order: order{filepath.Base(path), info.IsDir(), uploads, l, ""}, path: path, into: into}
	a, err := r.read(ctx)
	if err == nil && a.NeedsGo {
		if err = r.shareGo(ctx); err == nil {
			a, err = r.read(ctx)
		}
		if err == nil && a.NeedsGo {
			err = refuse("its process asks for Go twice")
		}
	}
	if err != nil {
		return Bot{Language: ansi.Plain(a.Language, mostLanguage)}, err
	}
	return Bot{ansi.Plain(a.Language, mostLanguage), contest.Program{Argv: a.Argv, Dir: filepath.FromSlash(a.Dir),
		Dialect: ansi.Plain(a.Dialect, mostLanguage),
		Cage:    &cage.Cage{Files: into, Limits: cage.Bot, Open: l.Open}}}, nil
}

const mostLanguage = 40

// A reading is the process that reads a submission, as this process sees it.
type reading struct {
	order
	path  string // of the submission
	into  string
	share []string // folders of Go
	env   []string

	began bool         // the process has started
	tool  string       // the last that it ran
	errs  bytes.Buffer // the first that it says
	extra error        // what it took too much of
}

// read starts the process and reads its answer and the files.
func (r *reading) read(ctx context.Context) (a answer, err error) {
	self, err := os.Executable()
	if err != nil {
		return answer{}, err
	}
	r.began, r.tool, r.extra = false, "", nil
	r.errs.Reset()
	within, cancel := context.WithTimeout(ctx, r.Limits.Time+waitTime)
	defer cancel()
	answered := make(chan error, 1)
	child, err := contest.StartChild(contest.Spec{
		Argv: []string{self, verb}, Memory: r.Limits.Memory, Input: true,
		Cage: &cage.Cage{Read: append([]string{self}, r.share...), Env: r.env, Limits: cage.Compiler,
			Open: r.Limits.Open},
		Stdout: func(out io.Reader) {
			a, err = r.answer(out)
			answered <- err
			_, _ = io.Copy(io.Discard, out)
		},
		Stderr: contest.PassOn(&r.errs, mostSaid),
		Excess: func(why string) { r.extra = errors.New(why) },
	})
	if err != nil {
		return answer{}, err
	}
	sent := make(chan error, 1)
	go func() {
		err := json.NewEncoder(child.In).Encode(r.order)
		sent <- errors.Join(err, pack(r.path, child.In, false), child.In.Close())
	}()
	select {
	case err := <-answered:
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			child.Exit(waitTime) // and says how
		}
	case <-child.Exited():
		select { // what it has written is read to its end
		case <-answered:
		case <-within.Done():
		}
	case <-within.Done():
	}
	ended := child.Kill() // which waits for the answer
	if failed := new(fs.PathError); errors.As(<-sent, &failed) && failed.Path != child.In.Name() {
		return a, refuse("cannot be read: %v", failed) // a process that wants no more is no failure
	}
	switch {
	case err == nil && a.Refusal != nil:
		return a, a.Refusal
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return a, ctx.Err()
	case r.extra != nil:
		err = r.extra
	case within.Err() != nil:
		err = fmt.Errorf("it takes more than %v", r.Limits.Time)
	case !r.began:
		return a, fmt.Errorf("the process that reads submissions does not start: %v: %s", ended, r.errs.String())
	case errors.As(err, new(*Refusal)), errors.As(err, new(*fs.PathError)) && !errors.Is(err, os.ErrDeadlineExceeded):
		return a, err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		line, _, _ := strings.Cut(r.errs.String(), "\n")
		err = fmt.Errorf("its process has ended: %w: %s", cmp.Or(ended, errors.New("without an answer")), line)
	}
	if r.tool == "" {
		return a, refuse("cannot be unpacked and read: %v", err)
	}
	return a, &Refusal{Why: fmt.Sprintf("does not compile: %s: %v", r.tool, err), Output: r.errs.String()}
}

// answer reads the messages of the process and writes the files of a bot.
func (r *reading) answer(out io.Reader) (answer, error) {
	bounded := &io.LimitedReader{R: out, N: mostMessages}
	for messages := json.NewDecoder(bounded); ; {
		var m message
		if err := messages.Decode(&m); err != nil {
			if bounded.N <= 0 {
				err = fmt.Errorf("its process says more than %d bytes", mostMessages)
			}
			return answer{}, err
		}
		r.began = true
		if m.Answer == nil {
			r.tool = ansi.Plain(m.Tool, mostLanguage)
			continue
		}
		a := *m.Answer
		if a.Refusal != nil || a.NeedsGo {
			return a, nil
		}
		words := strings.Join(a.Argv, "") + a.Dir
		if len(a.Argv) == 0 || !filepath.IsLocal(a.Dir) || strings.ContainsRune(words, 0) || len(words) > mostWords {
			return a, refuse("its process answers what cannot be started: %.100q in %.100q", a.Argv, a.Dir)
		}
		return a, keep(behind(messages, out), r.into)
	}
}

// keep writes the files of a bot to the folder into. Links come last, so that nothing is written through one.
func keep(in io.Reader, into string) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	links := map[string]string{}
	files, left := 0, int64(mostLeft) // of bytes in files, of which archives of holes have more than they are long
	for from := tar.NewReader(io.LimitReader(in, mostLeft)); ; {
		head, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("its files: %w", err)
		}
		if files++; files > cage.Compiler.Files {
			return refuse("its build leaves more than %d files", cage.Compiler.Files)
		}
		name := path.Clean(head.Name)
		if !filepath.IsLocal(name) {
			return refuse("its build leaves a file %q", ansi.Plain(head.Name, 100))
		}
		switch mode := head.FileInfo().Mode(); {
		case mode.IsDir():
			err = kept(name, root.MkdirAll(name, 0o755))
		case mode&fs.ModeSymlink != 0 && staysInside(name, head.Linkname):
			links[name] = head.Linkname
		case mode.IsRegular():
			var n int64
			n, err = keepFile(root, name, head, io.LimitReader(from, left+1))
			if left -= n; left < 0 {
				err = refuse("its build leaves more than %d MiB", mostLeft>>20)
			}
		}
		if err != nil {
			return err
		}
	}
	for name, to := range links {
		if err := kept(name, root.Symlink(to, name)); err != nil {
			return err
		}
	}
	for name := range links { // through others, one may lead out
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = root.Remove(name)
		}
	}
	return nil
}

func keepFile(root *os.Root, name string, head *tar.Header, in io.Reader) (n int64, err error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|head.FileInfo().Mode().Perm()&0o111)
	if err != nil {
		return 0, kept(name, err)
	}
	n, err = io.Copy(f, in)
	return n, errors.Join(err, f.Close(), root.Chtimes(name, head.ModTime, head.ModTime))
}

// kept makes a refusal of an error for which the name of a file is to blame, and not the disk of this machine.
func kept(name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return refuse("its build leaves a file %q: %v", ansi.Plain(name, 100), errors.Unwrap(err))
}

var common = []string{"bufio", "encoding/json", "fmt", "math/rand/v2", "os", "sort", "strconv", "strings", "time"}

// goCache returns the folder of the standard library of Go in compiled form, which it fills once, and where Go and its
// modules are. It is not the cache of this user: that holds what is nobody else's business.
var goCache = sync.OnceValues(func() ([]string, error) {
	where, err := goTool("env", "GOROOT", "GOMODCACHE", "GOVERSION")
	paths := strings.Split(strings.TrimSpace(where), "\n")
	if err != nil || len(paths) != 3 {
		return nil, fmt.Errorf("go env: %q, %w", where, err)
	}
	caches, err := os.UserCacheDir()
	if os.Geteuid() == 0 { // what root contains is another user's, who may not enter root's home folder
		caches, err = "/var/cache", nil
	}
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(caches, "blockyard", ansi.Plain(paths[2], 40)+"-"+os.Getenv("GOAMD64"))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	if _, err := goTool(append([]string{"build", "GOCACHE=" + cache}, common...)...); err != nil {
		return nil, err
	}
	return []string{paths[0], paths[1], cache}, nil
})

// goTool runs Go for this process. What a submission says about Go is not for a program that is not contained: it runs
// elsewhere. Words with = are variables.
func goTool(args ...string) (string, error) {
	cmd := exec.Command("go")
	cmd.Dir, cmd.Env = os.TempDir(), os.Environ()
	for _, arg := range args {
		if strings.Contains(arg, "=") {
			cmd.Env = append(cmd.Env, arg)
		} else {
			cmd.Args = append(cmd.Args, arg)
		}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return string(out), err
}

// shareGo lets the process read Go, the modules of this user, and the compiled standard library.
func (r *reading) shareGo(ctx context.Context) error {
	paths, err := goCache()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return refuse("needs Go, which does not work here: %v", err)
	}
	r.GoCache, r.share = paths[2], slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	})
	r.env = []string{"GOTOOLCHAIN=local", "GOPROXY=off", "GOROOT=" + paths[0], "GOMODCACHE=" + paths[1]}
	return nil
}
