package tournament

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"blockyard/agents/contest/compile"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/program/web"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/record/gamelog"
)

// Uploads take submissions for a league from authors with a token, and show them what became of these. The token comes
// as "Authorization: Bearer TOKEN", which no page of another site can send. An upload is only copied to the folder of
// submissions: it is read where every submission is, in a cage.
type Uploads struct {
	League *League
	Size   int64         // bytes of an upload, at most
	Bots   int           // of an author
	Hourly int           // uploads of an author
	Time   time.Duration // for the body of an upload

	mu   sync.Mutex
	busy map[string]bool // authors of whom an upload is being received
	pace map[string]*rate.Limiter
}

// uploadName are the names of uploads: they mean the same to every file system, and nothing to HTML.
var uploadName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// Handler serves the page of the league, and what authors ask for.
func (u *Uploads) Handler() http.Handler {
	u.busy, u.pace = map[string]bool{}, map[string]*rate.Limiter{}
	files := Handler(u.League.Dir)
	mux := http.NewServeMux()
	mux.Handle("/", files)
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, string) error{
		"GET /me": u.account, "PUT /bots/{file}": u.put, "DELETE /bots/{bot}": u.remove, "GET /logs/{log}": u.log,
	} {
		mux.Handle(path, web.Handler(func(w http.ResponseWriter, r *http.Request) error {
			web.Protect(w.Header())
			all, err := readAuthors(u.League.Dir)
			if err != nil {
				return u.trouble(err)
			}
			author := all.named(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			if author == "" && all == nil && strings.HasPrefix(r.URL.Path, "/"+LogsDir) {
				files.ServeHTTP(w, r) // without authors, the logs are for everybody
				return nil
			}
			if author == "" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.Header().Set("Connection", "close") // the body is not read
				return ask.Status(http.StatusUnauthorized, errors.New("no author has this token: ask the organiser for one"))
			}
			web.Known(r, author)
			return serve(w, r, author)
		}))
	}
	return mux
}

// trouble tells the organiser what is wrong, and returns what the author is told of it.
func (u *Uploads) trouble(err error) error {
	u.League.Tell("uploads: %v", err)
	return ask.Status(http.StatusInsufficientStorage, errors.New("this server cannot do that now: tell the organiser"))
}

// put receives an upload. It lands in the submissions at once and whole, or not at all.
func (u *Uploads) put(w http.ResponseWriter, r *http.Request, author string) error {
	file := r.PathValue("file")
	archive := compile.Archive(file)
	if !uploadName.MatchString(file) || !archive && !compile.Source(file) {
		return ask.Bad("file %.80q: want an archive (%s) or a source file, named by at most 64 letters of a to z, "+
			"digits, _, - and .", file, "such as bot.zip")
	}
	bot, ending := author+"-"+compile.Name(file), ".zip" // a source file goes into an archive and keeps its name there
	if archive {
		ending = strings.ToLower(strings.TrimPrefix(file, compile.Name(file)))
	}
	if err := u.enter(w, author); err != nil {
		return err
	}
	defer u.leave(author)
	if there, err := u.bots(author); err != nil {
		return u.trouble(err)
	} else if len(there) >= u.Bots && there[bot] == nil {
		return ask.Status(http.StatusForbidden, fmt.Errorf("you have %d bots, the most that an author may have: "+
			"remove one, or replace it by an upload of its name", len(there)))
	}
	control := http.NewResponseController(w)
	late := time.Now().Add(u.Time)
	_ = errors.Join(control.SetReadDeadline(late), control.SetWriteDeadline(late.Add(u.Time)))
	place := filepath.Join(u.League.Dir, SubmissionsDir, bot+ending)
	if err := receive(http.MaxBytesReader(w, r.Body, u.Size), place, file, archive); err != nil {
		w.Header().Set("Connection", "close")
		if errors.As(err, new(*fs.PathError)) {
			return u.trouble(err)
		}
		if errors.As(err, new(*http.MaxBytesError)) {
			err = ask.Status(http.StatusRequestEntityTooLarge, fmt.Errorf("more than %d bytes", u.Size))
		}
		return err
	}
	if err := u.clear(author, bot, place); err != nil {
		return u.trouble(err)
	}
	u.League.Tell("%s uploads %s", author, filepath.Base(place))
	web.Answer(w, map[string]string{"bot": bot})
	return nil
}

// receive writes the body of an upload to its place.
func receive(body io.Reader, place, name string, archive bool) error {
	f, err := disk.Create(place, 0o644)
	if err != nil {
		return err
	}
	defer f.Discard()
	var to io.Writer = f
	pack := zip.NewWriter(f)
	if !archive {
		if to, err = pack.Create(name); err != nil {
			return err
		}
	}
	n, err := io.Copy(to, body)
	switch {
	case errors.As(err, new(*fs.PathError)), errors.As(err, new(*http.MaxBytesError)):
		return err
	case err != nil:
		return ask.Bad("the upload has not arrived whole: send it again")
	case n == 0:
		return ask.Bad("the upload is empty: send the file as the body of the request")
	}
	if !archive {
		err = pack.Close()
	}
	return errors.Join(err, f.Sync(), f.Commit())
}

// enter begins an upload of an author, or says why it has to wait. Then leave must be called.
func (u *Uploads) enter(w http.ResponseWriter, author string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy[author] {
		return ask.Status(http.StatusTooManyRequests, errors.New("another upload of yours is on its way: wait for it"))
	}
	if u.pace[author] == nil {
		u.pace[author] = rate.NewLimiter(rate.Every(time.Hour/time.Duration(u.Hourly)), u.Hourly)
	}
	turn := u.pace[author].Reserve()
	if wait := turn.Delay().Round(time.Second); wait > 0 {
		turn.Cancel()
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
		return ask.Status(http.StatusTooManyRequests, fmt.Errorf("%d uploads per hour: wait %v", u.Hourly, wait))
	}
	u.busy[author] = true
	return nil
}

func (u *Uploads) leave(author string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.busy, author)
}

// bots returns the files of an author's bots, by the names of the bots.
func (u *Uploads) bots(author string) (map[string][]string, error) {
	list, err := Submissions(u.League.Rules, filepath.Join(u.League.Dir, SubmissionsDir))
	files := map[string][]string{}
	for _, a := range list {
		if bot := compile.Name(a.Spec); strings.HasPrefix(bot, author+"-") {
			files[bot] = append(files[bot], a.Spec)
		}
	}
	return files, err
}

// clear removes the files of a bot, except one.
func (u *Uploads) clear(author, bot, except string) error {
	files, err := u.bots(author)
	for _, file := range files[bot] {
		if file != except {
			err = errors.Join(err, os.RemoveAll(file))
		}
	}
	return err
}

// remove removes a bot of an author from the league. Its games stay.
func (u *Uploads) remove(w http.ResponseWriter, r *http.Request, author string) error {
	bot := r.PathValue("bot")
	there, err := u.bots(author)
	if err == nil && there[bot] == nil {
		return ask.Status(http.StatusNotFound, fmt.Errorf("you have no bot %.80q", bot))
	}
	if err = errors.Join(err, u.clear(author, bot, "")); err != nil {
		return u.trouble(err)
	}
	u.League.Tell("%s removes %s", author, bot)
	web.Answer(w, map[string]string{"bot": bot})
	return nil
}

// A version is what an author sees of a version of a bot.
type version struct {
	Bot     string          `json:"bot"`
	Name    string          `json:"name"`
	State   string          `json:"state"` // what the league does with it
	Refused string          `json:"refused,omitempty"`
	Output  string          `json:"output,omitempty"`
	Games   int             `json:"games"`
	Elo     *match.Estimate `json:"elo,omitempty"`
}

// An ownGame is a game of an author's.
type ownGame struct {
	Number int      `json:"number"`
	Sides  []string `json:"sides"` // names and scores
	Won    bool     `json:"won"`
	Fault  string   `json:"fault,omitempty"` // of a bot of the author's
	Replay string   `json:"replay,omitempty"`
	Log    string   `json:"log"`
}

// mostOwn is how many of the last games an author is shown.
const mostOwn = 100

// account answers with the bots of an author and their games.
func (u *Uploads) account(w http.ResponseWriter, _ *http.Request, author string) error {
	versions, games := u.League.versions(author), []ownGame{}
	rated := map[string]*match.Standing{}
	shown := u.League.shown.Load()
	if shown != nil {
		for k := range shown.Players {
			rated[shown.Players[k].Name] = &shown.Players[k]
		}
		for k := len(shown.played) - 1; k >= 0 && len(games) < mostOwn; k-- {
			if shown.own(k, author) {
				games = append(games, shown.game(k, author))
			}
		}
	}
	for k := range versions {
		if s := rated[versions[k].Name]; s != nil && s.Games > 0 {
			versions[k].Games, versions[k].Elo = s.Games, &s.Elo
		}
	}
	web.Answer(w, map[string]any{"author": author, "most": u.Bots, "bots": versions, "games": games})
	return nil
}

// own reports whether a game is one of an author's bots.
func (v *view) own(number int, author string) bool {
	return slices.ContainsFunc(v.played[number].Seats, func(e int) bool { return owns(author, v.from[e]) })
}

// game returns a game as an author sees it.
func (v *view) game(number int, author string) ownGame {
	row := v.row(number)
	game := ownGame{Number: number + 1, Replay: row.Replay, Log: row.Log}
	for seat, s := range row.Sides {
		game.Sides = append(game.Sides, s.Name+" "+s.Score)
		if owns(author, v.from[row.Seats[seat]]) {
			game.Won, game.Fault = game.Won || s.Won, cmp.Or(game.Fault, s.Fault)
		}
	}
	return game
}

// log serves the log of an author's game: the lines of the author's bots, and the record. What other programs have
// written to their standard error is for their authors.
func (u *Uploads) log(w http.ResponseWriter, r *http.Request, author string) error {
	number, err := strconv.Atoi(strings.TrimSuffix(r.PathValue("log"), ".log"))
	shown := u.League.shown.Load()
	if err != nil || shown == nil || number < 1 || number > len(shown.played) {
		return ask.Status(http.StatusNotFound, fmt.Errorf("no game has the log %.40q", r.PathValue("log")))
	}
	row := shown.row(number - 1)
	lines := []string{gamelog.Prefix}
	for seat, e := range row.Seats {
		if owns(author, shown.from[e]) {
			lines = append(lines, cmp.Or(row.Sides[seat].Seat, match.Letter(e))+" ")
		}
	}
	if len(lines) == 1 {
		return ask.Status(http.StatusForbidden, fmt.Errorf("no bot of yours has played game %d", number))
	}
	f, err := os.Open(filepath.Join(u.League.Dir, LogFile(row.Number)))
	if err != nil {
		return u.trouble(err)
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	passOn(w, f, lines)
	return nil
}

// passOn copies the lines with one of these beginnings.
func passOn(w io.Writer, in io.Reader, beginnings []string) {
	begins, wanted := true, false
	for from := bufio.NewReader(in); ; {
		text, err := from.ReadSlice('\n') // or a part of a long line
		if begins {
			wanted = slices.ContainsFunc(beginnings, func(b string) bool { return bytes.HasPrefix(text, []byte(b)) })
		}
		if wanted {
			_, _ = w.Write(text) // an error means that the client is gone
		}
		if begins = err == nil; err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
