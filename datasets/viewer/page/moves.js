// The legal moves of a position as places of shapes, and the one that is selected.

const key = (cells) => {
  const left = Math.min(...cells.map((c) => c.x)), top = Math.min(...cells.map((c) => c.y));
  return cells.map((c) => `${c.x - left},${c.y - top}`).sort().join(" ");
};
const turned = (cells) => cells.map((c) => ({x: -c.y, y: c.x})); // clockwise
const mirrored = (cells) => cells.map((c) => ({x: -c.x, y: c.y}));

// turns are the four orientations of a shape, from its own on, clockwise.
const turns = (cells) => [cells, turned(cells), turned(turned(cells)), turned(turned(turned(cells)))];

// The ways to change a shape: those that it can become, in order.
export const turn = (cells) => turns(cells).slice(1);
export const back = (cells) => turn(cells).reverse();
export const flip = (cells) => turns(mirrored(cells));

// family is the same for all shapes that turns and flips make of each other.
function family(cells) {
  return [...turns(cells), ...turns(mirrored(cells))].map(key).sort()[0];
}

// pieceOf is the family of a piece that a frame shows.
export function pieceOf(board) {
  const cells = [];
  for (let k = 0; k < board.cells.length; k++) {
    if (board.ink[k] !== "0") cells.push({x: k % board.w, y: Math.floor(k / board.w)});
  }
  return family(cells);
}

// spotOf is a mark with the place and shape of its cells, or null if it fills none.
function spotOf(mark, boards) {
  if (!mark.cells.length) return null;
  const w = boards[mark.board].w, cells = mark.cells.map((k) => ({x: k % w, y: Math.floor(k / w)}));
  const xs = cells.map((c) => c.x), ys = cells.map((c) => c.y), mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  return {mark, cells, shape: key(cells), left: Math.min(...xs), top: Math.min(...ys), x: mean(xs), y: mean(ys)};
}

// Moves are the legal moves of a position. at is the selected spot; null if there are none.
export class Moves {
  constructor(marks, boards, hand) {
    this.hand = hand; // the person chooses among several pieces; otherwise one piece falls
    this.spots = marks.map((m) => spotOf(m, boards)).filter(Boolean);
    this.others = marks.filter((m) => !m.cells.length); // such as a pass
    this.families = new Map();
    for (const s of this.spots) {
      if (!this.families.has(s.shape)) this.families.set(s.shape, family(s.cells));
    }
    this.at = this.first();
  }

  piece(spot) {
    return this.families.get(spot.shape);
  }

  pieces() {
    return [...new Set(this.families.values())].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }

  // first is the spot that is selected first: in the middle, of the first orientation or of the largest piece.
  first() {
    if (!this.spots.length) return null;
    const mean = this.spots.reduce((sum, s) => sum + s.x, 0) / this.spots.length;
    const piece = this.hand ? this.pieces()[0] : null;
    return this.best((s) => this.hand ? this.piece(s) === piece : s.shape === this.spots[0].shape, (s) => 1000 * Math.abs(s.x - mean) - s.y);
  }

  // best is the spot with the least cost of those that suit; the selected one if none suits.
  best(suits, cost) {
    let best = this.at || null, least = Infinity;
    for (const s of this.spots) {
      if (suits(s) && cost(s) < least) [best, least] = [s, cost(s)];
    }
    return best;
  }

  near(spot) {
    return this.hand ? (s) => (s.x - spot.x) ** 2 + (s.y - spot.y) ** 2 : (s) => 1000 * Math.abs(s.left - spot.left) + Math.abs(s.y - spot.y);
  }

  // select selects the move with an action.
  select(action) {
    this.at = this.spots.find((s) => s.mark.action === action) || this.at;
  }

  // step moves the selected shape in a direction.
  step(dx, dy) {
    const now = this.at;
    if (!now) return;
    const ahead = (s) => (s.left - now.left) * dx + (s.top - now.top) * dy;
    const aside = (s) => Math.abs((s.left - now.left) * dy) + Math.abs((s.top - now.top) * dx);
    this.at = this.best((s) => s.shape === now.shape && ahead(s) > 0, (s) => this.hand ? ahead(s) + 2 * aside(s) : 1000 * ahead(s) + aside(s));
  }

  // deeper selects another spot in the same column, such as one under an overhang.
  deeper() {
    if (!this.at) return;
    const same = this.spots.filter((s) => s.shape === this.at.shape && s.left === this.at.left);
    this.at = same[(same.indexOf(this.at) + 1) % same.length];
  }

  // change selects the first shape of a way that is another one and legal somewhere.
  change(way) {
    const shape = this.at && way(this.at.cells).map(key).find((s) => s !== this.at.shape && this.families.has(s));
    if (shape) this.at = this.best((s) => s.shape === shape, this.near(this.at));
  }

  // take selects a piece.
  take(piece) {
    if (this.at && this.piece(this.at) === piece) return;
    const from = this.at;
    if (from) this.at = this.best((s) => this.piece(s) === piece, this.near(from));
  }

  // nextPiece selects the next piece of those that can be placed, or the one before it.
  nextPiece(by) {
    if (!this.at) return;
    const all = this.pieces(), k = all.indexOf(this.piece(this.at));
    this.take(all[(k + by + all.length) % all.length]);
  }

  // point selects the spot of the shape that is closest to a point of a board, in cells.
  point(board, x, y) {
    if (!this.at) return;
    const cost = this.hand ? (s) => (s.x + .5 - x) ** 2 + (s.y + .5 - y) ** 2 : (s) => 1000 * Math.abs(s.x + .5 - x) + Math.abs(s.y + .5 - y);
    this.at = this.best((s) => s.shape === this.at.shape && s.mark.board === board, cost);
  }

  // holds reports whether the selected spot has a cell at a point.
  holds(board, x, y) {
    const s = this.at;
    return Boolean(s) && s.mark.board === board && s.cells.some((c) => c.x === Math.floor(x) && c.y === Math.floor(y));
  }

  // shown is a frame with the selected spot as a ghost. A piece in play hangs above it. With a hand, the cells that the
  // shape can fill have a tint.
  shown(frame) {
    if (!this.at) return frame;
    const {mark} = this.at, board = frame.boards[mark.board], cells = [...board.cells], ink = [...board.ink];
    if (this.hand) {
      for (const s of this.spots) {
        if (s.shape !== this.at.shape || s.mark.board !== mark.board) continue;
        for (const k of s.mark.cells) if (cells[k] === "." || cells[k] === ":") ink[k] = mark.ink;
      }
    } else this.hang(board, cells, ink);
    for (const k of mark.cells) [cells[k], ink[k]] = [mark.glyph, mark.ink];
    const boards = [...frame.boards];
    boards[mark.board] = {...board, cells: cells.join(""), ink: ink.join("")};
    return {...frame, boards};
  }

  // hang turns and moves the piece in play as the selected spot has it.
  hang(board, cells, ink) {
    const old = cells.map((c, k) => c >= "A" && c <= "Z" ? k : -1).filter((k) => k >= 0);
    if (!old.length) return;
    const glyph = cells[old[0]], colour = ink[old[0]], row = Math.floor(old[0] / board.w), empty = this.at.mark.cells;
    const lifted = this.at.cells.map((c) => (c.y - this.at.top + row) * board.w + c.x);
    if (lifted.some((k) => k >= cells.length || !old.includes(k) && cells[k] === "x" || empty.includes(k))) return;
    for (const k of old) {
      const y = Math.floor(k / board.w), free = board.cells.slice(y * board.w, (y + 1) * board.w).match(/[.:]/);
      [cells[k], ink[k]] = [free ? free[0] : ".", "0"];
    }
    for (const k of lifted) [cells[k], ink[k]] = [glyph, colour];
  }
}
