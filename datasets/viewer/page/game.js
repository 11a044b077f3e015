// One game: fetching and playing frames, and following a game that is being written. A turn is a position and what is
// played from it. Most games have one frame for each turn; Dropblox has one for each command of a turn.

import {Timeline, ask, wait} from "./api.js";
import * as analysis from "./analysis.js";
import {$, el, options, rules} from "./dom.js";
import {dress} from "./draw.js";
import {address, route, state} from "./list.js";
import * as log from "./log.js";
import * as stage from "./stage.js";

const slider = $("slider"), playKey = $("play"), speedBox = $("speed"), counter = $("counter"), failure = $("failure");
const speeds = [.1, .25, .5, 1, 2, 4, 8, 16];

let id = null, timeline = null, details = null; // the game
let at = -1, want = 0; // the frame shown, and the one asked for
let aim = null; // the turn and step of the address, until they are known
let playing = false, speed = 1, clock = 0, owed = 0;
let visit = 0, timer = 0, linked = 0, linkTimer = 0;

options(speedBox, speeds, speed, (s) => s + "×");

// enter opens a game, or moves to another turn of the open game.
export function enter(game, turn, step) {
  if (id === game && timeline) {
    const frame = timeline.frameOf(turn, step);
    if (frame !== at) goTo(frame);
    return;
  }
  leave();
  id = game;
  timeline = new Timeline(game);
  aim = {turn, step};
  want = 0;
  stage.clear();
  log.clear();
  failure.hidden = true;
  $("caption").textContent = "Reading …";
  document.title = game;
  head();
  follow(++visit);
}

export function leave() {
  visit++;
  clearTimeout(timer);
  clearTimeout(linkTimer);
  pause();
  id = timeline = details = null;
  dress("");
  at = -1;
  analysis.leave();
  counter.textContent = "";
  toggleKeys(false);
}

export function redraw() {
  if (timeline && at >= 0 && timeline.has(at)) stage.draw(analysis.frame(timeline.has(at)), scene());
}

const scene = () => ({details, at: timeline.turnOf(at), count: timeline.turns});

// follow requests the number of frames, and repeats that while the game grows or is being read.
async function follow(mine) {
  let got = null;
  try {
    got = await ask("api/game", {id, known: timeline.starts.length});
  } catch (err) {
    if (mine === visit) fail(err.message);
    return;
  }
  if (mine !== visit) return;
  let again = 1000;
  if (got) {
    const before = timeline.count, wasLast = at >= 0 && want === before - 1 && details && (details.replay.live || got.replay.live);
    if (timeline.take(got)) at = -1;
    timeline.stale(before);
    details = got;
    dress(got.game.game);
    if (aim && (timeline.turns > aim.turn || !got.replay.reading)) {
      want = timeline.frameOf(aim.turn, aim.step);
      aim = null;
    }
    fail(got.replay.error || "");
    head();
    if (timeline.count > before || at < 0) {
      if (wasLast && !playing) want = timeline.count - 1;
      numbers();
      if (!aim && (!playing || at < 0)) show(want);
    }
    const behind = got.replay.turns < got.replay.frames && timeline.starts.length < got.replay.turns;
    again = got.replay.reading || behind ? 20 : got.replay.live ? 1000 : got.game.error ? 0 : 4000;
  }
  if (again) timer = setTimeout(() => follow(mine), again);
}

function fail(text) {
  failure.hidden = !text;
  if (failure.textContent !== text) failure.textContent = text;
  const empty = !timeline || !timeline.count;
  if (text && empty) $("caption").textContent = "";
  document.querySelector(".deck").hidden = Boolean(text) && empty;
}

function head() {
  const where = $("where"), parts = [el("b", "", details ? details.kind.title : "")];
  const last = timeline && timeline.has(timeline.count - 1);
  if (details) parts.push(...state(details.replay.live && !(last && last.over), details.game.stopped));
  parts.push(el("span", "id", id));
  if (details && !globalThis.ownGame) parts.push(rules(details.game.game));
  const key = parts.map((p) => p.textContent).join("|");
  if (where.dataset.key === key && where.firstChild) return;
  where.dataset.key = key;
  where.replaceChildren(...parts);
  if (details) document.title = details.kind.title + " · " + details.game.players.join(" – ");
}

function numbers() {
  const last = Math.max(0, timeline.turns - 1), turn = timeline.turnOf(Math.max(0, at));
  counter.replaceChildren("Turn ", el("b", "", turn.toLocaleString("en")), " / " + last.toLocaleString("en") + (details && details.replay.reading ? " …" : ""));
  slider.max = last;
  slider.value = turn;
  slider.style.setProperty("--done", last ? 100 * turn / last + "%" : "0%");
  $("first").disabled = $("back").disabled = at <= 0;
  $("next").disabled = $("last").disabled = at >= timeline.count - 1;
}

// show paints frame n as soon as it has been fetched; the frame requested last wins.
async function show(n) {
  want = n;
  const mine = visit;
  while (mine === visit && want === n && timeline) {
    const reading = details && details.replay.reading;
    if (timeline.count === 0 || n >= timeline.count && reading) return; // follow calls it again
    const to = Math.max(0, Math.min(n, timeline.count - 1));
    let frame;
    try {
      frame = await timeline.frame(to);
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
  const turn = timeline.turnOf(n);
  analysis.show({id, details, turn, turns: timeline.turns, busy: playing || timeline.stepOf(n) > 0});
  stage.draw(analysis.frame(frame), scene());
  log.draw(frame, details);
  numbers();
  slider.setAttribute("aria-valuetext", frame.label);
  if (!playing) $("spoken").textContent = stage.words(frame, details);
  link();
}

// link sets the address to the current frame, unless it has left the game: "back" does so before the page hears of it.
function link() {
  clearTimeout(linkTimer);
  const set = () => {
    if (route().id !== id) return;
    linked = performance.now();
    history.replaceState(null, "", address(id, timeline.turnOf(at), timeline.stepOf(at)));
  };
  const since = performance.now() - linked;
  if (since > 400) set();
  else linkTimer = setTimeout(set, 400 - since);
}

export function goTo(n) {
  pause();
  if (timeline) show(Math.max(0, n));
}

// turn goes so many turns forward: from the middle of a turn, back to its start first.
function turn(by) {
  const here = timeline.turnOf(Math.max(at, 0));
  if (by < 0 && timeline.stepOf(Math.max(at, 0)) > 0) by++;
  goTo(timeline.frameOf(Math.max(0, here + by)));
}

// step goes so many frames forward.
const step = (by) => goTo(Math.max(0, Math.min(timeline.count - 1, Math.max(at, 0) + by)));

function play() {
  if (!timeline || !timeline.count) return;
  if (at >= timeline.count - 1 && !details.replay.live && !details.replay.reading) {
    at = want = 0;
    const first = timeline.has(0);
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

const toggle = () => playing ? (pause(), at >= 0 && paint(at, timeline.has(at))) : play();

// tick plays the frames that are due.
function tick(now) {
  if (!playing || !timeline) return;
  const every = details.replay.pace / speed;
  owed = Math.min(owed + (now - clock) / every, 64);
  clock = now;
  let n = at;
  while (owed >= 1) {
    if (n + 1 >= timeline.count) {
      owed = 0;
      if (!details.replay.live && !details.replay.reading) {
        pause();
      }
      break;
    }
    if (!timeline.has(n + 1)) {
      owed = 0;
      timeline.frame(n + 1).catch((err) => { pause(); fail(err.message); });
      break;
    }
    n++;
    owed--;
  }
  if (n !== at) {
    want = n;
    paint(n, timeline.has(n));
    timeline.ahead(n, 1);
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
  Home: () => goTo(0), End: () => goTo(details && details.replay.reading ? Infinity : timeline ? timeline.count - 1 : 0),
  "+": () => faster(1), "=": () => faster(1), "-": () => faster(-1), "−": () => faster(-1),
  a: analysis.toggle,
  "?": () => toggleKeys($("keys").hidden),
  Escape: () => $("keys").hidden ? location.hash = "" : toggleKeys(false),
};

addEventListener("keydown", (event) => {
  if (!timeline || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  if (target.tagName === "SELECT" || target.type === "search") return;
  if (event.key === " " && (target.tagName === "BUTTON" || target.tagName === "A")) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

slider.addEventListener("input", () => goTo(timeline.frameOf(Number(slider.value))));
speedBox.addEventListener("change", () => { speed = Number(speedBox.value); });
playKey.addEventListener("click", toggle);
$("first").addEventListener("click", () => goTo(0));
$("back").addEventListener("click", () => turn(-1));
$("next").addEventListener("click", () => turn(1));
$("last").addEventListener("click", keys.End);
$("help").addEventListener("click", keys["?"]);
analysis.start({goTo: (turn) => goTo(timeline.frameOf(turn)), redraw});
addEventListener("resize", redraw);
