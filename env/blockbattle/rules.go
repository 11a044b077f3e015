package blockbattle

// Rules is a set of switches (rules §11) for the points in which the contest's engines differ.
type Rules uint8

// The switches.
const (
	NetTurn      Rules = 1 << iota // T_NET_TURN: a T-spin's turns must change the orientation
	LateToken                      // T_LATE_TOKEN: a moving drop is forgiven if a surplus token follows
	PCNeedsClear                   // PC_NEEDS_CLEAR: a perfect clear needs a cleared row
	DrawBySet                      // DRAW_BY_SET: if both players lose in a round, the game is a draw
	PortTokens                     // a token after locking costs the T-spin (rules §16)
	PortSpawn                      // player 1's failed spawn ends the game at once (rules §16)
)

// The three sets of rules in use.
const (
	Document = NetTurn | PCNeedsClear | DrawBySet
	Classic  = LateToken
	Port     = PortTokens | PortSpawn
)

// A Phase is how a side lost (rules §10).
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
func (p Phase) String() string {
	return [...]string{"", "spawn", "overflow", "garbage", "solid"}[p]
}
