package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"blockyard/datasets/viewer"
)

// web serves the page until the process is interrupted.
func (c *viewCmd) web(std *streams) error {
	if c.From != 0 && len(c.Games) != 1 {
		return errors.New("--from with several games: name one game")
	}
	paths, fragment, err := c.places()
	if err != nil {
		return err
	}
	library, err := viewer.NewLibrary(paths)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	address := "http://" + listener.Addr().String() + "/" + fragment
	fmt.Fprintln(std.out, address)
	if c.Open {
		if err := browse(address); err != nil {
			fmt.Fprintln(std.err, "datasets: opening a browser failed:", err)
		}
	}
	return viewer.Serve(ctx, listener, library)
}

// places returns the paths of the arguments without their game numbers. If the argument is one game with
// a number, the page opens that game by the fragment of the address.
func (c *viewCmd) places() (paths []string, fragment string, err error) {
	for _, game := range c.Games {
		path, n := game, 0
		if _, missing := os.Stat(game); missing != nil && strings.Contains(game, "#") {
			if path, n, err = fileAndNumber(game); err != nil {
				return nil, "", err
			}
		}
		if path == "-" {
			return nil, "", errors.New("standard input cannot be shown in a browser: save it to a file first")
		}
		paths = append(paths, path)
		if (n > 0 || c.From > 0) && len(c.Games) == 1 {
			at := url.URL{Fragment: fmt.Sprintf("%s:%d/%d", filepath.Base(path), max(n, 1), max(c.From, 0))}
			fragment = at.String()
		}
	}
	return paths, fragment, nil
}

// browse opens an address in the default browser.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}
