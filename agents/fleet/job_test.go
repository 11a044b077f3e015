package fleet

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

func TestResultHeaders(t *testing.T) {
	r := resultMessage{job: "3-2-4", worker: "a-b_C9", object: "ff", busy: 12}
	got, err := parseResult(r.header())
	require.NoError(t, err)
	require.Equal(t, r, *got)
	for _, c := range []struct{ key, value, says string }{
		{jobHeader, "", "the job"},
		{jobHeader, "3.2", "the job"},
		{jobHeader, "3-2-4 ", "the job"},
		{jobHeader, strings.Repeat("1", 65), "the job"},
		{workerHeader, "", "1 to 64 letters"},
		{workerHeader, strings.Repeat("a", 65), "1 to 64 letters"},
		{workerHeader, "a b", "1 to 64 letters, digits"},
		{busyHeader, "-1", "microseconds"},
		{busyHeader, "soon", "microseconds"},
	} {
		h := r.header()
		h.Set(c.key, c.value)
		_, err := parseResult(h)
		require.ErrorContains(t, err, c.says, "%s: %q", c.key, c.value)
	}
}

func TestJobMessages(t *testing.T) {
	m := jobMessage{ID: "3-2", Try: 2, Spec: []byte(`{"a":1}`)}
	got, err := parseJob(toJSON(m))
	require.NoError(t, err)
	require.Equal(t, m, *got)
	require.Equal(t, "3-2-2", got.messageID())
	for _, bad := range []string{"hello", `{}`, `{"id":"a b"}`, `[]`} {
		_, err := parseJob([]byte(bad))
		require.ErrorContains(t, err, "not a job", bad)
	}
}

// What parseJob accepts is written to the same message.
func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"id":"3-2","try":1,"spec":{"a":[1]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseJob(data)
		if err != nil || len(m.Spec) == 0 {
			return
		}
		again, err := parseJob(toJSON(m))
		require.NoError(t, err)
		require.Equal(t, m.ID, again.ID)
		require.Equal(t, m.Try, again.Try)
		require.JSONEq(t, string(m.Spec), string(again.Spec))
	})
}

// What parseResult accepts has the header that it was read from.
func FuzzResult(f *testing.F) {
	f.Add("3-2-4", "worker", "", "12")
	f.Add("0", "a", "ff", "0")
	f.Fuzz(func(t *testing.T, job, worker, object, busy string) {
		r, err := parseResult(nats.Header{jobHeader: {job}, workerHeader: {worker}, objectHeader: {object}, busyHeader: {busy}})
		if err != nil {
			return
		}
		again, err := parseResult(r.header())
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, job, again.job)
	})
}
