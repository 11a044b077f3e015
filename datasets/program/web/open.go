package web

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strconv"
)

// Listen listens on an address for Serve and prints on out where a browser on this machine finds the page at path. If
// open is set, it opens the page in the default browser; if that fails, errs says so.
func Listen(address, path string, open bool, out, errs io.Writer) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: name another address with --listen; port 0 selects a free port", err)
	}
	page := "http://" + reachable(l.Addr()) + path
	fmt.Fprintln(out, page)
	if open {
		if err := openBrowser(page); err != nil {
			fmt.Fprintf(errs, "no browser could be started (%v): open the address yourself\n", err)
		}
	}
	return l, nil
}

// reachable is the address of a listener as this machine can reach it.
func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return a.String()
}

// openBrowser opens an address in the default browser.
func openBrowser(address string) error {
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
	go func() { _ = cmd.Wait() }() // the browser's status says nothing
	return nil
}
