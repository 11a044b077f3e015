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
	action     = regexp.MustCompile(`(?m)\buses: +(.*)$`)
	pinned     = regexp.MustCompile(`^[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	image      = regexp.MustCompile(`(?m)^(?:FROM(?: --\S+)*|ARG GO=) *(\S+?)(?: AS (\S+))?$`)
	digest     = regexp.MustCompile(`^[\w/.-]+:\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$`)
	constraint = regexp.MustCompile(`^([a-z0-9-]+)==\d[\w.]*( ; .*)?$`)
	wanted     = regexp.MustCompile(`(?m)"([A-Za-z][\w-]*)(\[[\w,]+\])?(?:[<>=;][^"]*)?"`)
	fetched    = regexp.MustCompile(`pip install((?: --[\w-]+)*)((?: [a-z][\w-]+)+)`)
	goTool     = regexp.MustCompile(`[\w./-]+/cmd/[\w-]+@(\S+)`)
)

// What others can change under the same name is named by what it contains: the actions of GitHub by their commit, images by
// their digest.
func TestActionsAndImagesArePinned(t *testing.T) {
	uses := 0
	for _, file := range glob(t, ".github/workflows/*.yml") {
		for _, m := range action.FindAllStringSubmatch(contents(t, file), -1) {
			require.Regexp(t, pinned, m[1], file)
			uses++
		}
	}
	require.Positive(t, uses)
	for _, file := range []string{"rpc/Dockerfile", "rpc/deploy/openenv/Dockerfile"} {
		own := map[string]bool{"scratch": true, "${GO}": true, "${IMAGE}": true} // IMAGE is made by rpc/Dockerfile
		images := image.FindAllStringSubmatch(contents(t, file), -1)
		require.NotEmpty(t, images, file)
		for _, m := range images {
			if own[m[2]] = true; !own[m[1]] {
				require.Regexp(t, digest, m[1], file)
			}
		}
	}
}

// Every Python package that a chore, a test or an extra needs has one version in the constraints, which the Makefile gives
// to pip and uv; every Go program that a chore fetches has one beside its name.
func TestToolsArePinned(t *testing.T) {
	makefile := contents(t, "Makefile")
	for _, name := range []string{"PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT", "UV_CONSTRAINT", "UV_BUILD_CONSTRAINT"} {
		require.True(t, strings.Contains(makefile, "\nexport "+name+" = $(CONSTRAINTS)\n"), name)
	}
	versions := map[string]map[string]bool{}
	for _, part := range []string{"", "-libraries"} {
		versions[part] = map[string]bool{}
		for line := range strings.Lines(contents(t, "rpc/python/constraints"+part+".txt")) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			m := constraint.FindStringSubmatch(line)
			require.NotNil(t, m, "constraints%s.txt: %q: want name==version", part, line)
			versions[part][m[1]] = true
		}
	}
	project, _, _ := strings.Cut(contents(t, "rpc/python/pyproject.toml"), "[tool.hatch")
	project, extras, _ := strings.Cut(project, "dependencies = [")
	needed := wanted.FindAllStringSubmatch(project[:strings.Index(project, "[project]")]+extras, -1)
	require.Greater(t, len(needed), 30)
	for _, m := range needed {
		if m[1] != "blockyard" {
			require.True(t, versions["-libraries"][m[1]], "no version of %s: run `make constraints`", m[1])
		}
	}
	tools := fetched.FindAllStringSubmatch(makefile, -1)
	require.Greater(t, len(tools), 3)
	for _, m := range tools {
		for _, name := range strings.Fields(m[2]) {
			require.True(t, versions[""][name] || name == "blockyard", "no version of %s: name it in an extra and run `make constraints`", name)
		}
	}
	programs := 0
	for _, file := range append(glob(t, ".ci/*"), "../Makefile") {
		for _, m := range goTool.FindAllStringSubmatch(contents(t, file), -1) {
			require.Regexp(t, `^v\d+\.\d+\.\d+\b`, m[1], file)
			programs++
		}
	}
	require.GreaterOrEqual(t, programs, 2)
}

// glob returns the files that match a pattern below the root.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob("../" + pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	return files
}

// contents returns the text of a file, named from the root or from this folder, or absolutely.
func contents(t testing.TB, file string) string {
	t.Helper()
	if !filepath.IsAbs(file) {
		file = "../" + strings.TrimPrefix(file, "../")
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}
