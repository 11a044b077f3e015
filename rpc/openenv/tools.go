package openenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A tool is one thing that a language model may do with a session. Its description is written for the model.
type tool struct {
	name, description string
	input             object // JSON schema
	changes           bool   // the game
	// call returns the answer as text and as a value for programs.
	call func(p *session, arguments json.RawMessage) (text string, value any, err error)
}

// toolsOf returns the tools. All but rules begin a game if there is none.
func (s *Server) toolsOf() []tool {
	nothing := schemaOf("Nothing", false, object{})
	return []tool{
		{"observe", "Show the position in words, with the last reward and whether the game is over. " +
			"With new_game, begin another game first.",
			schemaOf("Observe", false, object{
				"new_game": typed("boolean", "Begin another game; the current one is lost."),
				"seed":     object{"type": "integer", "minimum": 0, "description": "Seed of the new game; drawn by default."},
				"seat":     typed("integer", "Your seat in the new game, from 0."),
			}), true, callObserve},
		{"legal_moves", "List the moves that may be played now, as text.", nothing, false, callLegalMoves},
		{"play", "Play one of the legal moves. An illegal one changes nothing, but costs its penalty.",
			schemaOf("Play", false, object{"move": typed("string", "One of legal_moves.")}, "move"), true, callPlay},
		{"rules", "Explain the rules of the game and how moves are written.", nothing, false, callRules},
		{"render", "Draw the boards with letters.", nothing, false, callRender},
	}
}

type observeArguments struct {
	NewGame bool    `json:"new_game"`
	Seed    *uint64 `json:"seed"`
	Seat    *int    `json:"seat"`
}

func callObserve(p *session, b json.RawMessage) (string, any, error) {
	var a observeArguments
	if err := arguments(b, &a); err != nil {
		return "", nil, err
	}
	if a.NewGame {
		r, err := p.reset(resetOptions{Seed: a.Seed, Seat: a.Seat})
		return told(r, err)
	}
	if a.Seed != nil || a.Seat != nil {
		return "", nil, invalid(errors.New("seed and seat are of a new game: set new_game"))
	}
	return told(p.current())
}

func callLegalMoves(p *session, b json.RawMessage) (string, any, error) {
	if err := arguments(b, &struct{}{}); err != nil {
		return "", nil, err
	}
	r, err := p.current()
	if err != nil {
		return "", nil, err
	}
	moves := r.Observation.LegalMoves
	return strings.Join(moves, "\n"), object{"legal_moves": moves}, nil
}

func callPlay(p *session, b json.RawMessage) (string, any, error) {
	if _, err := p.current(); err != nil {
		return "", nil, err
	}
	if len(b) == 0 {
		b = json.RawMessage("{}")
	}
	move, err := parseAction(b)
	if err != nil {
		return "", nil, err
	}
	return told(p.play(move))
}

func callRules(p *session, b json.RawMessage) (string, any, error) {
	text := p.srv.rules()
	return text, object{"rules": text}, arguments(b, &struct{}{})
}

func callRender(p *session, b json.RawMessage) (string, any, error) {
	if err := arguments(b, &struct{}{}); err != nil {
		return "", nil, err
	}
	if _, err := p.current(); err != nil {
		return "", nil, err
	}
	picture, err := p.picture()
	return picture, object{"picture": picture}, err
}

// arguments reads the arguments of a tool, which may be missing.
func arguments(b json.RawMessage, into any) error {
	if len(b) == 0 || string(b) == "null" {
		return nil
	}
	return decode("arguments", b, into, true)
}

// told is a result for a model.
func told(r *result, err error) (string, any, error) {
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	if wrong := r.Observation.Error; wrong != "" {
		fmt.Fprintf(&out, "Not played: %s.\n", wrong)
	}
	out.WriteString(r.Observation.Text)
	if r.Reward != nil {
		fmt.Fprintf(&out, "Reward: %v.\n", *r.Reward)
	}
	switch {
	case r.Observation.Truncated:
		out.WriteString("The limit of moves has ended the game.\n")
	case !r.Done:
		moves := r.Observation.LegalMoves
		fmt.Fprintf(&out, "%d legal moves, such as: %s.\n", len(moves), moves[len(moves)/2])
	}
	return out.String(), r, nil
}

// rules explains the game.
func (s *Server) rules() string {
	g := s.c.Game
	return fmt.Sprintf("You play %s. A move is text such as %q; legal_moves lists those that may be played. "+
		"The rules of the contest follow; what they say about programs and protocols does not concern you.\n\n%s",
		g.ID, g.Text(0), s.c.Rules)
}
