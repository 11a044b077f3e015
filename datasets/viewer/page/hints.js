// The panel beside the boards: what an agent would play, and the list of all legal moves.

import {send as ask} from "./api.js";
import {$, agentChoice, button, el, moveRow, moveTable, refill} from "./dom.js";

const panel = $("analysis"), keys = {hints: $("hints"), moves: $("moves")};
const open = {hints: false, moves: false};
const narrow = matchMedia("(max-width: 900px)"); // the panel is below the boards
let reveal = false; // the panel has been opened and is not complete in view yet
let scene = null, use = null, agent = "", known = null; // known: {version, agent, seat, unit} or with error

export function start(functions) {
  use = functions;
  for (const name in keys) keys[name].addEventListener("click", () => toggle(name));
}

export function toggle(name) {
  open[name] = !open[name];
  reveal = open[name] && narrow.matches;
  keys[name].setAttribute("aria-pressed", String(open[name]));
  use.redraw();
}

// show draws the panel for a position, {position, moves}, and asks for the hints that it needs.
export function show(now) {
  scene = now;
  const {position} = now;
  keys.hints.hidden = !position.hints.length;
  if (!position.hints.includes(agent)) agent = position.hints[0] || "";
  panel.hidden = !(open.hints && agent || open.moves);
  if (panel.hidden) return;
  refill(panel, ...open.hints && agent ? hints() : [], ...open.moves ? list() : []);
  if (reveal) {
    reveal = open.hints && Boolean(agent) && !(known && (known.seat || known.error));
    panel.scrollIntoView({block: "nearest"});
  }
}

const fresh = () => known && known.version === scene.position.version && known.agent === agent;

async function fetchHints() {
  const version = scene.position.version, name = agent;
  known = {version, agent: name};
  let got;
  try {
    const reply = await ask("api/hints", {version, agent: name});
    got = {version, agent: name, unit: reply.unit, seat: reply.seats[0]};
  } catch (err) {
    got = {version, agent: name, error: err.told ? err.message : "The server cannot be reached."};
  }
  if (known.version !== version || known.agent !== name) return;
  known = got;
  use.redraw();
}

function hints() {
  const head = el("div", "ahead", el("h2", "", "Hints")), names = scene.position.hints;
  if (names.length > 1) head.append(agentChoice(names, agent, "Agent that gives the hints", (name) => { agent = name; use.redraw(); }));
  if (scene.position.seat < 0) return [head, el("p", "quiet", "They appear when it is your turn.")];
  if (!fresh()) fetchHints();
  if (known.error) return [head, el("p", "bad", known.error)];
  if (!known.seat) return [head, el("p", "quiet", "Searching …")];
  if (!known.seat.moves.length) return [head, el("p", "quiet", known.seat.note)];
  const table = moveTable("Less");
  for (const move of known.seat.moves) {
    table.append(el("tbody", isAt(move.action) ? "here" : "", moveRow(move, pick(move.action, move.text, "look"))));
  }
  return [head, table, el("p", "quiet unit", "Value: " + known.unit + ".")];
}

const isAt = (action) => scene.moves && scene.moves.at && scene.moves.at.mark.action === action;

// pick is a button that selects a move.
function pick(action, text, cls) {
  const made = button(action, cls, "Show this move on the board", () => {
    use.select(action);
    if (narrow.matches) $("boards").scrollIntoView({block: "nearest"});
  }, text);
  made.setAttribute("aria-pressed", String(Boolean(isAt(action))));
  return made;
}

function list() {
  const legal = scene.position.moves || [], places = legal.filter((m) => m.cells.length);
  return [el("h2", "", `${legal.length} legal moves`), el("div", "alternatives", ...places.map((m) => pick(m.action, m.text, "")))];
}
