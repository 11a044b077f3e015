package bundle

import (
	"archive/zip"
	"fmt"
	"io"
)

// Zip writes src as an upload: an archive whose top level holds main.go and nothing
// else. A contest server that builds Go finds one package main there.
func Zip(w io.Writer, src []byte) error {
	z := zip.NewWriter(w)
	f, err := z.Create("main.go")
	if err == nil {
		_, err = f.Write(src)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("zip bundle: %w", err)
	}
	return nil
}
