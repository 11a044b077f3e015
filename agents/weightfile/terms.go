// Package weightfile reads the weights that players load from files: those of named
// terms from JSON, and nets from safetensors, named or shipped with the program. It knows
// no game; a game's player says what its terms, its net and its features are.
package weightfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"blockyard/agents/mlp"
)

// MaxTerm is the greatest weight, of either sign, that a file may give a term.
const MaxTerm = 1000

// ReadTerms reads the JSON file at path into weights, as ParseTerms does. An error names
// the file; weights may then be set in part.
func ReadTerms(path string, names []string, weights []float32) error {
	data, err := mlp.ReadFile(path)
	if err != nil {
		return err
	}
	if err := ParseTerms(data, names, weights); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// ParseTerms reads a JSON object that gives every one of names its weight, a number within
// ±MaxTerm, into weights, which are in the order of names and as many. After an error
// weights may be set in part.
func ParseTerms(text []byte, names []string, weights []float32) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var byName map[string]*float64
	if err := d.Decode(&byName); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	if d.More() {
		return errors.New("weights: something follows the object")
	}
	for t, name := range names {
		v := byName[name]
		if v == nil {
			return fmt.Errorf("weights: term %q is missing", name)
		}
		if math.Abs(*v) > MaxTerm {
			return fmt.Errorf("weights: term %q has weight %v, want at most ±%d", name, *v, MaxTerm)
		}
		weights[t] = float32(*v)
		delete(byName, name)
	}
	for name := range byName {
		return fmt.Errorf("weights: no term is named %q", name)
	}
	return nil
}

// FormatTerms returns weights, in the order of names and as many, as ParseTerms reads
// them, a term a line.
func FormatTerms(names []string, weights []float32) []byte {
	var b bytes.Buffer
	for t, v := range weights {
		sep := ",\n"
		if t == 0 {
			sep = "{\n"
		}
		number, err := json.Marshal(v)
		if err != nil { // not a number
			number = []byte("null")
		}
		fmt.Fprintf(&b, "%s  %q: %s", sep, names[t], number)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
