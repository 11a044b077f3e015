package tournament

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"blockyard/datasets/program/disk"
)

// AuthorsFile has the authors who may upload to a league, in its folder.
const AuthorsFile = "authors.json"

// authors are the SHA-256 of the authors' tokens, by name. A token has 128 random bits and more, so nobody finds it
// from the hash by guessing: it needs no salt, and no slow hash as a password does.
type authors map[string]string

// authorName has no "-", which ends it in the names of the author's bots.
var authorName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// readAuthors returns the authors of a league, nil if it has none.
func readAuthors(dir string) (a authors, err error) {
	text, err := os.ReadFile(filepath.Join(dir, AuthorsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// AddAuthor adds an author to the league in a folder and returns the token, which is kept nowhere.
func AddAuthor(dir, name string) (token string, err error) {
	if !authorName.MatchString(name) {
		return "", fmt.Errorf("author %.60q: want 1 to 32 of a-z, 0-9 and _", name)
	}
	token = rand.Text()
	return token, changeAuthors(dir, func(a authors) error {
		if a[name] != "" {
			return fmt.Errorf("%s is an author: remove it first for a new token", name)
		}
		sum := sha256.Sum256([]byte(token))
		a[name] = hex.EncodeToString(sum[:])
		return nil
	})
}

// RemoveAuthor makes the token of an author invalid at once. The author's bots stay.
func RemoveAuthor(dir, name string) error {
	return changeAuthors(dir, func(a authors) error {
		if a[name] == "" {
			return fmt.Errorf("author %.60q is none of %s: %s", name, dir, strings.Join(slices.Sorted(maps.Keys(a)), ", "))
		}
		delete(a, name)
		return nil
	})
}

func changeAuthors(dir string, change func(authors) error) error {
	path := filepath.Join(dir, AuthorsFile)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: want the folder of a league", err)
	}
	release, err := disk.Acquire(path + ".lock")
	if err != nil {
		return err
	}
	a, err := readAuthors(dir)
	if a == nil {
		a = authors{}
	}
	if err == nil {
		err = change(a)
	}
	if err == nil {
		var text []byte
		text, err = json.MarshalIndent(a, "", "  ")
		err = errors.Join(err, disk.WriteText(path, 0o600, string(text)+"\n"))
	}
	return errors.Join(err, release())
}

// named returns the author of a token, "" if there is none. How long that takes says nothing about the tokens.
func (a authors) named(token string) (author string) {
	sum := sha256.Sum256([]byte(token))
	for name, text := range a {
		want, err := hex.DecodeString(text)
		if err == nil && subtle.ConstantTimeCompare(sum[:], want) == 1 {
			author = name
		}
	}
	return author
}

// owns reports whether an entrant is an author's, by where it comes from.
func owns(author, from string) bool { return strings.HasPrefix(from, SubmissionsDir+"/"+author+"-") }
