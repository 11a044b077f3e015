package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// Record a game, read it back, check it and replay it. Create, Open and Append take the name of a file.
func Example() {
	g, err := games.Lookup("dropblox")
	if err != nil {
		log.Fatal(err)
	}
	s := g.New(1)
	s.Reset(7)
	rec := record.New(g, 7, []string{"first legal action"})
	for s.Acting() != 0 {
		m := env.Alone(0, s.Legal(0, nil)[0])
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
	rec.End(s)

	var file bytes.Buffer
	w := record.NewWriter(&file)
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		log.Fatal(err)
	}
	r, err := record.NewReader("games.jsonl", &file)
	if err != nil {
		log.Fatal(err)
	}
	for rec, err := range r.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("differs:", record.Check(g, rec))
		rp := record.NewReplay(g, rec)
		positions := 0
		for range rp.All() {
			positions++
		}
		fmt.Println(positions-len(rec.Choices), "position more than choices")
		fmt.Println(rp.State().Score(0)-rec.Scores[0], "points more than recorded")
	}
	// Output:
	// differs: <nil>
	// 1 position more than choices
	// 0 points more than recorded
}
