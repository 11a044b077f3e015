package selfplay

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curve.png")
	require.NoError(t, Draw(path, "nothing yet", nil))
	require.NoFileExists(t, path)
	curve := []Point{{Rows: 1e6, Loss: .6, Score: .3, Low: .2, High: .4}}
	require.NoError(t, Draw(path, "one point", curve))
	curve = append(curve, Point{Rows: 2e6, Loss: .5, Score: .6, Low: .5, High: .7})
	require.NoError(t, Draw(path, "two points", curve))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	img, err := png.Decode(f)
	require.NoError(t, err)
	require.Greater(t, img.Bounds().Dx(), 400)
	colours := map[any]bool{}
	for x := 0; x < img.Bounds().Dx(); x++ {
		colours[img.At(x, img.Bounds().Dy()/4)] = true
	}
	require.Greater(t, len(colours), 1, "a blank picture")
}
