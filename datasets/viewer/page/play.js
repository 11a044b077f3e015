// A game to play: shows the position and plays what the person chooses. The server keeps the game, so that the page can be
// loaded again at any time.

import {access, send as ask, trouble, wait} from "./api.js";
import {$, button, el, rules} from "./dom.js";
import {dress, theme} from "./draw.js";
import * as hints from "./hints.js";
import {Moves, back, flip, pieceOf, turn} from "./moves.js";
import * as pointer from "./pointer.js";
import * as stage from "./stage.js";

access.Authorization = "Bearer " + location.hash.slice(1);
let position = null, moves = null, sending = false, leaving = 0, sent = Promise.resolve();

// follow shows every position as soon as there is one.
async function follow() {
  for (let version = -1; ;) {
    try {
      const got = await ask("api/position", {after: version});
      trouble("");
      if (got.version !== version) take(got);
      version = got.version;
    } catch (err) {
      trouble(err.told ? err.message : "The game cannot be reached: is “agents play --web” still running? Retrying …");
      await wait(1000);
    }
  }
}

function take(got) {
  const other = !position || position.seed !== got.seed || position.game !== got.game;
  const held = moves && moves.at && moves.hand && moves.piece(moves.at);
  position = got;
  sending = false;
  if (other) stage.clear();
  dress(got.game.split(":")[0]);
  const marks = got.moves || [];
  const hand = (got.frame.trays || []).some((t) => t.seat >= 0);
  moves = new Moves(marks, got.frame.boards, hand);
  if (held && hand) moves.take(held);
  head();
  redraw();
}

function head() {
  const text = position.title || position.game;
  $("where").replaceChildren(el("b", "", text), el("span", "id", "seed " + position.seed), rules(position.game));
  document.title = (mine() ? "Your move · " : "") + text;
}

const mine = () => position.seat >= 0 && !sending;
const over = () => Boolean(position.frame.over || position.error);

export function redraw() {
  if (!position) return;
  hints.show({position, moves});
  status();
  buttons();
  const details = {game: {players: position.players}, replay: {turns: 1, frames: 1, scores: []}};
  stage.draw(outlined(mine() ? moves.shown(position.frame) : position.frame), {details, at: 0, count: 1, own: own()});
  hand();
}

// outlined is a frame with an outline around what each opponent placed last.
function outlined(frame) {
  const boards = frame.boards.map((b, k) => ({...b, outlines: position.last.filter((m, seat) => seat !== own() && m.board === k && m.cells).map((m) => m.cells)}));
  return {...frame, boards};
}

// own is the seat whose pieces can be chosen.
const own = () => position.seat >= 0 ? position.seat : position.persons[0];

// hand marks the pieces that can be chosen, and the one that is.
function hand() {
  const open = new Set(moves.pieces());
  for (const canvas of document.querySelectorAll("canvas[data-tray]")) {
    const tray = (position.frame.trays || [])[canvas.dataset.tray], piece = tray && tray.pieces[canvas.dataset.piece];
    const choose = moves.hand && mine() && tray && tray.seat === position.seat && piece;
    if (canvas.dataset.piece === "0") canvas.parentNode.classList.toggle("mine", moves.hand && Boolean(tray) && tray.seat === own());
    canvas.dataset.family = choose ? pieceOf(piece) : "";
    canvas.classList.toggle("stuck", Boolean(choose) && !open.has(canvas.dataset.family));
    canvas.classList.toggle("held", Boolean(choose && moves.at) && moves.piece(moves.at) === canvas.dataset.family);
  }
  for (const canvas of document.querySelectorAll("canvas[data-board]")) canvas.classList.toggle("open", mine() && moves.spots.length > 0);
}

function status() {
  const out = [];
  if (position.frame.over) out.push(el("b", "", position.frame.over), position.error ? " · " + position.error : "");
  else if (position.error) out.push("The game ended early: " + position.error);
  else if (!mine()) out.push("The other side chooses …");
  else if (position.ticks) out.push(el("b", "", position.paused ? "Press a key to go on" : "← → move · ↑ turn · z back · space drop · p pause"));
  else {
    const whose = position.persons.length > 1 ? `Seat ${position.seat + 1}, your move` : "Your move";
    out.push(el("b", "", whose), moves.at ? ": " + moves.at.mark.text : "", " ", el("small", "", `of ${position.moves.length}`));
    if (position.moves.some((m) => m.answer)) out.push(el("code", "", moves.at && moves.at.mark.answer || ""));
  }
  if (over() && position.file) out.push(el("small", "", ` · watch it: datasets view --web ${position.file}`));
  const box = $("status"), text = out.map((o) => o.textContent || o).join("");
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(...out);
}

function buttons() {
  for (const id of ["left", "right", "depth"]) $(id).hidden = moves.hand || position.ticks && id === "depth";
  for (const id of ["before", "after", "flip"]) $(id).hidden = !moves.hand;
  for (const b of $("pad").children) b.disabled = !mine() || !moves.at && !position.ticks;
  $("pad").hidden = over();
  $("over").hidden = !over();
  $("leave").hidden = over();
  $("moves").hidden = position.ticks;
  $("place").textContent = position.ticks ? "Drop" : "Place";
  const list = mine() ? moves.others.map((m) => m.action + m.text).join() : "";
  if ($("others").dataset.list === list) return;
  $("others").dataset.list = list;
  const others = list ? moves.others : [];
  $("others").replaceChildren(...others.map((m) => button(m.action, "", "Play this move, which places nothing", () => choose(m.action), m.text)));
}

async function choose(action) {
  if (!mine()) return;
  sending = true;
  redraw();
  await order("api/choose", {version: position.version, action});
}

async function again() {
  await order("api/again", {version: position.version});
}

// order sends an order. If it came too late, the position that follows explains it.
async function order(path, body) {
  try {
    await ask(path, null, body);
  } catch (err) {
    sending = false;
    if (!err.late) trouble(err.told ? err.message : "The game cannot be reached: the move was not played.");
    redraw();
  }
}

// leave asks once more before it ends a game.
function leave() {
  const sure = leaving !== 0;
  calm();
  if (sure) again();
  else {
    $("leave").textContent = "Give up?";
    leaving = setTimeout(calm, 4000);
  }
}

function calm() {
  clearTimeout(leaving);
  leaving = 0;
  $("leave").textContent = "New game";
}

// act changes the selected move and shows it.
const act = (change) => () => {
  if (!mine()) return;
  change(moves);
  redraw();
};

// press sends a key of a game that is played by ticks, after those before it.
const press = (key) => { sent = sent.then(() => order("api/key", {key})); };
const pressed = {left: "left", right: "right", turn: "up", up: "up", down: "down", back: "z", place: "space"};

const place = () => { if (mine() && moves.at) choose(moves.at.mark.action); };
const actions = {
  left: act((m) => m.step(-1, 0)), right: act((m) => m.step(1, 0)), turn: act((m) => m.change(turn)), depth: act((m) => m.deeper()),
  up: act((m) => m.hand ? m.step(0, -1) : m.change(turn)), down: act((m) => m.hand ? m.step(0, 1) : m.deeper()),
  back: act((m) => m.change(back)), flip: act((m) => m.change(flip)), before: act((m) => m.nextPiece(-1)), after: act((m) => m.nextPiece(1)), place,
};
const keys = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", x: "turn", r: "turn", z: "back", f: "flip",
  "[": "before", "]": "after", p: "before", n: "after", " ": "place", Enter: "place",
};

addEventListener("keydown", (event) => {
  if (!position || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  if ((event.key === " " || event.key === "Enter") && event.target.closest("button, a, summary")) return;
  const name = keys[event.key];
  if (position.ticks && (event.key === "p" || pressed[name])) press(event.key === "p" ? "p" : pressed[name]);
  else if (name && !position.ticks) actions[name]();
  else if (event.key === "h" && position.hints.length) hints.toggle("hints");
  else if (event.key === "m") hints.toggle("moves");
  else return;
  event.preventDefault();
});

for (const id of ["left", "right", "turn", "depth", "flip", "before", "after", "place"]) $(id).addEventListener("click", () => {
  if (position.ticks) press(pressed[id]);
  else actions[id]();
  if (id !== "place") return;
  $("place").blur(); // so that space places again
});
$("again").addEventListener("click", again);
$("leave").addEventListener("click", leave);
hints.start({redraw, select: (action) => act((m) => m.select(action))()});
pointer.start({act, place, moves: () => mine() ? moves : null, board: (k) => position.frame.boards[k]});
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); redraw(); });
follow();
