package bundle

import (
	"archive/zip"
	"io"
)

// unzipped lists the entries of an archive as name=content.
func unzipped(file string) ([]string, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var out []string
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		out = append(out, f.Name+"="+string(b))
	}
	return out, nil
}
