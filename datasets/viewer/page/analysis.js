// The best moves of a turn, and where a game lost most: a panel beside the boards.

import {ask} from "./api.js";
import {$, agentChoice, button, dot, el, moveRow, moveTable, refill} from "./dom.js";

const panel = $("analysis"), key = $("analyse");
const topLosses = 8;

let open = false, use = null; // the panel is open; functions of the game
let scene = null; // what is on the stage: id, details, turn, turns, busy
let agent = "", cache = new Map(); // positions by turn and agent, of one game
let marked = null; // {turn, seat, action, frame}: a move to look at
let hunt = null; // the search for the largest losses: {done, total, list, stop}
let timer = 0, asked = 0, drawn = "";

export function start(functions) {
  use = functions;
  key.addEventListener("click", toggle);
}

export function toggle() {
  open = !open;
  panel.hidden = !open;
  key.setAttribute("aria-pressed", String(open));
  marked = null;
  drawn = "";
  if (open) update();
  else stop();
  use.redraw();
  if (open && innerWidth <= 900) panel.scrollIntoView({block: "start", behavior: "smooth"}); // it is below the boards
}

// leave forgets the game.
export function leave() {
  stop();
  clearTimeout(timer);
  asked++;
  cache = new Map();
  scene = marked = hunt = null;
  drawn = "";
  panel.replaceChildren();
}

// show is called with every frame that is painted.
export function show(now) {
  const moved = !scene || scene.turn !== now.turn || scene.busy !== now.busy;
  if (scene && scene.details && now.details && scene.details.gen !== now.details.gen) cache = new Map();
  scene = now;
  if (moved) marked = null;
  if (open) update();
}

// frame is the frame to paint: with the move that is looked at, if there is one.
export const frame = (plain) => marked && marked.frame && open ? marked.frame : plain;

const agents = () => scene.details.agents || [];
const nameOf = () => agents().includes(agent) ? agent : agents()[0];
const position = (turn) => cache.get(turn + " " + nameOf());
const who = (seat, player) => scene.details.game.players.length > 1 ? `${player} (seat ${seat + 1})` : player;

// update draws the panel, and asks for the analysis of the turn if it is not known.
function update() {
  if (!scene || !scene.details) return;
  const known = position(scene.turn);
  draw(known);
  clearTimeout(timer);
  if (!agents().length || known || scene.busy || hunt && !hunt.stop) return;
  timer = setTimeout(() => fetchTurn(scene.turn), 120);
}

// fetchTurn asks for the analysis of a turn and shows it, unless another turn has been shown since.
async function fetchTurn(turn) {
  const mine = ++asked;
  const got = await request(turn);
  if (mine === asked && open && scene && scene.turn === turn) draw(got);
}

// request returns the analysis of a turn, or {error}.
async function request(turn) {
  const name = nameOf(), into = cache, id = scene.id; // the cache of this game, whatever is shown later
  let got = into.get(turn + " " + name);
  if (got) return got;
  try {
    got = await ask("api/analysis", {id, turn, agent: name});
  } catch (err) {
    got = {error: err.message};
  }
  if (!got) return {error: "The viewer cannot be reached."};
  const growing = !scene || scene.details.replay.live && turn >= scene.turns - 1; // its move is not known yet
  if (!growing) into.set(turn + " " + name, got);
  return got;
}

function draw(known) {
  const content = JSON.stringify([scene.turn, scene.busy, nameOf(), known, marked && [marked.seat, marked.action], hunt && [hunt.done, hunt.stop, hunt.list]]);
  if (content === drawn) return;
  drawn = content;
  refill(panel, head(), ...body(known));
}

function head() {
  const box = el("div", "ahead", el("h2", "", "Best moves"));
  if (agents().length > 1) {
    box.append(agentChoice(agents(), nameOf(), "Agent that values the moves", (name) => {
      agent = name;
      stop();
      hunt = marked = null;
      use.redraw();
      update();
    }));
  }
  return box;
}

function body(known) {
  if (!agents().length) {
    return [el("p", "quiet", "This page has no analyst. To see the best moves of every turn, start it with ",
      el("code", "", "agents analyze FILE --web"), ". It takes files of records, and the games of all contests but wintetris:tick.")];
  }
  const out = [];
  if (scene.busy && !known) out.push(el("p", "quiet", "The moves of a turn appear when the game is paused at its start."));
  else if (!known) out.push(el("p", "quiet", "Searching …"));
  else if (known.error) out.push(el("p", "bad", known.error));
  else if (!known.seats.length) out.push(el("p", "quiet", "The game is over: nobody has to choose."));
  else {
    out.push(...known.seats.map(seatBox), el("p", "quiet unit", "Value: " + known.unit + ". Lost: against the best move."));
  }
  out.push(huntBox());
  return out;
}

// seatBox lists the moves of one seat.
function seatBox(s) {
  const box = el("section", "aseat", el("h3", "", dot(s.seat), who(s.seat, s.player))), m = s.played;
  if (m) {
    const text = el("p", "aplayed", "Played ", el("b", "", m.text));
    if (m.rank) text.append(`, move ${m.rank} of ${s.legal}`);
    if (m.lost) text.append(": ", el("span", "bad", m.lost));
    else if (m.rank) text.append(": ", el("span", "good", m.rank === 1 ? "the best" : "as good as the best"));
    box.append(text);
  }
  if (s.note) box.append(el("p", "quiet", s.note));
  if (!s.moves.length) return box;
  const table = moveTable("Lost"), list = m && m.rank > s.moves.length ? [...s.moves, m] : s.moves;
  table.append(...list.map((move) => moveGroup(s, move, m)));
  box.append(table);
  return box;
}

function moveGroup(s, move, played) {
  const here = marked && marked.seat === s.seat && marked.action === move.action;
  const title = "Show this move on the board" + (move.line.length ? "; expected next: " + line(s, move) : "");
  const show = () => mark(here ? null : {turn: scene.turn, seat: s.seat, action: move.action});
  const look = button(`${s.seat} ${move.action}`, "look", title, show, move.text), group = el("tbody", "", moveRow(move, look));
  if (played && played.action === move.action) group.className = "played";
  if (here) group.classList.add("here");
  look.setAttribute("aria-pressed", String(Boolean(here)));
  if (move.line.length) {
    const rest = el("td", "", "then " + line(s, move));
    rest.colSpan = 3;
    group.append(el("tr", "then", el("td"), rest));
  }
  return group;
}

// line is what the search expects after a move.
const line = (s, move) => move.line.map((p) => p.seat === s.seat ? p.text : `${p.text} (seat ${p.seat + 1})`).join(", ");

// mark shows a move on the board, or the moves played.
async function mark(move) {
  marked = move;
  if (move) {
    try {
      const got = await ask("api/marked", {id: scene.id, turn: move.turn, seat: move.seat, action: move.action});
      if (marked !== move || !got) return;
      move.frame = got;
    } catch (err) {
      marked = null;
    }
  }
  use.redraw();
  update();
}

function stop() {
  if (hunt) hunt.stop = true;
}

// huntBox has the key that analyses the whole game, and what it has found.
function huntBox() {
  const box = el("section", "hunt");
  if (!hunt || hunt.stop) {
    box.append(button("hunt", "wide", "Analyse every turn and list the moves that lost most", search,
      hunt ? "Search the game again" : "Where was the game lost?"));
  } else {
    const bar = el("progress");
    bar.max = hunt.total;
    bar.value = hunt.done;
    bar.setAttribute("aria-label", "Turns analysed");
    box.append(bar, button("hunt", "wide", "", () => { stop(); update(); }, "Stop"));
  }
  if (!hunt) return box;
  box.append(el("h3", "", `Largest losses in turns 0 to ${Math.max(0, hunt.done - 1)}`));
  const list = el("ol", "losses", ...hunt.list.map((d) => el("li", "", button(`loss ${d.turn} ${d.seat}`, "look", "", () => use.goTo(d.turn),
    dot(d.seat), `Turn ${d.turn}`, el("span", "quiet", who(d.seat, d.player)), el("span", "bad", d.lost)))));
  if (hunt.error) box.append(el("p", "bad", hunt.error));
  box.append(hunt.list.length ? list : el("p", "quiet", hunt.stop ? "No move lost anything." : "None yet."));
  return box;
}

// search analyses turn after turn.
async function search() {
  const mine = hunt = {done: 0, total: scene.turns, list: [], stop: false};
  for (const [key, got] of cache) if (got.error) cache.delete(key);
  for (let turn = 0; turn < mine.total && !mine.stop && scene; turn++) {
    const got = await request(turn);
    if (hunt !== mine || mine.stop || !scene) return;
    if (got && got.error && !mine.error) mine.error = `Turn ${turn}: ${got.error}`;
    for (const s of got && got.seats || []) {
      if (s.played && s.played.loss > 0 && s.played.lost) mine.list.push({turn, seat: s.seat, player: s.player, loss: s.played.loss, lost: s.played.lost});
    }
    mine.list.sort((a, b) => b.loss - a.loss);
    mine.list.length = Math.min(mine.list.length, topLosses);
    mine.done = turn + 1;
    if (open) update();
  }
  mine.stop = true;
  if (open) update();
}
