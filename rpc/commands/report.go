package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// A report prints measurements as a table or, if json is true, as lines of JSON.
type report struct {
	json bool
	w    io.Writer
	tab  *tabwriter.Writer
}

// head prints a line about the table, and the names of its columns, each ended by a tab.
func (r *report) head(about, columns string) {
	if r.json {
		return
	}
	fmt.Fprintln(r.w, about)
	r.tab = tabwriter.NewWriter(r.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(r.tab, columns)
}

// row prints v as JSON, or the cells in their format.
func (r *report) row(v any, format string, cells ...any) {
	if r.json {
		b, _ := json.Marshal(v)
		fmt.Fprintf(r.w, "%s\n", b) // numbers and strings are never refused
		return
	}
	fmt.Fprintf(r.tab, format+"\t\n", cells...)
}

func (r *report) flush() error {
	if r.tab == nil {
		return nil
	}
	return r.tab.Flush()
}
