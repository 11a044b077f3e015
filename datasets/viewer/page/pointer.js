// Mouse and fingers: a mouse shows the move under it and places it with a click. A finger selects with a tap, drags the
// selected piece, and places it with a tap on it. A piece beside the board is taken by a click, or dragged onto the board.

const lift = 44; // CSS pixels that a piece is above the finger that drags it from beside the board
let use = null, drag = null; // drag: {touch, fresh, moved}

export function start(functions) {
  use = functions;
  addEventListener("pointerdown", down);
  addEventListener("pointermove", move);
  addEventListener("pointerup", up);
  addEventListener("pointercancel", () => { drag = null; });
  // A finger that drags a piece does not scroll the page.
  addEventListener("touchmove", (event) => { if (drag) event.preventDefault(); }, {passive: false});
}

// cellAt is the board at a point of the window, and the place there in cells; null beside the boards.
function cellAt(x, y) {
  for (const canvas of document.querySelectorAll("canvas[data-board]")) {
    const box = canvas.getBoundingClientRect();
    if (x < box.left || x >= box.right || y < box.top || y >= box.bottom) continue;
    const board = Number(canvas.dataset.board), {w, h} = use.board(board);
    return {board, x: (x - box.left) / box.width * w, y: (y - box.top) / box.height * h};
  }
  return null;
}

function down(event) {
  const moves = use.moves();
  if (!moves || event.button > 0) return;
  const touch = event.pointerType !== "mouse", family = event.target.dataset && event.target.dataset.family;
  if (family) {
    use.act((m) => m.take(family))();
    drag = {touch, fresh: true, moved: false};
    return;
  }
  const at = cellAt(event.clientX, event.clientY);
  if (at && event.target.dataset.board !== undefined && (!touch || moves.holds(at.board, at.x, at.y))) drag = {touch, fresh: false, moved: false};
}

function move(event) {
  const touch = event.pointerType !== "mouse";
  if (touch && !drag || !use.moves()) return;
  if (drag) drag.moved = true;
  const at = cellAt(event.clientX, event.clientY - (touch && drag.fresh ? lift : 0));
  if (at && (drag || event.target.dataset && event.target.dataset.board !== undefined)) use.act((m) => m.point(at.board, at.x, at.y))();
}

function up(event) {
  const was = drag, moves = use.moves(), at = cellAt(event.clientX, event.clientY);
  drag = null;
  if (!moves || !at || event.button > 0) return;
  const touch = event.pointerType !== "mouse";
  if (was && was.fresh && !was.moved) return;
  if (touch && was && was.moved) return; // dragged: a tap on it places it
  if (touch && !(was || event.target.dataset && event.target.dataset.board !== undefined)) return;
  if (touch && !moves.holds(at.board, at.x, at.y)) use.act((m) => m.point(at.board, at.x, at.y))();
  else if (was) {
    use.act((m) => { if (!touch) m.point(at.board, at.x, at.y); })();
    use.place();
  }
}
