package viewer

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/record/jsonl"
)

const (
	maxEntries = 100_000
	maxFiles   = 10_000 // files of records and history folders
	maxDepth   = 12     // folders within folders
)

const walkEvery = time.Second // how often folders are searched for new files

// A Library is the list of games in some files and folders, which it keeps up to date.
type Library struct {
	mu      sync.Mutex
	roots   []folder // shown is the prefix of the names of a root's files
	files   []*file
	dirs    []*dir
	added   []*entry // by Add
	version int      // grows with every Add
	notes   []string // what was left out, for the page
	walked  time.Time
	byID    map[string]*entry
	kinds   map[string]kind // of the games that were asked for
}

// A dir is a history folder, and the game in it.
type dir struct {
	folder
	changed time.Time
	entry   *entry
}

// NewLibrary lists the games in files of records, history folders, and folders of these. Every path must exist.
func NewLibrary(paths []string) (*Library, error) {
	l := &Library{kinds: map[string]kind{}}
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() && !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: want a file or a folder", path)
		}
		shown := ""
		if !st.IsDir() || IsHistory(path) {
			full, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			shown = filepath.Base(full)
		}
		l.roots = append(l.roots, folder{path, shown})
	}
	return l, nil
}

// Add adds the games of a file of records that is on no disk, in place of those that have the same name. It returns how
// many there are, also those before an error.
func (l *Library) Add(name string, text []byte) (n int, err error) {
	in, err := jsonl.New(name, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added = slices.DeleteFunc(l.added, func(e *entry) bool { return e.file == name })
	l.version++
	for rec, err := range record.ReadLines(in).All() {
		if err != nil {
			return n, err
		}
		n++
		e := entryOf(rec, fmt.Sprintf("%s:%d", name, n))
		e.file, e.number, e.version = name, n, l.version
		l.added = append(l.added, e)
	}
	return n, nil
}

// Refresh updates the list until deadline, and reports whether it is complete.
func (l *Library) Refresh(deadline time.Time) (done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refresh(deadline)
}

func (l *Library) refresh(deadline time.Time) (done bool) {
	if l.walked.IsZero() || time.Since(l.walked) >= walkEvery {
		l.walk()
		l.walked = time.Now()
	}
	room := maxEntries - len(l.dirs)
	for _, f := range l.files {
		room -= len(f.entries)
	}
	done = true
	for _, f := range l.files {
		if f.look() != nil {
			f.reset() // it is gone; the next walk drops it
			continue
		}
		before := len(f.entries)
		done = f.scan(deadline, room+before)
		if room -= len(f.entries) - before; !done {
			break
		}
	}
	for k := 0; k < len(l.dirs) && done; k++ {
		l.dirs[k].look()
		done = k == len(l.dirs)-1 || time.Now().Before(deadline)
	}
	l.byID = map[string]*entry{}
	for _, e := range l.list() {
		l.byID[e.ID] = e
	}
	return done
}

func (l *Library) walk() {
	files, dirs := map[string]*file{}, map[string]*dir{}
	for _, f := range l.files {
		files[f.path] = f
	}
	for _, d := range l.dirs {
		dirs[d.path] = d
	}
	l.files, l.dirs, l.notes = nil, nil, nil
	taken := map[string]bool{}
	for _, root := range l.roots {
		l.find(root, func(path, plain string, history bool) {
			shown := plain
			for k := 2; taken[shown]; k++ {
				shown = fmt.Sprintf("%s (%d)", plain, k)
			}
			taken[shown] = true
			if history {
				l.dirs = append(l.dirs, cmp.Or(dirs[path], &dir{folder: folder{path, shown}}))
				delete(dirs, path)
			} else {
				l.files = append(l.files, cmp.Or(files[path],
					&file{path: path, shown: shown, size: -1, log: gamelog.Is(path), named: path == root.path}))
				delete(files, path)
			}
		})
	}
	for _, gone := range files {
		gone.stop()
	}
}

// find calls found for every file of records and history folder below root, but links and hidden names.
func (l *Library) find(root folder, found func(path, shown string, history bool)) {
	n := 0
	err := filepath.WalkDir(root.path, func(path string, d fs.DirEntry, err error) error {
		rel, bad := filepath.Rel(root.path, path)
		if err != nil || bad != nil {
			l.note("%s: %v", filepath.ToSlash(rel), err)
			return nil
		}
		hidden := path != root.path && strings.HasPrefix(d.Name(), ".")
		records := path == root.path || gamelog.Is(path) || strings.HasSuffix(strings.TrimSuffix(d.Name(), ".gz"), ".jsonl")
		shown := filepath.ToSlash(filepath.Join(root.shown, rel))
		switch {
		case n >= maxFiles:
			l.note("More than %d files: the others are left out", maxFiles)
			return fs.SkipAll
		case d.IsDir() && (hidden || strings.Count(rel, string(filepath.Separator)) >= maxDepth):
			return fs.SkipDir
		case d.IsDir() && IsHistory(path):
			n++
			found(path, shown, true)
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden && records:
			n++
			found(path, shown, false)
		}
		return nil
	})
	if err != nil {
		l.note("%v", err)
	}
}

func (l *Library) note(format string, args ...any) {
	if len(l.notes) < 20 {
		l.notes = append(l.notes, fmt.Sprintf(format, args...))
	}
}

func (d *dir) look() {
	st, err := os.Stat(d.path)
	if err != nil {
		return
	}
	if d.entry != nil && st.ModTime().Equal(d.changed) {
		return
	}
	e, settled := d.read(st.ModTime())
	if d.entry != nil {
		e.version = d.entry.version
		if e.Length < d.entry.Length {
			e.version++
		}
	}
	d.entry = e
	if settled && time.Since(st.ModTime()) > settling { // until then it may change again without another time
		d.changed = st.ModTime()
	}
}

// list returns games being played, then those of files by name, then history folders, the newest first.
func (l *Library) list() []*entry {
	var out []*entry
	for _, f := range l.files {
		out = append(out, f.entries...)
	}
	out = append(out, l.added...)
	inFiles := len(out)
	for _, d := range l.dirs {
		if d.entry != nil {
			out = append(out, d.entry)
		}
	}
	slices.SortStableFunc(out[inFiles:], func(a, b *entry) int { return cmp.Compare(b.Time, a.Time) })
	var live, others []*entry
	for _, e := range out {
		if e.Live = e.open && e.fresh(); e.Live {
			live = append(live, e)
		} else {
			others = append(others, e)
		}
	}
	return append(live, others...)
}

func (l *Library) game(id string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// An entry is a game in the list.
type entry struct {
	ID      string    `json:"id"`
	Game    string    `json:"game"`
	Players []string  `json:"players"`
	Scores  []int     `json:"scores,omitempty"`
	Results []float32 `json:"results,omitempty"`
	Length  int       `json:"length"` // choices, or turns
	Time    int64     `json:"time"`   // of the game or its file, in milliseconds since 1970
	Live    bool      `json:"live,omitempty"`
	Stopped bool      `json:"stopped,omitempty"`
	Error   string    `json:"error,omitempty"`

	file, path string // as shown, and on the disk
	number     int    // of the game in its file, from 1
	line       int    // its first line, from 1
	offset     int64
	part       int // of a game with several lines: the last one read
	open       bool
	log        bool           // of a contest's log, whose lines of this game begin at from
	from       int64          // end of the game before it
	history    *folder        // of a history folder
	record     *record.Record // of a game that is in no file
	version    int            // changes when another game takes this place
	changed    time.Time
}

// fresh reports whether the entry's file may still be being written.
func (e *entry) fresh() bool { return time.Since(e.changed) < quiet }

func (e *entry) matches(words []string) bool {
	text := strings.ToLower(e.ID + " " + e.Game + " " + strings.Join(e.Players, " "))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// short cuts a text to at most n bytes, between characters.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
