package env_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// accepted are the licenses of modules, by SPDX identifier, under which a program may be passed on with their text beside
// it. MPL-2.0 also wants the source code to be available; the path and version of the module say where.
var accepted = []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}

// read are the license files that somebody had to read, by module: those that name more licenses than hold for the
// code that is linked. NOTICES has the whole text of them, too.
var read = map[string]string{
	"github.com/apache/arrow/go/arrow":              "Apache-2.0",         // the other licenses are of its C++ code
	"github.com/modelcontextprotocol/go-sdk":        "Apache-2.0 AND MIT", // CC-BY-4.0 is of its documentation
	"kernel.org/pub/linux/libs/security/libcap/psx": "BSD-3-Clause",       // or GPL-2.0, as the user chooses
}

var (
	licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)(\.(txt|md))?$`)
	space       = regexp.MustCompile(`[ \t\f\r]*\n`) // at the end of a line
	platforms   = regexp.MustCompile(`(?m) platforms=\((\S+/.*)\)$`)
)

// linked is a module that a program links: its folder, and the folders of those of its packages that are linked.
type linked struct {
	name, version, root string
	folders             map[string]bool
}

// A notice is the text of one or several files, and what it is: the licenses of the module, such as "MIT", or further.
type notice struct{ kind, text string }

// further is a notice that comes with a license.
const further = "Notices"

// NOTICES has the license and the notices of everything that the programs, the library and the pages of the playground
// link on any platform. The wheel, the image and the archives of a release have a copy of it. BLOCKYARD_UPDATE=1 writes
// it again.
func TestNotices(t *testing.T) {
	if testing.Short() {
		t.Skip("it lists the packages of five platforms")
	}
	files := map[notice][]string{}
	for _, m := range linkedModules(t) {
		found := envtest.Must(m.notices())
		for file, n := range found {
			files[n] = append(files[n], fmt.Sprintf("%s %s: %s", m.name, m.version, file))
			if m.name == "golang.org/x/sys" && file == "LICENSE" { // the same people, with the same text
				files[n] = append(files[n], "Go: the standard library, the runtime and wasm_exec.js")
			}
		}
	}
	text := noticesText(files)
	if envtest.Updating() {
		require.NoError(t, os.WriteFile("../.github/NOTICES", []byte(text), 0o600))
	}
	require.Equal(t, text, contents(t, ".github/NOTICES"), "NOTICES is not of what is linked: `make notices` writes it; review the diff")
	for _, m := range []string{"github.com/BurntSushi/toml v", "github.com/google/go-tpm v", "Go: the standard library"} {
		require.Contains(t, text, "\n  "+m)
	}
}

// noticesText returns the text of NOTICES, from the files that have each notice.
func noticesText(files map[notice][]string) string {
	for _, found := range files {
		slices.Sort(found)
	}
	var b strings.Builder
	b.WriteString("Blockyard is under the MIT license; its text is in the file LICENSE. The programs, the library and the pages of\n" +
		"Blockyard contain the modules below. Under each license are the files that state it, and their text.\n")
	for _, n := range slices.SortedFunc(maps.Keys(files), func(a, b notice) int {
		return strings.Compare(a.kind+files[a][0], b.kind+files[b][0])
	}) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n  %s\n\n%s\n", strings.Repeat("=", 80), n.kind, strings.Join(files[n], "\n  "), n.text)
	}
	return b.String()
}

// linkedModules returns the modules of other people that are linked on any platform of .ci/binaries, by name.
func linkedModules(t *testing.T) map[string]*linked {
	of := platforms.FindStringSubmatch(contents(t, ".ci/binaries"))
	require.NotNil(t, of)
	builds := append(strings.Fields(of[1]), "js/wasm")
	require.Len(t, builds, 6)
	all := map[string]*linked{}
	for _, platform := range builds {
		packages := []string{"./rpc", "./rpc/blockyard", "./rpc/library", "./agents", "./train", "./datasets"}
		if platform == "js/wasm" {
			packages = []string{"./agents/play/playground"}
		}
		system, machine, _ := strings.Cut(platform, "/")
		for _, cgo := range []string{"0", "1"} {
			const each = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}\n{{end}}{{end}}"
			words := []string{"GOOS=" + system, "GOARCH=" + machine, "CGO_ENABLED=" + cgo, "go", "list", "-deps", "-f", each}
			for line := range strings.Lines(in(t, 0, "..", "env", append(words, packages...)...)) {
				if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 4 {
					if all[f[0]] == nil {
						all[f[0]] = &linked{f[0], f[1], f[2], map[string]bool{}}
					}
					all[f[0]].folders[f[3]] = true
				}
			}
		}
	}
	return all
}

// notices returns the licenses and notices of a module by file. They lie in the folders of its linked packages, or in a
// folder above one.
func (m *linked) notices() (map[string]notice, error) {
	found, licensed := map[string]notice{}, false
	for folder := range m.folders {
		for ; within(folder, m.root); folder = filepath.Dir(folder) {
			files, _ := filepath.Glob(filepath.Join(folder, "*"))
			more, _ := filepath.Glob(filepath.Join(folder, "THIRD_PARTY_LICENSES", "*"))
			for k, file := range append(files, more...) {
				fits := k >= len(files) || licenseFile.MatchString(filepath.Base(file)) || noticeFile.MatchString(filepath.Base(file))
				info, err := os.Stat(file)
				rel := strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(m.root)+"/")
				if found[rel].kind != "" || !fits || err != nil || !info.Mode().IsRegular() || filepath.Ext(file) == ".go" {
					continue
				}
				n, err := m.notice(file)
				if err != nil {
					return nil, fmt.Errorf("%s %s: %s: %w", m.name, m.version, filepath.Base(file), err)
				}
				found[rel], licensed = n, licensed || n.kind != further
			}
		}
	}
	if !licensed {
		return nil, fmt.Errorf("%s %s has no license file: do not link it", m.name, m.version)
	}
	return found, nil
}

// notice returns the text of a file, and its licenses, such as "BSD-3-Clause AND MIT", if it states those of the module.
func (m *linked) notice(file string) (notice, error) {
	b, err := os.ReadFile(file)
	n := notice{further, strings.TrimSpace(space.ReplaceAllString(string(b), "\n"))}
	if err != nil || !licenseFile.MatchString(filepath.Base(file)) {
		return n, err
	}
	if n.kind = read[m.name]; n.kind != "" {
		return n, nil
	}
	scan := licensecheck.Scan(b)
	if scan.Percent < 75 {
		return n, fmt.Errorf("%.0f %% of its words are of a known license, want 75: read it, and add it to `read`", scan.Percent)
	}
	ids := map[string]bool{}
	for _, match := range scan.Match {
		if ids[match.ID] = true; !slices.Contains(accepted, match.ID) {
			return n, fmt.Errorf("license %s, want one of %s: do not link the module, or read the file, and add it to `read`",
				match.ID, strings.Join(accepted, ", "))
		}
	}
	n.kind = strings.Join(slices.Sorted(maps.Keys(ids)), " AND ")
	return n, nil
}

// A module whose license is missing, unknown or not accepted is refused. What lies in folders of packages that are not
// linked does not count.
func TestLicensesAreRefused(t *testing.T) {
	mit := contents(t, "LICENSE")
	for says, files := range map[string]map[string]string{
		"has no license file": {"linked/README.md": "MIT", "other/LICENSE": mit, "NOTICE": "by us"},
		"LICENSE: license GPL-3.0-or-later, want one of 0BSD,": {"LICENSE": "This program is free software: you can " +
			"redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free " +
			"Software Foundation, either version 3 of the License, or (at your option) any later version."},
		"COPYING.txt: 0 % of its words are of a known license": {"linked/COPYING.txt": "All rights reserved.", "LICENSE": mit},
		"": {"linked/inner/License.md": mit, "other/LICENSE": "Secret.", "linked/NOTICE": "by us", "LICENSE.go": ""},
	} {
		root := t.TempDir()
		for name, text := range files {
			write(t, filepath.Join(root, name), text)
		}
		m := linked{"example.org/m", "v1.0.0", root, map[string]bool{filepath.Join(root, "linked", "inner"): true}}
		found, err := m.notices()
		if says != "" {
			require.ErrorContains(t, err, "example.org/m v1.0.0")
			require.ErrorContains(t, err, says)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, map[string]notice{
			"linked/inner/License.md": {"MIT", strings.TrimSpace(mit)}, "linked/NOTICE": {further, "by us"},
		}, found)
	}
}
