package record_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// Record a game, read it back from its file, check it and replay it.
func Example() {
	g, err := games.Lookup("dropblox")
	if err != nil {
		log.Fatal(err)
	}
	s := g.New(1)
	s.Reset(7)
	rec := record.New(g, 7, []string{"first legal action"})
	for s.Acting() != 0 {
		m := env.NoMoves
		m[0] = s.Legal(0, nil)[0]
		rec.Add(s.Acting(), m)
		s.Step(m)
	}
	rec.End(s)

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "games.jsonl.gz")
	w, err := record.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil { // the file gets its name here
		log.Fatal(err)
	}

	r, err := record.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
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
