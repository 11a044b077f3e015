package viewer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// read creates the entry of a history folder. settled means that its newest state was readable, so that it
// need not be read again before the folder changes.
func (d *dir) read(changed time.Time) (e *entry, settled bool) {
	e = &entry{ID: d.shown, Game: "dropblox", Players: []string{"dropblox_ai"},
		Time: cmp.Or(startOf(filepath.Base(d.path)), changed.UnixMilli()),
		file: d.shown, path: d.path, number: 1, history: &d.folder, changed: changed, open: true}
	d.meta(e)
	e.Length = d.states()
	if e.Length == 0 {
		return e, false
	}
	h := history{texts: &d.folder}
	p, err := h.position(e.Length - 1)
	if err != nil {
		if time.Since(changed) > settling {
			e.Error, e.open = short(err.Error(), 1000), false
		}
		return e, e.Error != ""
	}
	e.Scores, e.open = []int{p.Score}, !p.Failed
	e.Length--
	return e, true
}

// states counts the states of the folder, from state0 without a gap.
func (d *dir) states() int {
	f, err := os.Open(d.path)
	if err != nil {
		return 0
	}
	defer f.Close()
	seen := map[string]bool{}
	for len(seen) < maxTurns {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, "state") {
				seen[name] = true
			}
		}
		if err != nil {
			break
		}
	}
	n := 0
	for seen[fmt.Sprintf("state%d", n)] {
		n++
	}
	return n
}

// meta reads the player's name from the file meta, if it exists.
func (d *dir) meta(e *entry) {
	text, _ := d.text("meta")
	var meta map[string]any
	_ = json.Unmarshal(text, &meta) // without a program's name, or any, the entry stays as it is
	name, _ := meta["program"].(string)
	if name == "" {
		return
	}
	name = short(filepath.Base(name), maxName)
	switch seed := meta["seed"].(type) {
	case string:
		name += " · seed " + short(seed, 40)
	case float64:
		name += fmt.Sprintf(" · seed %.0f", seed)
	}
	e.Players = []string{name}
}

// startOf reads the start of a game from its folder's name, "<id>_<unix time>", and returns it in
// milliseconds, 0 if the name has none.
func startOf(name string) int64 {
	at := strings.LastIndexByte(name, '_')
	sec, err := strconv.ParseInt(name[at+1:], 10, 64)
	if at < 0 || err != nil || sec <= 0 || sec > 1<<40 {
		return 0
	}
	return 1000 * sec
}
