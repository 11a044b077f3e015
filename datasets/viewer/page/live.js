// A grid of games that clients of a server are playing. The page asks for pictures a few times per second while it is
// visible.

import {send, trouble, wait} from "./api.js";
import {drawBoard, theme} from "./draw.js";
import {$, dot, el, options} from "./dom.js";
import {boardCanvas, inksAreSeats} from "./stage.js";

const every = 350; // ms between two requests
const counts = [4, 9, 16, 36, 64];
let count = 16, shown = null;
const tiles = new Map();

options($("count"), counts, count);

async function follow() {
  for (;;) {
    const begun = performance.now();
    if (!document.hidden) await look();
    await wait(Math.max(50, every - (performance.now() - begun)));
  }
}

async function look() {
  try {
    shown = await send("api/live", {count});
  } catch (err) {
    trouble(err.told ? err.message : "The viewer cannot be reached: is “datasets view --web --live” still running? Retrying …");
    return;
  }
  trouble("");
  draw();
}

function draw() {
  if (!shown) return;
  const {games, envs, waiting} = shown;
  document.documentElement.dataset.game = games.length && games.every((g) => g.game === games[0].game) ? games[0].game.split(":")[0] : "";
  theme();
  $("totals").textContent = `${games.length} of ${envs.toLocaleString("en")} games`;
  $("note").textContent = games.length ? "" : waiting ? "Waiting for the next step of the clients …" : "No client has open games.";
  const ids = new Set(games.map((g) => g.id));
  for (const [id, tile] of tiles) if (!ids.has(id)) { tile.box.remove(); tiles.delete(id); }
  for (const game of games) show(game);
}

// show draws a game in its tile.
function show(game) {
  let tile = tiles.get(game.id);
  const kind = JSON.stringify([game.title, game.players, game.frame.boards.map((b) => [b.w, b.h])]);
  if (!tile || tile.kind !== kind) {
    const made = build(game, kind);
    if (tile) tile.box.replaceWith(made.box);
    else $("grid").append(made.box);
    tiles.set(game.id, tile = made);
  }
  tile.turn.textContent = game.frame.over ? "over" : game.frame.label;
  tile.box.title = `${game.id}: session, handle and number of the environment`;
  const seats = inksAreSeats(game.frame), across = game.frame.boards.reduce((n, b) => n + b.w, 0);
  const cell = Math.max(4, Math.min(size(), ($("grid").clientWidth - 70) / across));
  game.frame.boards.forEach((b, k) => drawBoard(tile.boards[k], b, cell, seats));
  game.frame.seats.forEach((s, seat) => { tile.scores[seat].textContent = s.score.toLocaleString("en"); });
}

const size = () => innerWidth <= 640 ? (count <= 4 ? 11 : 6) : count <= 4 ? 18 : count <= 16 ? 11 : 8;

function build(game, kind) {
  const turn = el("small"), scores = game.players.map(() => el("span", "s"));
  const boards = game.frame.boards.map((b) => boardCanvas(b, ""));
  const who = game.players.map((player, seat) => {
    const name = el("span", "n", player);
    name.title = player;
    return el("div", "", dot(seat), name, scores[seat]);
  });
  const box = el("section", "tile", el("h2", "", game.title, turn),
    el("div", "boards", ...boards.map((canvas) => el("div", "frame", canvas))), el("div", "who", ...who));
  box.setAttribute("role", "listitem");
  return {box, kind, turn, boards, scores};
}

$("count").addEventListener("change", () => { count = Number($("count").value); look(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("resize", draw);
follow();
