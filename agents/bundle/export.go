package bundle

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"blockyard/agents/submissions/netpack"
)

// A Report is what Export did.
type Report struct {
	Out, Zip string // files written; Zip may be empty
	Bundle   *Bundle
	Hash     string // of the net, empty without one
	Replayed Replayed
}

// Export makes the bot, checks it as its contest would (see CheckBot), and writes it to
// out, and to the same name ending in .zip if zip is set. Nothing is written unless all
// went well.
func (b Bot) Export(ctx context.Context, out string, zip bool) (*Report, error) {
	made, err := b.Write()
	if err != nil {
		return nil, err
	}
	rep := &Report{Out: out, Bundle: made}
	if b.Net != nil {
		rep.Hash = Hash(b.Net)
	}
	if rep.Replayed, err = CheckBot(ctx, b.Game, made.Source); err != nil {
		return nil, err
	}
	if zip {
		rep.Zip = strings.TrimSuffix(out, filepath.Ext(out)) + ".zip"
		packed, err := Zipped(made.Source)
		if err != nil {
			return nil, err
		}
		if err := WriteFile(rep.Zip, packed); err != nil {
			return nil, fmt.Errorf("bundle %s: %w", b.Game, err)
		}
	}
	if err := WriteFile(out, made.Source); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.Game, err)
	}
	return rep, nil
}

// String tells people about it.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of at most %d characters, Go %s, compiled alone\n", r.Out, len(r.Bundle.Source), MaxChars, Lang[2:])
	switch {
	case r.Hash == "":
		b.WriteString("weights: hand-tuned\n")
	case r.Bundle.Bits == netpack.Exact:
		fmt.Fprintf(&b, "weights: net %s, exact\n", r.Hash)
	default:
		fmt.Fprintf(&b, "weights: net %s, rounded to %d bits each\n", r.Hash, r.Bundle.Bits)
	}
	fmt.Fprintf(&b, "replay: %d logs, %d answers, no breach of protocol, %.1f ms an answer, %.1f ms at most\n",
		r.Replayed.Logs, r.Replayed.Answers, r.Replayed.Mean.Seconds()*1000, r.Replayed.Longest.Seconds()*1000)
	if r.Zip != "" {
		fmt.Fprintf(&b, "%s: the same as an upload, main.go on top\n", r.Zip)
	}
	return b.String()
}
