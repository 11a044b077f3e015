// One game: fetching and playing frames, and following a game that is being written. A turn is a position and what is
// played from it. Most games have one frame for each turn; Dropblox has one for each command of a turn.

import {Reel, ask, wait} from "./api.js";
import * as analysis from "./analysis.js";
import {el} from "./dom.js";
import {theme} from "./draw.js";
import {address} from "./list.js";
import * as stage from "./stage.js";

const $ = (id) => document.getElementById(id);
const slider = $("slider"), playKey = $("play"), speedBox = $("speed"), counter = $("counter"), failure = $("failure");
const speeds = [.1, .25, .5, 1, 2, 4, 8, 16];

let id = null, reel = null, details = null; // the game
let at = -1, want = 0; // the frame shown, and the one asked for
let aim = null; // the turn and step of the address, until they are known
let playing = false, speed = 1, clock = 0, owed = 0;
let visit = 0, timer = 0, linked = 0, linkTimer = 0;

for (const s of speeds) {
  const option = el("option", "", s + "×");
  option.value = s;
  option.selected = s === 1;
  speedBox.append(option);
}

// enter opens a game, or moves to another turn of the open game.
export function enter(game, turn, step) {
  if (id === game && reel) {
    const frame = reel.frameOf(turn, step);
    if (frame !== at) goTo(frame);
    return;
  }
  leave();
  id = game;
  reel = new Reel(game);
  aim = {turn, step};
  want = 0;
  stage.clear();
  failure.hidden = true;
  $("caption").textContent = "Reading …";
  document.title = game;
  head();
  follow(++visit);
}

// dress gives the page the colours of a game's seats.
function dress(game) {
  const root = document.documentElement.dataset;
  if (root.game === game) return;
  root.game = game;
  theme();
}

export function leave() {
  visit++;
  clearTimeout(timer);
  clearTimeout(linkTimer);
  pause();
  id = reel = details = null;
  dress("");
  at = -1;
  analysis.leave();
  counter.textContent = "";
  toggleKeys(false);
}

export function redraw() {
  if (reel && at >= 0 && reel.has(at)) stage.draw(analysis.frame(reel.has(at)), scene());
}

const scene = () => ({details, at: reel.turnOf(at), count: reel.turns});

// follow requests the number of frames, and repeats that while the game grows or is being read.
async function follow(mine) {
  let got = null;
  try {
    got = await ask("api/game", {id, known: reel.starts.length});
  } catch (err) {
    if (mine === visit) fail(err.message);
    return;
  }
  if (mine !== visit) return;
  let again = 1000;
  if (got) {
    const before = reel.count, wasLast = at >= 0 && at === before - 1 && details && (details.film.live || got.film.live);
    if (reel.take(got)) at = -1;
    reel.stale(before);
    details = got;
    dress(got.game.game);
    if (aim && (reel.turns > aim.turn || !got.film.reading)) {
      want = reel.frameOf(aim.turn, aim.step);
      aim = null;
    }
    fail(got.film.error || "");
    head();
    if (reel.count > before || at < 0) {
      if (wasLast && !playing) want = reel.count - 1;
      bounds();
      if (!aim && (!playing || at < 0)) show(want);
    }
    const behind = got.film.turns < got.film.frames && reel.starts.length < got.film.turns;
    again = got.film.reading || behind ? 20 : got.film.live ? 1000 : got.game.error ? 0 : 4000;
  }
  if (again) timer = setTimeout(() => follow(mine), again);
}

function fail(text) {
  failure.hidden = !text;
  if (failure.textContent !== text) failure.textContent = text;
  const empty = !reel || !reel.count;
  if (text && empty) $("caption").textContent = "";
  document.querySelector(".deck").hidden = Boolean(text) && empty;
}

function head() {
  const where = $("where"), parts = [el("b", "", details ? details.kind.title : "")];
  if (details && details.film.live) parts.push(el("span", "chip live", "live"));
  else if (details && details.game.stopped) parts.push(el("span", "chip", "stopped"));
  parts.push(el("span", "id", id));
  const key = parts.map((p) => p.textContent).join("|");
  if (where.dataset.key === key && where.firstChild) return;
  where.dataset.key = key;
  where.replaceChildren(...parts);
  if (details) document.title = details.kind.title + " · " + details.game.players.join(" – ");
}

function bounds() {
  slider.max = Math.max(0, reel.turns - 1);
  numbers();
}

function numbers() {
  const last = Math.max(0, reel.turns - 1), turn = reel.turnOf(Math.max(0, at));
  counter.replaceChildren("Turn ", el("b", "", turn.toLocaleString("en")), " / " + last.toLocaleString("en") + (details && details.film.reading ? " …" : ""));
  slider.value = turn;
  slider.style.setProperty("--done", last ? 100 * turn / last + "%" : "0%");
  $("first").disabled = $("back").disabled = at <= 0;
  $("next").disabled = $("last").disabled = at >= reel.count - 1;
}

// show paints frame n as soon as it has been fetched; the frame requested last wins.
async function show(n) {
  want = n;
  const mine = visit;
  while (mine === visit && want === n && reel) {
    const reading = details && details.film.reading;
    if (reel.count === 0 || n >= reel.count && reading) return; // follow calls it again
    const to = Math.max(0, Math.min(n, reel.count - 1));
    let frame;
    try {
      frame = await reel.frame(to);
    } catch (err) {
      if (mine === visit) fail(err.message);
      return;
    }
    if (mine !== visit || want !== n) return;
    if (frame) {
      want = to;
      paint(to, frame);
      return;
    }
    await wait(150);
  }
}

function paint(n, frame) {
  at = n;
  const turn = reel.turnOf(n);
  analysis.show({id, details, turn, turns: reel.turns, busy: playing || reel.stepOf(n) > 0});
  stage.draw(analysis.frame(frame), scene());
  numbers();
  slider.setAttribute("aria-valuetext", frame.label);
  if (!playing) $("spoken").textContent = stage.words(frame, details);
  link();
}

// link sets the address to the current frame, unless the address has left the game already.
function link() {
  clearTimeout(linkTimer);
  const set = () => {
    if (!location.hash) return;
    linked = performance.now();
    history.replaceState(null, "", address(id, reel.turnOf(at), reel.stepOf(at)));
  };
  const since = performance.now() - linked;
  if (since > 400) set();
  else linkTimer = setTimeout(set, 400 - since);
}

export function goTo(n) {
  pause();
  if (reel) show(Math.max(0, n));
}

// turn goes so many turns forward: from the middle of a turn, back to its start first.
function turn(by) {
  const here = reel.turnOf(Math.max(at, 0));
  if (by < 0 && reel.stepOf(Math.max(at, 0)) > 0) by++;
  goTo(reel.frameOf(Math.max(0, here + by)));
}

// step goes so many frames forward.
const step = (by) => goTo(Math.max(0, Math.min(reel.count - 1, Math.max(at, 0) + by)));

function play() {
  if (!reel || !reel.count) return;
  if (at >= reel.count - 1 && !details.film.live && !details.film.reading) {
    at = want = 0;
    const first = reel.has(0);
    if (first) paint(0, first);
    else show(0);
  }
  playing = true;
  playKey.classList.add("on");
  playKey.setAttribute("aria-label", "Pause");
  clock = performance.now();
  owed = 0;
  requestAnimationFrame(tick);
}

function pause() {
  playing = false;
  playKey.classList.remove("on");
  playKey.setAttribute("aria-label", "Play");
}

const toggle = () => playing ? (pause(), at >= 0 && paint(at, reel.has(at))) : play();

// tick plays the frames that are due.
function tick(now) {
  if (!playing || !reel) return;
  const every = details.film.pace / speed;
  owed = Math.min(owed + (now - clock) / every, 64);
  clock = now;
  let n = at;
  while (owed >= 1) {
    if (n + 1 >= reel.count) {
      owed = 0;
      if (!details.film.live && !details.film.reading) {
        pause();
      }
      break;
    }
    if (!reel.has(n + 1)) {
      owed = 0;
      reel.frame(n + 1).catch((err) => { pause(); fail(err.message); });
      break;
    }
    n++;
    owed--;
  }
  if (n !== at) {
    want = n;
    paint(n, reel.has(n));
    reel.ahead(n, 1);
  }
  if (playing) requestAnimationFrame(tick);
}

function faster(by) {
  const k = Math.max(0, Math.min(speeds.length - 1, speeds.indexOf(speed) + by));
  speed = speeds[k];
  speedBox.value = speed;
}

function toggleKeys(on) {
  $("keys").hidden = !on;
  $("help").setAttribute("aria-expanded", String(on));
}

const keys = {
  " ": toggle, k: toggle,
  ArrowLeft: () => turn(-1), ArrowRight: () => turn(1),
  ArrowUp: () => turn(-10), ArrowDown: () => turn(10), PageUp: () => turn(-10), PageDown: () => turn(10),
  ",": () => step(-1), ".": () => step(1),
  Home: () => goTo(0), End: () => goTo(details && details.film.reading ? Infinity : reel ? reel.count - 1 : 0),
  "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1), "−": () => faster(-1),
  a: analysis.toggle,
  "?": () => toggleKeys($("keys").hidden),
  Escape: () => $("keys").hidden ? location.hash = "" : toggleKeys(false),
};

addEventListener("keydown", (event) => {
  if (!reel || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.tagName === "SELECT" || target.type === "search") return;
  if (event.key === " " && (target.tagName === "BUTTON" || target.tagName === "A")) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

slider.addEventListener("input", () => goTo(reel.frameOf(Number(slider.value))));
speedBox.addEventListener("change", () => { speed = Number(speedBox.value); });
playKey.addEventListener("click", toggle);
$("first").addEventListener("click", () => goTo(0));
$("back").addEventListener("click", () => turn(-1));
$("next").addEventListener("click", () => turn(1));
$("last").addEventListener("click", keys.End);
$("help").addEventListener("click", keys["?"]);
analysis.start({goTo: (turn) => goTo(reel.frameOf(turn)), redraw});
addEventListener("resize", redraw);
