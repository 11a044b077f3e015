// The list of games.

import {ask} from "./api.js";
import {$, dot, el} from "./dom.js";
import {drawPiece} from "./draw.js";

const rows = $("rows"), total = $("total"), note = $("listnote"), more = $("more"), search = $("search");
const step = 100;
let shown = step, text = "", timer = 0, asked = 0, seen = "";

// state says whether a game is being played, or was stopped.
export const state = (live, stopped) => live ? [el("span", "chip live", "live")] : stopped ? [el("span", "chip", "stopped")] : [];

export const address = (id, turn, step = 0) => "#" + encodeURIComponent(id).replaceAll("%2F", "/").replaceAll("%3A", ":") + "/" + turn + (step ? "." + step : "");

// route reads the address: "#GAME/TURN" or "#GAME/TURN.STEP", where GAME may contain slashes.
export function route() {
  let text = location.hash.slice(1);
  try {
    text = decodeURIComponent(text);
  } catch {
    text = "";
  }
  if (!text) return {view: "list"};
  const at = text.lastIndexOf("/"), place = at < 0 ? null : /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text.slice(at + 1));
  if (place) return {view: "game", id: text.slice(0, at), turn: Number(place[1]), step: Number(place[2] || 0)};
  return {view: "game", id: text, turn: 0, step: 0};
}

export function enter() {
  document.title = "Blockyard replays";
  $("where").replaceChildren();
  seen = "";
  load();
}

export function leave() {
  clearTimeout(timer);
  asked++;
}

async function load() {
  clearTimeout(timer);
  const mine = ++asked;
  let got = null;
  try {
    const games = [], kinds = {};
    for (let from = 0; from < shown; from += 500) {
      got = await ask("api/games", {q: text, from, count: Math.min(500, shown - from)});
      if (!got) break;
      games.push(...got.games);
      Object.assign(kinds, got.kinds);
      if (games.length >= got.total) break;
    }
    if (mine !== asked) return;
    if (got) show({...got, games, kinds});
  } catch (err) {
    if (mine !== asked) return;
    note.textContent = err.message;
  }
  timer = setTimeout(load, got && got.reading ? 60 : document.hidden ? 10000 : 2000);
}

function show(list) {
  const now = JSON.stringify(list);
  if (now === seen) return;
  seen = now;
  total.textContent = list.all ? (text ? `${list.total} of ${list.all}` : list.total) : "";
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.id : undefined;
  rows.replaceChildren(...list.games.map((game) => row(game, list.kinds[game.game])));
  if (focus) rows.querySelector(`[data-id="${CSS.escape(focus)}"]`)?.focus();
  more.hidden = list.games.length >= list.total;
  const lines = list.notes ? [...list.notes] : [];
  if (list.reading) lines.push("Reading …");
  else if (!list.all) lines.push("No games yet: " + (globalThis.playground ? "drop a file of records here, or open one." : "the list updates when files of records appear."));
  else if (!list.total) lines.push("No game matches the search.");
  note.textContent = lines.join(" · ");
}

// row creates the row of a game; kind has the title, unit and picture of its kind.
function row(game, kind) {
  const sign = el("span", "sign"), picture = kind.sign;
  if (picture) {
    const c = el("canvas");
    c.setAttribute("aria-hidden", "true");
    drawPiece(c, picture, Math.min(9, 27 / Math.max(picture.w, picture.h)));
    sign.append(c);
  } else sign.textContent = game.error ? "!" : "▦";
  const name = el("b", "", kind.title, ...state(game.live, game.stopped));
  const who = el("span", "who", ...game.error ? [el("span", "bad", game.error)] : [], ...game.players.map((player, seat) => playerLine(game, player, seat)));
  const length = game.error ? "" : game.length.toLocaleString("en") + " " + kind.unit + (game.length === 1 ? "" : "s");
  const when = el("time", "when", game.time ? date(game.time) : "");
  when.dateTime = new Date(game.time).toISOString();
  const a = el("a", "row", sign, el("span", "what", name, el("small", "", game.id)), who, el("span", "len", length), when);
  a.href = address(game.id, 0);
  a.dataset.id = game.id;
  a.setAttribute("role", "listitem");
  return a;
}

function playerLine(game, player, seat) {
  const line = el("div");
  line.dataset.game = game.game;
  const result = game.results && game.results[seat], solo = game.players.length === 1;
  if (!solo && game.results) line.className = result > 0 && result === Math.max(...game.results) ? "won" : result < 0 ? "lost" : "";
  if (!solo) line.append(dot(seat));
  line.append(el("span", "n", player));
  if (game.scores) line.append(el("span", "s", game.scores[seat].toLocaleString("en")));
  return line;
}

function date(ms) {
  const d = new Date(ms), today = new Date().toDateString() === d.toDateString();
  const time = d.toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"});
  return today ? "today " + time : d.toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric"});
}

more.addEventListener("click", () => { shown += step; load(); });
search.addEventListener("input", () => { text = search.value.trim(); shown = step; load(); });
