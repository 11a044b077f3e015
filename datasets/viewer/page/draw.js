// Paints boards and pieces on canvases, sharp at any pixel density.

let colours = {};

// theme reads the colours of the style sheet, which depend on the light or dark theme.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  colours = {well: get("--well"), cell: get("--cell"), shade: get("--shade"), text: get("--text"), muted: get("--muted"), line: get("--line"), ink: [get("--cell")], seat: []};
  for (let k = 1; k < 16; k++) colours.ink.push(get("--ink" + k));
  for (let k = 0; k < 4; k++) colours.seat.push(get("--seat" + k));
}

// dress gives the page the colours of a game's seats.
export function dress(game) {
  const root = document.documentElement.dataset;
  if (root.game === game) return;
  root.game = game;
  theme();
}

// inkOf is the colour of a cell: with seats, inks 1 to 4 have the colours of the seats.
const inkOf = (digit, seats) => {
  const k = parseInt(digit, 16) || 0;
  return seats && k >= 1 && k <= 4 ? colours.seat[k - 1] : colours.ink[k];
};

const isGhost = (glyph) => glyph >= "a" && glyph <= "z" && glyph !== "x";
const isFree = (glyph) => glyph === "." || glyph === ":";
const isSolid = (glyph, ink) => !isFree(glyph) && !isGhost(glyph) && ink !== "0";

// size sets the size of a canvas for w by h cells of about cell CSS pixels. It returns the size of a cell in
// device pixels, a whole number.
function size(canvas, w, h, cell) {
  const density = window.devicePixelRatio || 1, px = Math.max(2, Math.floor(cell * density));
  if (canvas.width !== w * px || canvas.height !== h * px) {
    canvas.width = w * px;
    canvas.height = h * px;
  }
  canvas.style.width = w * px / density + "px";
  canvas.style.height = h * px / density + "px";
  return px;
}

// drawBoard paints a board. With seats, adjacent cells of one seat are one piece. board.outlines are lists of cells that
// get an outline.
export function drawBoard(canvas, board, cell, seats) {
  const {w, h, cells, ink} = board, px = size(canvas, w, h, cell), g = canvas.getContext("2d");
  g.fillStyle = colours.well;
  g.fillRect(0, 0, canvas.width, canvas.height);
  const gap = Math.max(1, Math.round(px / 22)), round = px * .16;
  g.fillStyle = colours.cell;
  g.beginPath();
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) g.roundRect(x * px + gap / 2, y * px + gap / 2, px - gap, px - gap, round * .8);
  g.fill();
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const k = y * w + x, glyph = cells[k];
      if (glyph === "." && ink[k] === "0") continue;
      if (isFree(glyph) && ink[k] !== "0") hint(g, x * px, y * px, px, gap, round, inkOf(ink[k], seats));
      else if (isGhost(glyph)) ghost(g, board, x, y, px, inkOf(ink[k], seats));
      else if (ink[k] === "0") hint(g, x * px, y * px, px, gap, round);
      else block(g, board, x, y, px, gap, round, inkOf(ink[k], seats), seats);
    }
  }
  borders(g, board, px);
  for (const list of board.outlines || []) outline(g, list, w, px);
}

// drawPiece paints a small piece without a board.
export function drawPiece(canvas, piece, cell, seats) {
  const px = size(canvas, piece.w, piece.h, cell), g = canvas.getContext("2d");
  g.clearRect(0, 0, canvas.width, canvas.height);
  const gap = Math.max(1, Math.round(px / 20));
  for (let y = 0; y < piece.h; y++) {
    for (let x = 0; x < piece.w; x++) {
      const k = y * piece.w + x;
      if (isSolid(piece.cells[k], piece.ink[k])) block(g, piece, x, y, px, gap, px * .18, inkOf(piece.ink[k], seats), seats, true);
    }
  }
}

// block paints one filled cell. A letter is a piece in play, which has a light rim.
function block(g, board, x, y, px, gap, round, colour, seats, plain) {
  const {w, h, cells} = board, glyph = cells[y * w + x];
  const same = (dx, dy) => seats && x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h && cells[(y + dy) * w + x + dx] === glyph;
  const up = same(0, -1), down = same(0, 1), left = same(-1, 0), right = same(1, 0), rim = gap / 2;
  const x0 = x * px + (left ? 0 : rim), y0 = y * px + (up ? 0 : rim), x1 = (x + 1) * px - (right ? 0 : rim), y1 = (y + 1) * px - (down ? 0 : rim);
  const r = (a, b) => a || b ? 0 : round;
  g.beginPath();
  g.roundRect(x0, y0, x1 - x0, y1 - y0, [r(up, left), r(up, right), r(down, right), r(down, left)]);
  g.fillStyle = colour;
  g.fill();
  if (seats) {
    g.fillStyle = "rgba(255,255,255,.20)";
    const d = px * .30;
    g.beginPath();
    g.roundRect(x * px + d, y * px + d, px - 2 * d, px - 2 * d, round);
    g.fill();
    return;
  }
  const light = g.createLinearGradient(0, y0, 0, y1);
  light.addColorStop(0, "rgba(255,255,255,.20)");
  light.addColorStop(.5, "rgba(255,255,255,0)");
  light.addColorStop(1, "rgba(0,0,0,.10)");
  g.fillStyle = light;
  g.fill();
  if (!plain && glyph >= "A" && glyph <= "Z") {
    const line = Math.max(1, px * .07);
    g.strokeStyle = "rgba(255,255,255,.78)";
    g.lineWidth = line;
    g.beginPath();
    g.roundRect(x0 + line, y0 + line, x1 - x0 - 2 * line, y1 - y0 - 2 * line, round * .8);
    g.stroke();
  }
}

// ghost paints one cell of the place where a piece will land: hatched, with an outline around the piece.
function ghost(g, board, x, y, px, colour) {
  const {w, h, cells} = board, glyph = cells[y * w + x];
  const same = (dx, dy) => x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h && cells[(y + dy) * w + x + dx] === glyph;
  const x0 = x * px, y0 = y * px;
  g.save();
  g.beginPath();
  g.rect(x0, y0, px, px);
  g.clip();
  g.globalAlpha = .22;
  g.fillStyle = colour;
  g.fillRect(x0, y0, px, px);
  g.globalAlpha = .75;
  g.strokeStyle = colour;
  g.lineWidth = Math.max(1, px * .07);
  g.beginPath();
  const every = px / 3;
  for (let d = -px + every / 2; d < px; d += every) {
    g.moveTo(x0 + d, y0 + px);
    g.lineTo(x0 + d + px, y0);
  }
  g.stroke();
  g.globalAlpha = 1;
  g.lineWidth = Math.max(2, px * .14);
  edges(g, x0, y0, px, same);
  g.restore();
}

// edges strokes the sides of a cell on which the adjacent cell is not the same.
function edges(g, x0, y0, px, same) {
  g.beginPath();
  if (!same(0, -1)) { g.moveTo(x0, y0); g.lineTo(x0 + px, y0); }
  if (!same(0, 1)) { g.moveTo(x0, y0 + px); g.lineTo(x0 + px, y0 + px); }
  if (!same(-1, 0)) { g.moveTo(x0, y0); g.lineTo(x0, y0 + px); }
  if (!same(1, 0)) { g.moveTo(x0 + px, y0); g.lineTo(x0 + px, y0 + px); }
  g.stroke();
}

// outline paints a line around cells of a board with w columns, inside of them.
function outline(g, cells, w, px) {
  const all = new Set(cells);
  g.strokeStyle = colours.text;
  g.lineWidth = Math.max(3, px * .16);
  for (const k of cells) {
    const x = k % w, y = Math.floor(k / w), same = (dx, dy) => x + dx >= 0 && x + dx < w && all.has(k + dy * w + dx);
    g.save();
    g.beginPath();
    g.rect(x * px, y * px, px, px);
    g.clip();
    edges(g, x * px, y * px, px, same);
    g.restore();
  }
}

// borders paints a line between rows of different zones: where the marks of their empty cells differ and one of them is a tint.
function borders(g, board, px) {
  const {w, h, cells, ink} = board;
  let above = "";
  for (let y = 0; y < h; y++) {
    let zone = above;
    for (let k = y * w; k < (y + 1) * w; k++) if (isFree(cells[k])) zone = cells[k] + ink[k];
    if (above && zone !== above && (zone + above).replace(/[.:0]/g, "")) {
      const line = Math.max(1, Math.round(px * .09));
      g.fillStyle = colours.muted;
      g.fillRect(0, y * px - line / 2, w * px, line);
    }
    above = zone;
  }
}

// hint paints an empty cell that a game marks, or tints with a colour.
function hint(g, x, y, px, gap, round, colour) {
  g.fillStyle = colour || colours.shade;
  g.globalAlpha = colour ? .16 : .55;
  g.beginPath();
  g.roundRect(x + gap / 2, y + gap / 2, px - gap, px - gap, round * .8);
  g.fill();
  g.globalAlpha = 1;
}

// drawChart paints the scores through the game and a line at the current position (0 to 1).
export function drawChart(canvas, scores, at, solo) {
  const density = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * density);
  canvas.height = Math.round(h * density);
  const g = canvas.getContext("2d");
  g.scale(density, density);
  const all = scores.flat(), low = Math.min(0, ...all), high = Math.max(low + 1, ...all), n = Math.max(1, (scores[0] || []).length - 1);
  const x = (k) => 8.5 + (w - 17) * k / n, y = (s) => h - 5 - (h - 10) * (s - low) / (high - low);
  scores.forEach((line, seat) => {
    const colour = solo ? colours.ink[2] : colours.seat[seat];
    g.beginPath();
    line.forEach((s, k) => k ? g.lineTo(x(k), y(s)) : g.moveTo(x(k), y(s)));
    g.strokeStyle = colour;
    g.lineWidth = 1.75;
    g.lineJoin = "round";
    g.stroke();
    if (!solo) return;
    g.lineTo(x(line.length - 1), h);
    g.lineTo(x(0), h);
    g.globalAlpha = .1;
    g.fillStyle = colour;
    g.fill();
    g.globalAlpha = 1;
  });
  g.fillStyle = colours.muted;
  g.fillRect(8.5 + (w - 17) * at - .5, 0, 1, h);
}

theme();
