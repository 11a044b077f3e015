package fleet

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"blockyard/agents/fleet/broker"
)

// A Job is something that a worker can do, on the side of the Server.
type Job struct {
	ID   string // within the run: letters, digits and hyphens
	Spec any    // all that the result depends on, besides the Run and its objects; travels as JSON

	// Take takes a result and returns how many games and choices are in it, or an error if no worker can have played
	// it: then that worker is excluded from the run, and another one does the job. One call runs at a time. Done is
	// called when a result has been taken and counted.
	Take func(*Result) (games, moves int, err error)
	Done func()
	// Split, if not nil, returns jobs that take the place of this one when it has failed too often.
	Split func() []*Job

	tries   int  // how often it was queued
	faults  int  // how often its result was lost
	refused int  // how often its result was refused, of one worker each
	lost    bool // its result came from an excluded worker
}

// A Result is what came of a job.
type Result struct {
	Data         []byte
	Games, Moves int           // in it; only the worker sets them
	Busy         time.Duration // that it took; only the Server sets it
}

type jobMessage struct {
	ID   string          `json:"id"`
	Try  int             `json:"try"`
	Spec json.RawMessage `json:"spec"`
}

// messageID is what the broker knows a job and its result by, in order to store each once.
func (m *jobMessage) messageID() string { return m.ID + "-" + strconv.Itoa(m.Try) }

var goodID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func parseJob(data []byte) (*jobMessage, error) {
	m := new(jobMessage)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("not a job: %w", err)
	}
	if !goodID.MatchString(m.ID) {
		return nil, fmt.Errorf("not a job: its id is %.40q", m.ID)
	}
	return m, nil
}

const (
	// LargeResult is the size in bytes above which a result travels as an object, which costs more than a message.
	LargeResult = broker.LargestMessage / 2

	resultHeader = "Blockyard-Result"      // holds a resultMessage as JSON
	mostBusy     = 24 * 3600 * 1000 * 1000 // bounds what a worker may say that a job took, in microseconds: a day

	failed   = "failed"   // state of a result that is none: the content says why
	exceeded = "exceeded" // another one: the job was given out too often
)

type resultMessage struct {
	Job    string `json:"job"`
	Worker string `json:"worker"`
	Object string `json:"object,omitempty"` // that holds the content, if it is large
	Busy   int64  `json:"busy"`             // microseconds that the job took
	State  string `json:"state,omitempty"`  // "" for a result
}

func (r *resultMessage) header() nats.Header { return nats.Header{resultHeader: {string(JSON(r))}} }

func parseResult(h nats.Header) (*resultMessage, error) {
	r := new(resultMessage)
	if err := json.Unmarshal([]byte(h.Get(resultHeader)), r); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	if !goodID.MatchString(r.Job) || r.Busy < 0 || r.Busy > mostBusy {
		return nil, fmt.Errorf("not a result: the job %.40q took %d microseconds", r.Job, r.Busy)
	}
	return r, CheckName(r.Worker)
}
