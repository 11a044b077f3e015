package env_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	action      = regexp.MustCompile(`(?m)\buses: +(.*)$`)
	pinned      = regexp.MustCompile(`^[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	image       = regexp.MustCompile(`(?m)^(?:FROM(?: --\S+)*|ARG GO=) *(\S+?)(?: AS (\S+))?$`)
	digest      = regexp.MustCompile(`^[\w/.-]+:\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$`)
	requirement = regexp.MustCompile(`(?m)^[ \t]*[^#\s].*`) // a line of a list of Python packages
	constraint  = regexp.MustCompile(`^([a-z0-9-]+)==\d[\w.]*( ; .*)?$`)
	wanted      = regexp.MustCompile(`(?m)"([A-Za-z][\w-]*)(\[[\w,]+\])?(?:[<>=;][^"]*)?"`)
	fetched     = regexp.MustCompile(`pip install((?: --[\w-]+)*)((?: [a-z][\w-]+)+)`)
	goTool      = regexp.MustCompile(`[\w./-]+/cmd/[\w-]+@(\S+)`)
)

// matched calls check for every match of an expression in files, of which there are some.
func matched(t *testing.T, what *regexp.Regexp, least int, files []string, check func(file string, m []string)) {
	n := 0
	for _, file := range files {
		for _, m := range what.FindAllStringSubmatch(contents(t, file), -1) {
			check(file, m)
			n++
		}
	}
	require.GreaterOrEqual(t, n, least, "%s in %s", what, files)
}

// What others can change under the same name is named by what it contains: the actions of GitHub by their commit, images by
// their digest.
func TestActionsAndImagesArePinned(t *testing.T) {
	matched(t, action, 1, glob(t, ".github/workflows/*.yml"), func(file string, m []string) {
		require.Regexp(t, pinned, m[1], file)
	})
	for _, file := range []string{"rpc/Dockerfile", "rpc/deploy/openenv/Dockerfile"} {
		own := map[string]bool{"scratch": true, "${GO}": true, "${IMAGE}": true} // IMAGE is made by rpc/Dockerfile
		matched(t, image, 1, []string{file}, func(file string, m []string) {
			if own[m[2]] = true; !own[m[1]] {
				require.Regexp(t, digest, m[1], file)
			}
		})
	}
}

// Every Python package that a chore, a test or an extra needs has one version in the constraints, which the Makefile gives
// to pip and uv; every Go program that a chore fetches has one beside its name.
func TestToolsArePinned(t *testing.T) {
	for _, name := range []string{"PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT", "UV_CONSTRAINT", "UV_BUILD_CONSTRAINT"} {
		require.Contains(t, contents(t, "Makefile"), "\nexport "+name+" = $(CONSTRAINTS)\n")
	}
	versions := map[string]bool{}
	for _, part := range []string{"", "-libraries"} {
		file := "rpc/python/constraints" + part + ".txt"
		matched(t, requirement, 30, []string{file}, func(_ string, m []string) {
			name := constraint.FindStringSubmatch(strings.TrimSpace(m[0]))
			require.NotNil(t, name, "%s: %q: want name==version", file, m[0])
			versions[part+" "+name[1]] = true
		})
	}
	versions[" blockyard"], versions["-libraries blockyard"] = true, true
	project, _, _ := strings.Cut(contents(t, "rpc/python/pyproject.toml"), "[tool.hatch")
	project, extras, _ := strings.Cut(project, "dependencies = [")
	needed := wanted.FindAllStringSubmatch(project[:strings.Index(project, "[project]")]+extras, -1)
	require.Greater(t, len(needed), 30)
	for _, m := range needed {
		require.True(t, versions["-libraries "+m[1]], "no version of %s: run `make constraints`", m[1])
	}
	matched(t, fetched, 4, []string{"Makefile"}, func(_ string, m []string) {
		for _, name := range strings.Fields(m[2]) {
			require.True(t, versions[" "+name], "no version of %s: name it in an extra and run `make constraints`", name)
		}
	})
	matched(t, goTool, 2, append(glob(t, ".ci/*[^_]"), "Makefile"), func(file string, m []string) {
		require.Regexp(t, `^v\d+\.\d+\.\d+\b`, m[1], file)
	})
}

// glob returns the files that match a pattern below the root.
func glob(t *testing.T, pattern string) []string {
	files, err := filepath.Glob("../" + pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	return files
}

// contents returns the text of a file, named from the root or from this folder, or absolutely.
func contents(t testing.TB, file string) string {
	if !filepath.IsAbs(file) {
		file = "../" + strings.TrimPrefix(file, "../")
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}
