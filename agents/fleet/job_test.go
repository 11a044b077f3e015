package fleet

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

func TestOtherHeadersAreRefused(t *testing.T) {
	for header, says := range map[string]string{
		``:                                    "not a result",
		`hello`:                               "not a result",
		`{"worker":"a"}`:                      `the job ""`,
		`{"job":"3.2","worker":"a"}`:          `the job "3.2"`,
		`{"job":"3-2 ","worker":"a"}`:         `the job "3-2 "`,
		`{"job":"1","worker":""}`:             "1 to 64 letters",
		`{"job":"1","worker":"a b"}`:          "1 to 64 letters",
		`{"job":"1","worker":"a","busy":-1}`:  "-1 microseconds",
		`{"job":"1","worker":"a","busy":"x"}`: "not a result",
		`{"job":"` + strings.Repeat("1", 65) + `","worker":"a"}`: "the job",
		`{"job":"1","worker":"` + strings.Repeat("a", 65) + `"}`: "1 to 64 letters",
	} {
		_, err := parseResult(nats.Header{resultHeader: {header}})
		require.ErrorContains(t, err, says, header)
	}
}

func TestJobMessages(t *testing.T) {
	require.Equal(t, "3-2-2", (&jobMessage{ID: "3-2", Try: 2}).messageID())
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
		again, err := parseJob(JSON(m))
		require.NoError(t, err)
		require.Equal(t, m.ID, again.ID)
		require.Equal(t, m.Try, again.Try)
		require.JSONEq(t, string(m.Spec), string(again.Spec))
	})
}

// What parseResult accepts has the header that it was read from.
func FuzzResult(f *testing.F) {
	f.Add(`{"job":"3-2-4","worker":"worker","busy":12}`)
	f.Add(`{"job":"0","worker":"a-b_C9","object":"ff","state":"exceeded"}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseResult(nats.Header{resultHeader: {text}})
		if err != nil {
			return
		}
		again, err := parseResult(r.header())
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
