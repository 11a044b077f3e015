package blockbattle

import (
	_ "embed"

	"blockyard/env"
	"blockyard/env/falling"
)

// Game is AI Block Battle with the published rules.
var Game = game("blockbattle", "BlockBattle-v0", Document)

// ClassicGame has the rules of the contest's engine of 2015.
var ClassicGame = game("blockbattle:classic", "BlockBattleClassic-v0", Classic)

// PortGame has the rules of the successor site's engine.
var PortGame = game("blockbattle:port", "BlockBattlePort-v0", Port)

func game(name, id string, rules Rules) *env.Game {
	return &env.Game{
		Name: name, ID: id, Title: "Block Battle", Rules: 1,
		MinSeats: 2, MaxSeats: 2, Rows: 2, Actions: actions, MaxLegal: 512,
		Planes: env.Shape{C: 2, H: Height, W: Width}, PlaneMax: CellSolid, PlaneNames: []string{"own", "opponent"},
		GlobalNames: allGlobals.Names, GlobalRanges: allGlobals.Ranges,
		Potential: []env.Term{{Global: "own_points", Weight: 0.05}, {Global: "opponent_points", Weight: -0.05},
			{Global: "own_height", Weight: -0.02}, {Global: "opponent_height", Weight: 0.02}},
		New:  func(seats int) env.State { return env.Start(&State{Rules: rules}, seats, 2, 2) },
		Text: Text, Parse: Parse,
	}
}

// Rules is a set of switches (rules §13.1) for the points in which the contest's engines differ.
type Rules uint8

// The switches.
const (
	NetTurn      Rules = 1 << iota // T_NET_TURN: a T-spin's turns must change the orientation
	LateToken                      // T_LATE_TOKEN: a moving drop is forgiven if a surplus token follows
	PCNeedsClear                   // PC_NEEDS_CLEAR: a perfect clear needs a cleared row
	DrawBySet                      // DRAW_BY_SET: if both players lose in a round, the game is a draw
	PortTokens                     // a token after locking costs the T-spin
	PortSpawn                      // player 1's failed spawn ends the game at once
)

// The three sets of rules in use.
const (
	Document = NetTurn | PCNeedsClear | DrawBySet
	Classic  = LateToken
	Port     = PortTokens | PortSpawn
)

// A Phase is how a side lost (rules §7).
type Phase uint8

// The phases, NotLost first.
const (
	NotLost Phase = iota
	LostSpawn
	LostOverflow
	LostGarbage
	LostSolid
)

// String returns the phase's name in the rules.
func (p Phase) String() string { return [...]string{"", "spawn", "overflow", "garbage", "solid"}[p] }

// Pieces in the order of the draw (rules §11).
const (
	I = iota
	J
	L
	O
	S
	T
	Z
	Pieces              // number of kinds
	Letters = "IJLOSTZ" // their names
)

// The size of the board, and when rows rise (rules §1).
const (
	Width         = 10
	Height        = 20
	SolidInterval = 15 // rounds between solid rows
	PerGarbage    = 3  // points per garbage row sent
)

// boxes holds the orientation in which each piece appears (rules §3): side of the box, cells.
var boxes = [Pieces]struct {
	n     int
	cells [4]falling.Cell
}{
	I: {4, [4]falling.Cell{{X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}, {X: 3, Y: 1}}},
	J: {3, [4]falling.Cell{{X: 0, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	L: {3, [4]falling.Cell{{X: 2, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	O: {2, [4]falling.Cell{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}}},
	S: {3, [4]falling.Cell{{X: 1, Y: 0}, {X: 2, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}}},
	T: {3, [4]falling.Cell{{X: 1, Y: 0}, {X: 0, Y: 1}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
	Z: {3, [4]falling.Cell{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 1}}},
}

// pieces holds the orientations of every piece (rules §3).
var pieces = func() (out [Pieces]falling.Piece) {
	for p := range boxes {
		turns := 4
		if p == O {
			turns = 1
		}
		out[p] = falling.NewPiece(boxes[p].n, turns, boxes[p].cells[:], Width, Height, SpawnX(p))
	}
	return out
}()

// SpawnX returns the column of the box's left edge where a piece appears. Its top edge is in row -1.
func SpawnX(piece int) int { return (Width - boxes[piece].n) / 2 }

// Box returns the side of a piece's box and its cells there, which the caller must not change. rot is 0..3.
func Box(piece, rot int) (side int, cells []falling.Cell) {
	p := &pieces[piece]
	return p.Size, p.Cells[rot]
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string
