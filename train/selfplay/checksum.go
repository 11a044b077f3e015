package selfplay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// sumKey is the entry of a state file's metadata that holds the file's checksum: the SHA-256 of all its bytes, with
// zeros in the place of the checksum, in hexadecimal. States of version 1 and older have none.
const sumKey = "sha256"

// noSum holds the place of a checksum.
var noSum = strings.Repeat("0", 2*sha256.Size)

var errDamaged = errors.New("the checksum does not match: the file was changed after the run was saved. " +
	"Resume from an unchanged copy, or start a new run")

// Seal writes the checksum of a state file into its place in the file.
func Seal(file []byte) error {
	at, sum := checksum(file)
	if at < 0 {
		return errors.New("not a saved run: no place for a checksum")
	}
	copy(file[at:], sum)
	return nil
}

// intact returns an error if the checksum of a state file does not match its bytes.
func intact(file []byte) error {
	if at, sum := checksum(file); at < 0 || string(file[at:at+len(sum)]) != sum {
		return errDamaged
	}
	return nil
}

// checksum returns where the checksum of a state file stands, and what it should be; -1 if the file has no place for
// one. The JSON of the run, which is text in the metadata, cannot contain the key: its quotes are escaped.
func checksum(file []byte) (at int, sum string) {
	key := []byte(`"` + sumKey + `":"`)
	if at = bytes.Index(file, key); at < 0 || at+len(key)+len(noSum) > len(file) {
		return -1, ""
	}
	at += len(key)
	h := sha256.New()
	h.Write(file[:at])
	h.Write([]byte(noSum))
	h.Write(file[at+len(noSum):])
	return at, hex.EncodeToString(h.Sum(nil))
}
