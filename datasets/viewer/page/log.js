// What the bots of a contest and their host said in the turn shown, by the log of the game.

import {$, el, seatColour} from "./dom.js";

const box = $("log");
const texts = [["answer", "Answer"], ["time", "Time"], ["errors", "Standard error"], ["remarks", "The host's remarks"], ["input", "Input"]];
const closed = new Set(["input"]); // kinds of text that are folded, as the user left them

export function clear() {
  box.hidden = true;
  box.replaceChildren();
}

export function draw(frame, details) {
  const said = frame.seats.map((s) => s.said);
  box.hidden = !said.some(Boolean) && !box.firstChild;
  if (box.hidden) return;
  box.replaceChildren(...said.map((s, seat) => card(s || {}, seat, details.game.players[seat])));
}

function card(said, seat, name) {
  const out = el("div", "said", el("h2", "", el("span", "dot number", seat + 1), el("span", "", name)));
  out.style.setProperty("--mine", seatColour(seat));
  if (!Object.keys(said).length) out.append(el("p", "quiet", "Nothing in this turn."));
  for (const [kind, title] of texts) {
    if (said[kind] === undefined) continue;
    const part = el("details", kind, el("summary", "", title), el("pre", "", said[kind]));
    part.open = !closed.has(kind);
    part.addEventListener("toggle", () => closed[part.open ? "delete" : "add"](kind));
    out.append(part);
  }
  return out;
}
