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
	// it. One call runs at a time. Done is called when a result has been taken and counted.
	Take func(*Result) (games, moves int, err error)
	Done func()
	// Split, if not nil, returns jobs that take the place of this one when it has failed too often.
	Split func() []*Job

	tries int // how often it was queued
}

// A Result is what came of a job.
type Result struct {
	Data         []byte
	Games, Moves int           // in it; only the worker sets them
	Busy         time.Duration // that it took; only the Server sets it
}

// A jobMessage is a job on its way.
type jobMessage struct {
	ID   string          `json:"id"`
	Try  int             `json:"try"`
	Spec json.RawMessage `json:"spec"`
}

// messageID is what the broker knows a job and its result by, in order to store each once.
func (m *jobMessage) messageID() string { return m.ID + "-" + strconv.Itoa(m.Try) }

var goodID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// parseJob reads the message of a job.
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

// LargeResult is the size in bytes above which a result travels as an object, which costs more than a message.
const LargeResult = broker.LargestMessage / 2

// The headers of a result.
const (
	jobHeader    = "Blockyard-Task"
	workerHeader = "Blockyard-Worker"
	objectHeader = "Blockyard-Object" // name of the object that holds the result, if it is large
	busyHeader   = "Blockyard-Busy"   // microseconds that the job took
	stateHeader  = "Blockyard-State"
)

// The states of a result that is none.
const (
	failed   = "failed"   // the content says why
	exceeded = "exceeded" // the job was given out too often
)

// A resultMessage is the result of a job on its way, but for its content.
type resultMessage struct {
	job    string
	worker string
	object string // "": the message holds the result
	busy   int64  // microseconds
	state  string // "" for a result
}

func (r *resultMessage) header() nats.Header {
	h := nats.Header{jobHeader: {r.job}, workerHeader: {r.worker}, busyHeader: {strconv.FormatInt(r.busy, 10)}}
	if r.object != "" {
		h.Set(objectHeader, r.object)
	}
	if r.state != "" {
		h.Set(stateHeader, r.state)
	}
	return h
}

// parseResult reads the headers of a result.
func parseResult(h nats.Header) (*resultMessage, error) {
	r := &resultMessage{job: h.Get(jobHeader), worker: h.Get(workerHeader), object: h.Get(objectHeader),
		state: h.Get(stateHeader)}
	if !goodID.MatchString(r.job) {
		return nil, fmt.Errorf("not a result: the job %.40q", r.job)
	}
	if err := CheckName(r.worker); err != nil {
		return nil, err
	}
	var err error
	if r.busy, err = strconv.ParseInt(h.Get(busyHeader), 10, 64); err != nil || r.busy < 0 {
		return nil, fmt.Errorf("not a result: %.40q microseconds", h.Get(busyHeader))
	}
	return r, nil
}
