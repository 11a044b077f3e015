package openenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// A method is one thing that a client may do with a session. All clients reach the methods as tools: over MCP, by plain
// JSON-RPC and by actions of the type call_tool. The descriptions are written for language models.
type method struct {
	name, description string
	input             *jsonschema.Schema
	changes           bool // the game
	call              func(p *session, arguments json.RawMessage) (answer, error)
}

// An answer is the result of a method, in both forms that clients read.
type answer struct {
	value any    // as JSON
	text  string // the same for models
}

// inJSON is an answer whose text is JSON, too.
func inJSON(value object) (answer, error) {
	text, err := json.Marshal(value)
	return answer{value, string(text)}, err
}

// inBranch is what the arguments of every method have.
type inBranch struct {
	Branch string `json:"branch,omitempty" jsonschema:"The branch that this is about; by default the game itself."`
}

func (b inBranch) branch() string { return b.Branch }

const reads, changes = false, true

// newMethod returns a method with arguments A. do is called with the session of their branch.
func newMethod[A interface{ branch() string }](name, description string, changes bool,
	do func(p *session, a A) (answer, error)) method {
	return method{name, description, schemaOf[A](name, false), changes,
		func(p *session, b json.RawMessage) (answer, error) {
			var a A
			if err := optional("arguments", b, &a, true); err != nil {
				return answer{}, err
			}
			p, err := p.srv.branch(p, a.branch())
			if err != nil {
				return answer{}, err
			}
			return do(p, a)
		}}
}

// during is a method's do that holds the lock of a session, in which an episode has begun.
func during[A any](do func(p *session, a A) (answer, error)) func(*session, A) (answer, error) {
	return func(p *session, a A) (answer, error) {
		if err := p.lockBegun(); err != nil {
			return answer{}, err
		}
		defer p.mu.Unlock()
		return do(p, a)
	}
}

// branch returns the session of a branch: p itself if it has no name.
func (s *Server) branch(p *session, id string) (*session, error) {
	if id == "" {
		return p, nil
	}
	return s.find(p.at.token, id)
}

// methods returns the methods. Most begin a game if there is none.
func methods() []method {
	return []method{
		newMethod("observe", "Show the position in words, with the last reward and whether the game is over. "+
			"With new_game, begin another game first.", changes, observe),
		newMethod("legal_moves", "List the moves that may be played now, as text.", reads, during(legalMoves)),
		newMethod("play", "Play one of the legal moves. An illegal one changes nothing, but costs its penalty.",
			changes, during(play)),
		newMethod("rules", "Explain the rules of the game and how moves are written.", reads, during(rules)),
		newMethod("render", "Draw the boards with letters.", reads, during(render)),
		newMethod("children", "Show the position after every legal move, without playing any of them.", reads,
			during(children)),
		newMethod("fork", "Copy the game into n branches, which are played by their names as branch.", changes, fork),
		newMethod("rewind", "Take moves back: return to the position after so many moves.", changes, during(rewind)),
		newMethod("save", "Keep the position, and return a token that restores it.", changes, save),
		newMethod("restore", "Return to a position that save has kept.", changes, restore),
		newMethod("release", "End branches, and free what they take.", changes, release),
	}
}

// Tools returns the names of all tools.
func Tools() (names []string) {
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

// only returns the methods with these names, all for nil.
func only(names []string) (some []method, err error) {
	all := methods()
	if names == nil {
		return all, nil
	}
	for _, name := range names {
		m := methodOf(all, name)
		if m == nil {
			return nil, fmt.Errorf("--openenv-tools names %q: want some of %s", name, strings.Join(Tools(), ","))
		}
		some = append(some, *m)
	}
	return some, nil
}

// methodOf returns the method with a name, nil if there is none.
func methodOf(all []method, name string) *method {
	if k := slices.IndexFunc(all, func(m method) bool { return m.name == name }); k >= 0 {
		return &all[k]
	}
	return nil
}

// call calls a method by its name. The error of a method itself is a failure that a model may mend.
func (s *Server) call(p *session, name string, arguments json.RawMessage) (out answer, found bool, err error) {
	m := methodOf(s.methods, name)
	if m == nil {
		return out, false, invalid(fmt.Errorf("no tool %.40q: tools/list names them", name))
	}
	out, err = m.call(p, arguments)
	return out, true, err
}

// A toolResult is what a step returns that calls a tool, as the standard has it.
type toolResult struct {
	Observation object   `json:"observation"`
	Reward      *float64 `json:"reward"`
	Done        bool     `json:"done"`
}

// act does what an action says: it plays a move, or calls a tool.
func (s *Server) act(p *session, a action) (any, error) {
	switch a.Type {
	case "list_tools":
		return toolResult{Observation: object{"tools": s.tools}}, nil
	case "call_tool":
		got, found, err := s.call(p, a.Tool, a.Arguments)
		out := toolResult{Observation: object{"tool_name": a.Tool, "result": got.value, "error": nil}}
		if err != nil {
			kind := "execution_error"
			if !found {
				kind = "tool_not_found"
			}
			out.Observation["error"] = object{"error_type": kind, "message": s.failureOf(err).Error()}
		} else if r, ok := got.value.(*result); ok {
			out.Reward, out.Done = r.Reward, r.Done
		}
		return out, nil
	}
	p, err := s.branch(p, a.Branch)
	if err != nil {
		return nil, err
	}
	return p.step(*a.Move)
}

// observeArguments are what a client may say to the tool "observe", checked by its schema.
type observeArguments struct {
	inBranch
	NewGame bool    `json:"new_game,omitempty" jsonschema:"Begin another game; the current one is lost."`
	Seed    *uint64 `json:"seed,omitempty" jsonschema:"Seed of the new game; drawn by default."`
	Seat    *int    `json:"seat,omitempty" jsonschema:"Your seat in the new game, from 0."`
	Rules   string  `json:"rules,omitempty" jsonschema:"relabelled: the new game has other names, see rules."`
}

func observe(p *session, a observeArguments) (answer, error) {
	if a.NewGame {
		return told(p.reset(resetOptions{Seed: a.Seed, Seat: a.Seat, Rules: a.Rules}))
	}
	if a.Seed != nil || a.Seat != nil || a.Rules != "" {
		return answer{}, invalid(errors.New("seed, seat and rules are of a new game: set new_game"))
	}
	return told(p.current())
}

func legalMoves(p *session, _ inBranch) (answer, error) {
	moves := p.moves()
	return answer{object{"legal_moves": moves}, strings.Join(moves, "\n")}, nil
}

// playArguments are what a client may say to the tool "play", checked by its schema.
type playArguments struct {
	inBranch
	Move *string `json:"move" jsonschema:"One of legal_moves."`
}

func play(p *session, a playArguments) (answer, error) {
	if a.Move == nil {
		return answer{}, invalid(errors.New("the arguments have no move: want one of legal_moves"))
	}
	return told(p.play(*a.Move))
}

func rules(p *session, _ inBranch) (answer, error) {
	g := p.srv.c.Game
	text := fmt.Sprintf("You play %s. A move is text such as %q; legal_moves lists those that may be played. ",
		g.ID, p.text(0))
	if p.names != nil {
		text += p.names.Explain()
	}
	text += "The rules of the contest follow; what they say about programs and protocols does not concern you.\n\n" +
		p.srv.c.Rules
	return answer{object{"rules": text}, text}, nil
}

func render(p *session, _ inBranch) (answer, error) {
	picture := p.frame(p.games.Env.State(0)).String()
	return answer{object{"picture": picture}, picture}, nil
}

// told is a result with its text for a model.
func told(r *result, err error) (answer, error) {
	if err != nil {
		return answer{}, err
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
	case !r.Done && len(r.Observation.LegalMoves) > 0:
		moves := r.Observation.LegalMoves
		fmt.Fprintf(&out, "%d legal moves, such as: %s.\n", len(moves), moves[len(moves)/2])
	}
	return answer{r, out.String()}, nil
}
