package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"blockyard/agents/play/analyst"
	"blockyard/datasets/program"
	"blockyard/datasets/program/web"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/games"
)

// An analyzeCmd has the flags of "agents analyze". Its Run searches the positions of records and says what each move
// lost.
type analyzeCmd struct {
	Records []string `arg:"" name:"record#turn" help:"Records or history, then #TURN or #GAME/TURN. Without: all turns."`
	Game    int      `placeholder:"N" help:"Number of the game in the file, from 1."`
	Agent   string   `placeholder:"AGENT" help:"Agent whose search values the moves. Default: learned, else hand."`
	Moves   int      `default:"5" help:"How many of the best moves to list, or of a game's largest losses."`
	JSON    bool     `name:"json" xor:"web" help:"Print one line of JSON, as agents/JSON.md describes."`
	Quiet   bool     `short:"q" help:"Print no progress bar."`
	Web     bool     `xor:"web" help:"Show the games in a browser, with the best moves of every position."`
	web.PageFlags
}

func (c *analyzeCmd) Run(ctx context.Context, con *console) error {
	switch one := len(c.Records) == 1; {
	case c.Web && c.Game > 0 && !one, !c.Web && !one:
		return program.Usage(errors.New("want one record, or --web without --game"))
	case c.Web:
		return c.web(ctx, con)
	case c.Moves < 1:
		return program.Usage(fmt.Errorf("--moves %d: want a number from 1", c.Moves))
	}
	place, err := c.place(c.Records[0])
	if err != nil {
		return program.Usage(err)
	}
	r, err := place.open(ctx)
	if err != nil {
		return err
	}
	a := &analyst.Analyst{Moves: c.Moves, First: c.Agent}
	if place.turn >= 0 {
		p, err := a.At(ctx, r, place.turn, "")
		if err != nil {
			return err
		}
		return replayed(con.Print(c.JSON, &positionText{p, r, place}), r)
	}
	bar := con.Progress(c.Quiet || c.JSON, r.Len(), "turns")
	defer bar.Close()
	g, err := a.Game(ctx, r, "", bar.Set)
	bar.Close()
	if err != nil {
		return err
	}
	return replayed(con.Print(c.JSON, &gameText{g, place, c.Moves}), r)
}

// replayed adds to an error why a game does not replay to its recorded end.
func replayed(err error, r *playback.Timeline) error {
	if r.Err() != nil {
		err = errors.Join(err, fmt.Errorf("the record does not replay: %w", r.Err()))
	}
	return err
}

func (c *analyzeCmd) web(ctx context.Context, con *console) error {
	a := &analyst.Analyst{Moves: c.Moves, First: c.Agent}
	site := viewer.Site{Games: c.Records, PageFlags: c.PageFlags, Analyst: a}
	if len(c.Records) == 1 && (strings.Contains(c.Records[0], "#") || c.Game > 0) {
		place, err := c.place(c.Records[0])
		if err != nil {
			return program.Usage(err)
		}
		site.Games, site.Turn = []string{fmt.Sprintf("%s#%d", place.file, place.game)}, max(place.turn, 0)
	}
	return site.Serve(ctx, con.Out, con.Err)
}

const mostName = 80 // bytes of a player's name that are shown

// A recordPlace is a turn of a game in a file of records, or the whole game.
type recordPlace struct {
	file string
	game int  // from 1
	turn int  // -1 for the whole game
	only bool // the file must have one game, because its number was not given
}

// place reads "FILE", "FILE#TURN" or "FILE#GAME/TURN".
func (c *analyzeCmd) place(text string) (p recordPlace, err error) {
	p = recordPlace{file: text, game: max(c.Game, 1), turn: -1, only: c.Game == 0}
	at := strings.LastIndexByte(text, '#')
	if at < 0 {
		return p, nil
	}
	game, turn, both := strings.Cut(text[at+1:], "/")
	if !both {
		game, turn = strconv.Itoa(p.game), game
	}
	p.file, p.only = text[:at], p.only && !both
	if p.game, err = strconv.Atoi(game); err == nil {
		p.turn, err = strconv.Atoi(turn)
	}
	switch {
	case err != nil || p.game < 1 || p.turn < 0:
		return p, fmt.Errorf("%s: want #TURN or #GAME/TURN, with turns from 0 and games from 1", text)
	case both && c.Game > 0 && c.Game != p.game:
		return p, fmt.Errorf("%s and --game %d: which game?", text, c.Game)
	}
	return p, nil
}

func (p *recordPlace) open(ctx context.Context) (*playback.Timeline, error) {
	rec, more, err := viewer.ReadGame(ctx, p.file, p.game, 0)
	if err != nil {
		return nil, err
	}
	if p.only && more {
		return nil, fmt.Errorf("%s has several games: say which with --game N, or as %s#1/%d for turn %d of the first",
			p.file, p.file, max(p.turn, 0), max(p.turn, 0))
	}
	g, err := games.Recorded(rec.Game, rec.Table)
	if err != nil {
		return nil, err
	}
	r, err := playback.Whole(ctx, g, rec)
	if err != nil {
		return nil, fmt.Errorf("%s, game %d: %w", p.file, p.game, err)
	}
	if p.turn >= r.Len() {
		return nil, fmt.Errorf("%s, game %d: no turn %d, want 0 to %d", p.file, p.game, p.turn, r.Len()-1)
	}
	return r, nil
}

// A positionText is the analysis of one turn: JSON for programs, and a String for people.
type positionText struct {
	*analysis.Position
	timeline *playback.Timeline
	place    recordPlace
}

func (t *positionText) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, game %d of %s, turn %d of %d\n", t.place.file, t.place.game, t.Game, t.Turn, t.timeline.Len()-1)
	var f env.Frame
	t.timeline.Show(&f)
	fmt.Fprintf(&b, "%s\nvalues by %s: %s\n", f.String(), t.Agent, t.Unit)
	if len(t.Seats) == 0 {
		b.WriteString("the game is over: nobody has to choose\n")
	}
	for _, s := range t.Seats {
		writeSeat(&b, &s)
	}
	return b.String()
}

func writeSeat(b *strings.Builder, s *analysis.Seat) {
	fmt.Fprintf(b, "\n%s (seat %d), %d legal moves", ansi.Plain(s.Player, mostName), s.Seat+1, s.Legal)
	if s.Ranked < s.Legal {
		fmt.Fprintf(b, ", of which the search has valued %d", s.Ranked)
	}
	if m := s.Played; m != nil {
		fmt.Fprintf(b, "\nplayed %s", m.Text)
		if m.Rank > 0 {
			fmt.Fprintf(b, ": rank %d, %s", m.Rank, m.Worth)
		}
		if m.Lost != "" {
			fmt.Fprintf(b, ", %s against the best", m.Lost)
		}
	}
	if s.Note != "" {
		fmt.Fprintf(b, "\n%s", s.Note)
	}
	rows := []string{"\trank\tmove\tvalue\tlost\texpected next"}
	list := s.Moves
	if s.Played != nil && s.Played.Rank > len(list) {
		list = append(slices.Clone(list), *s.Played)
	}
	for _, m := range list {
		mark := ""
		if s.Played != nil && m.Action == s.Played.Action {
			mark = ">"
		}
		var next []string
		for _, p := range m.Line {
			if p.Seat != s.Seat {
				p.Text = fmt.Sprintf("(seat %d) %s", p.Seat+1, p.Text)
			}
			next = append(next, p.Text)
		}
		line := strings.Join(next, "; ")
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s\t%s\t%s\t%s", mark, m.Rank, m.Text, m.Worth, m.Lost, line))
	}
	b.WriteByte('\n')
	if len(rows) > 1 {
		writeTable(b, rows)
	}
}

// A gameText is the analysis of a whole game, whose String lists at most so many of the largest losses.
type gameText struct {
	*analysis.Game
	place recordPlace
	most  int
}

func (t *gameText) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, game %d of %s, %d turns\n", t.place.file, t.place.game, t.Game.Game, t.Turns)
	fmt.Fprintf(&b, "values by %s: %s\n", t.Agent, t.Unit)
	if t.Stopped {
		b.WriteString("stopped early\n")
	}
	b.WriteByte('\n')
	rows := []string{"player\tdecisions\tbest move\tmean loss"}
	for _, p := range t.Players {
		share := "-"
		if p.Decisions > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(p.Best)/float64(p.Decisions))
		}
		rows = append(rows, fmt.Sprintf("%s (seat %d)\t%d\t%s\t%.3g",
			ansi.Plain(p.Player, mostName), p.Seat+1, p.Decisions, share, p.MeanLoss))
	}
	writeTable(&b, rows)
	worst := slices.Clone(t.Decisions)
	slices.SortStableFunc(worst, func(x, y analysis.Decision) int { return cmp.Compare(y.Loss, x.Loss) })
	rows = []string{"turn\tplayer\tplayed\trank\tvalue\tlost\tbest"}
	for _, d := range worst[:min(t.most, len(worst))] {
		if d.Loss > 0 {
			rows = append(rows, fmt.Sprintf("%d\t%s (seat %d)\t%s\t%d of %d\t%s\t%s\t%s",
				d.Turn, ansi.Plain(d.Player, mostName), d.Seat+1, d.Played, d.Rank, d.Legal, d.Worth, d.Lost, d.Best))
		}
	}
	if len(rows) > 1 {
		b.WriteString("\nlargest losses\n")
		writeTable(&b, rows)
	}
	return b.String()
}

// writeTable prints rows in columns, whose cells have tabs between them.
func writeTable(b *strings.Builder, rows []string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.TrimRight(row, "\t"))
	}
	w.Flush()
}
