package webplay

import (
	"fmt"
	"slices"
	"testing"

	"blockyard/datasets/program/web/webtest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// open opens the page of a sitting.
func open(t *testing.T, s *sitting) *webtest.Tab {
	b := webtest.Open(t, NewServer(s.Table, "secret"))
	b.Visit("#secret")
	return b
}

// ready waits until the page shows the table's position.
func ready(b *webtest.Tab, s *sitting) Position {
	p := s.turn(b.T)
	if p.Seat >= 0 {
		b.Await(fmt.Sprintf("document.querySelector('.caption').textContent === %q && "+
			"document.querySelector('#status').textContent.includes('move')", p.Frame.Label))
	}
	return p
}

// moved waits until the page shows a turn.
func moved(b *webtest.Tab, turn int) {
	b.Await(fmt.Sprintf("document.querySelector('.caption').textContent === 'Turn %d'", turn))
}

const selected = "document.querySelector('#status').textContent"

// A person plays Block Battle with keys, sees hints, gives up, and plays on after the page is loaded again.
func TestKeys(t *testing.T) {
	s := sit(t, "blockbattle", 3, "human", "first")
	b := open(t, s)
	ready(b, s)
	before := b.Text(selected)
	b.Press(kb.ArrowLeft)
	b.Await(selected + " !== " + fmt.Sprintf("%q", before))
	b.Press(kb.ArrowUp, "z", kb.ArrowDown, kb.ArrowRight)
	b.Await(selected + " === " + fmt.Sprintf("%q", before))
	for range 6 {
		was := ready(b, s).Frame.Turn
		b.Press(" ")
		moved(b, was+1)
	}
	b.Press("h", "m")
	b.Await("document.querySelectorAll('#analysis .moves tbody').length === 5")
	b.Do(chromedp.Click("#analysis tbody:last-child .look"))
	b.Await("document.querySelector('#analysis tbody.here .look').textContent === " +
		"/: (.*) of/.exec(" + selected + ")[1]")
	b.Sizes("blockbattle")
	b.Press("h", "m")
	b.Visit("#secret")
	require.Equal(t, 6, ready(b, s).Frame.Turn, "the game goes on")
	b.Text("(() => { const b = document.querySelector('#leave'); b.click(); b.click(); })()") // within four seconds
	b.Await("document.querySelector('.where').textContent.includes('seed 4')")
	require.Len(t, s.recorded(), 1)
	b.Clean()

	b.Visit("#wrong")
	b.Await("document.querySelector('#trouble').textContent.includes('needs its token')")
}

// A person plays WinTetris with fingers, up to its end, and again.
func TestTouch(t *testing.T) {
	s := sit(t, "wintetris", 3, "human")
	b := open(t, s)
	b.Size(390, 844, 2, false)
	b.Visit("#secret")
	p := ready(b, s)
	b.Text("document.querySelector('#left').click()")
	b.Do(chromedp.Click("#turn"), chromedp.Click("#right"), chromedp.Click("#place"))
	moved(b, 1)
	for n := 0; p.Frame.Over == "" && n < 500; n++ {
		p = s.turn(t)
		if n == 8 {
			ready(b, s)
			b.Sizes("wintetris")
		}
		if p.Seat >= 0 {
			require.NoError(t, s.choose(p.Version, p.Moves[0].Action))
		}
	}
	b.Await("document.querySelector('#status').textContent.startsWith('Game over')")
	b.Sizes("over")
	b.Do(chromedp.Click("#again"))
	b.Await("document.querySelector('.where').textContent.includes('seed 4')")
	b.Clean()
}

// A person plays WinTetris in real time: the clock waits for the first key, runs, waits in a pause, and keys move the
// piece. A tick of this clock lasts eight minutes, so that only a drop ends one.
func TestTicks(t *testing.T) {
	s := sit(t, "wintetris:tick", 3, "human")
	b := open(t, s)
	paused := selected + " === 'Press a key to go on'"
	b.Await(paused)
	require.Zero(t, s.turn(t).Frame.Turn)
	b.Press("p")
	b.Await(selected + ".includes('space drop')")
	b.Press("p")
	b.Await(paused)
	b.Press("p", kb.ArrowLeft, " ", " ")
	moved(b, 2)
	b.Await("document.querySelector('.seat .act').textContent === 'drop'")
	b.Do(chromedp.Click("#left"), chromedp.Click("#place"))
	b.Await("document.querySelector('.seat .act').textContent === 'left+drop'")
	b.Sizes("ticks")
	b.Clean()
}

// A person plays Blocking with the mouse: takes a piece, turns and flips it, and places it by a click; a drag from the
// pieces places one too.
func TestMouse(t *testing.T) {
	s := sit(t, "blocking", 3, "human", "random")
	b := open(t, s)
	p := ready(b, s)
	const board = "document.querySelector('[data-board]')"
	const piece = "document.querySelector('.pieces.mine canvas.held').dataset.piece"
	held := b.Text(piece)
	b.Press("]")
	b.Await(piece + " !== " + fmt.Sprintf("%q", held))
	b.Press("r", "f", kb.ArrowRight, kb.ArrowDown)
	left := len(p.Frame.Trays[0].Pieces)
	x, y := point(b, board, 0, 0, 13)
	b.Do(chromedp.MouseClickXY(x, y))
	for p = s.turn(t); p.Frame.Turn < 2; p = s.turn(t) {
	}
	require.Len(t, p.Frame.Trays[0].Pieces, left-1)
	moved(b, 2)
	b.Sizes("blocking")
	b.Await("document.querySelectorAll('.pieces.mine canvas').length === " + fmt.Sprint(left-1))
	outlined(b, p, 1)

	// The last piece that can be placed, which is not the selected one, is dragged from the tray onto the board.
	ready(b, s)
	const last = "[...document.querySelectorAll('.pieces.mine canvas:not(.stuck):not(.held)')].pop()"
	dragged := b.Text(last + ".dataset.family")
	x, y = point(b, last, 0, 0, 1)
	b.Do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft))
	b.Await(fmt.Sprintf("document.querySelector('.pieces.mine canvas.held').dataset.family === %q", dragged))
	before := b.Text(selected)
	x, y = point(b, board, 12, 12, 13)
	b.Do(chromedp.MouseEvent(chromedp.MouseMoved, x, y, chromedp.ButtonLeft))
	far := b.Text(selected)
	x, y = point(b, board, 0, 0, 13)
	b.Do(chromedp.MouseEvent(chromedp.MouseMoved, x, y, chromedp.ButtonLeft))
	near := b.Text(selected)
	require.True(t, far != before || near != before, "the piece follows the mouse")
	b.Do(chromedp.MouseEvent(chromedp.MouseReleased, x, y, chromedp.ButtonLeft))
	for p = s.turn(t); p.Frame.Turn < 4; p = s.turn(t) {
	}
	require.Len(t, p.Frame.Trays[0].Pieces, left-2)
	require.Contains(t, near, p.Frame.Seats[0].Act, "the move that was shown is played")
	ready(b, s)
	b.Await("document.querySelectorAll('.pieces.mine canvas').length === " + fmt.Sprint(left-2))
	b.Clean()
}

// point is the middle of a square of an element that is so many squares wide and high.
func point(b *webtest.Tab, element string, column, row, squares int) (x, y float64) {
	at, err := chromedp.Run(b.Ctx, chromedp.Evaluate[struct{ X, Y float64 }](fmt.Sprintf(
		"(() => { const r = %s.getBoundingClientRect(); return {X: r.left + (%d + .5) * r.width / %d, "+
			"Y: r.top + (%d + .5) * r.height / %[3]d}; })()", element, column, squares, row)))
	require.NoError(b, err)
	return at.X, at.Y
}

// outlined holds that what a seat placed last has an outline on the board, in the colour of text.
func outlined(b *webtest.Tab, p Position, seat int) {
	m := p.Last[seat]
	require.NotEmpty(b, m.Cells)
	k := slices.Min(m.Cells) // of the first row, so that its upper side is at the edge of the piece
	w := p.Frame.Boards[m.Board].W
	b.Await(fmt.Sprintf(`(() => {
		const c = document.querySelector('canvas[data-board="%d"]'), px = c.width / %d;
		const d = c.getContext('2d').getImageData(%d * px + px / 2, %d * px + 1, 1, 1).data;
		const probe = document.createElement('i');
		probe.style.color = 'var(--text)';
		document.body.append(probe);
		const want = getComputedStyle(probe).color.match(/\d+/g).join();
		probe.remove();
		return [...d].slice(0, 3).join() === want;
	})()`, m.Board, w, k%w, k/w))
}
