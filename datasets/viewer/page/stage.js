// The elements of a frame: boards, pieces, players, notes.

import {$, el, seatColour} from "./dom.js";
import {drawBoard, drawPiece, drawChart} from "./draw.js";

const stage = $("stage"), boards = $("boards"), beside = $("beside"), panel = $("panel"), caption = $("caption");
let made = "", parts = null;

export function clear() {
  made = "";
  parts = null;
  boards.replaceChildren();
  beside.replaceChildren();
  panel.replaceChildren();
  caption.replaceChildren();
}

// inksAreSeats reports whether a frame's cells are digits of seats: then pieces have the colours of their
// seats.
export const inksAreSeats = (frame) => [...frame.boards, ...(frame.trays || []).flatMap((t) => t.pieces)].some((b) => /\d/.test(b.cells));

// draw shows a frame and reuses existing elements. own is the seat of a person who plays: its pieces are larger, to be
// chosen. Canvases tell their number in frame.boards, or their tray and piece in frame.trays, by data-board, data-tray
// and data-piece.
export function draw(frame, {details, at, count, own = -1}) {
  if (!frame || !details) return;
  build(frame, details);
  parts.valued = parts.valued || frame.seats.some((s) => s.value !== undefined);
  const seats = parts.seatInks = parts.seatInks || inksAreSeats(frame);
  players(frame, details);
  notes(frame);
  describe(frame, details);
  const cell = fit(frame);
  frame.boards.forEach((b, k) => {
    drawBoard(parts.boards[k].canvas, b, cell, seats);
    parts.boards[k].column.style.width = parseFloat(parts.boards[k].canvas.style.width) + 2 + "px";
    tint(parts.boards[k], frame, k);
  });
  for (const tray of parts.trays) pieces(tray, frame, cell, seats, own);
  if (!parts.fitted) { // what the first pieces take of the window is known now
    parts.fitted = true;
    draw(frame, {details, at, count, own});
  }
  const last = Math.max(1, count - 1);
  if (details.replay.scores && details.replay.scores.length) drawChart($("chart"), details.replay.scores, at / last, details.replay.scores.length === 1);
}

// boardCanvas creates the canvas of a board; one without a name is called other.
export function boardCanvas(b, other) {
  const canvas = el("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Board ${b.name || other}, ${b.w} by ${b.h}`);
  return canvas;
}

// build creates the elements for frames of one kind.
function build(frame, details) {
  const trays = frame.trays || [];
  const solo = frame.seats.length === 1, roomy = innerWidth > 640;
  const kind = JSON.stringify([solo && roomy, frame.boards.map((b) => [b.name, b.w, b.h]), trays.map((t) => [t.name, t.seat]), frame.seats.length, details.game.players]);
  if (kind === made) return;
  if (parts && frame.over && trays.length < parts.trays.length) return; // the last frame has no next pieces: keep their place
  clear();
  made = kind;
  const own = frame.boards.length === frame.seats.length;
  parts = {boards: [], seats: [], trays: [], notes: null, own};
  stage.classList.toggle("solo", solo);
  $("game").classList.toggle("alone", solo);
  const cards = frame.seats.map((_, seat) => card(details.game.players[seat] || "unknown", seat, solo));
  frame.boards.forEach((b, k) => {
    const canvas = boardCanvas(b, k + 1), column = el("div", "seatboard"), box = el("div", "frame", canvas);
    canvas.dataset.board = k;
    if (own && solo && roomy) beside.append(cards[k].box);
    else if (own) column.append(cards[k].box);
    column.append(box);
    if (!own && b.name && b.name !== "board") column.append(el("p", "boardname", b.name));
    boards.append(column);
    parts.boards.push({box, canvas, column, tint: el("div")});
  });
  if (!own) {
    const all = el("div", "seats" + cards.length, ...cards.map((c) => c.box));
    all.style.display = "grid";
    all.style.gap = "8px";
    panel.append(all);
  }
  parts.seats = cards;
  trays.forEach((t, k) => {
    const mine = t.seat >= 0 && cards[t.seat];
    const column = el("div", mine ? "pieces" : "column");
    if (mine) mine.box.append(column);
    else beside.append(el("div", "tray", el("h2", "", t.name[0].toUpperCase() + t.name.slice(1)), column));
    parts.trays.push({k, column, mine, box: column.parentNode, drawn: []});
  });
}

function card(name, seat, solo) {
  const score = el("span", "score"), act = el("span", "act"), facts = el("span", "facts"), label = el("span", "name", el("b", "", name));
  if (!solo) label.append(el("small", "", " seat " + (seat + 1)));
  label.title = solo ? name : `${name}, seat ${seat + 1}`;
  const box = el("div", "seat", el("span", solo ? "dot" : "dot number", solo ? "" : seat + 1), label, score, act, facts);
  box.style.setProperty("--mine", seatColour(seat));
  return {box, score, act, facts};
}

const factText = (f) => f.name + " " + f.value;

const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function players(frame, details) {
  frame.seats.forEach((s, seat) => {
    const c = parts.seats[seat];
    set(c.score, s.score.toLocaleString("en"));
    c.box.classList.toggle("turn", !!s.turn && frame.seats.length > 1);
    c.act.hidden = details.replay.turns < details.replay.frames || frame.seats.length === 1 && !s.act;
    const facts = (s.facts || []).map(factText);
    c.facts.hidden = !facts.length;
    set(c.facts, facts.join(" · "));
    c.facts.title = c.facts.textContent;
    const bits = [];
    if (s.result !== undefined && frame.seats.length > 1) bits.push(standing(frame.seats, s));
    else if (s.act) bits.push(el("em", "", s.act));
    if (s.value !== undefined) bits.push(el("span", "value", "value " + s.value.toPrecision(3)));
    parts.said = parts.said || s.answer;
    if (parts.said) bits.push(el("code", "", s.answer || ""));
    const key = bits.map((b) => b.textContent).join(", ");
    if (c.key !== key) {
      c.key = key;
      c.act.replaceChildren(...bits);
      c.act.title = key;
    }
  });
}

// standing is the result of a seat: won, lost or drawn, or its place among several.
function standing(seats, s) {
  if (seats.length === 2) return s.result > 0 ? el("span", "good", "won") : s.result < 0 ? el("span", "bad", "lost") : el("span", "", "drawn");
  const place = 1 + seats.filter((o) => o.result > s.result).length;
  return el("span", place === 1 ? "good" : "", ["1st", "2nd", "3rd", "4th"][place - 1]);
}

const legend = "Value: what the player's own search expected of its move, in units of its own. Compare only values of one player.";

// notes shows what is known beside boards, pieces and players, and what a player's own value is.
function notes(frame) {
  const text = frame.facts ? frame.facts.map(factText) : (frame.notes || []).flatMap((l) => l.split(/ {2}\| {1,2}|\n/));
  for (const k in text) text[k] = text[k].trim().replace(/^./, (c) => c.toUpperCase());
  if (parts.valued) text.push(legend);
  if (!text.length) return;
  if (!parts.notes) {
    parts.notes = el("div", "notes");
    (parts.own && innerWidth > 640 ? beside : panel).append(parts.notes);
  }
  if (parts.notes.dataset.text === text.join("\n")) return;
  parts.notes.dataset.text = text.join("\n");
  parts.notes.replaceChildren(...text.map((l) => el("p", l === legend ? "legend" : "", l)));
}

// describe writes the caption below the boards.
function describe(frame, details) {
  const out = [];
  if (details.replay.turns < details.replay.frames && !frame.red) {
    const made = (frame.made || 0) - (frame.first || 0), list = frame.moves || [];
    out.push(el("b", "", frame.label), ", moves: [");
    if (frame.first) out.push("… ");
    list.forEach((w, k) => {
      out.push(el("span", "w" + (k === made - 1 ? " now" : k < made ? " done" : ""), w));
      if (k < list.length - 1) out.push(", ");
    });
    if ((frame.first || 0) + list.length < (frame.of || 0)) out.push(" …");
    out.push("]");
  } else {
    out.push(el("b", "", frame.label));
  }
  if (frame.over && !(frame.red || frame.seats.length === 1 && parts.own && frame.seats[0].result !== undefined)) {
    out.length = 0;
    out.push(el("span", "end", frame.over));
  }
  caption.replaceChildren(...out);
}

// words describes a frame for screen readers.
export function words(frame, details) {
  const out = [frame.over || frame.label];
  frame.seats.forEach((s, seat) => out.push(`${details.game.players[seat]}, seat ${seat + 1}: ${s.score}${s.act ? ", " + s.act : ""}`));
  return out.join(". ");
}

function tint(part, frame, k) {
  let text = "", cls = "tint";
  const result = parts.own && frame.seats[k] ? frame.seats[k].result : undefined;
  if (frame.red) text = frame.over;
  else if (frame.over && parts.own && frame.seats.length > 1 && result !== undefined) {
    text = result > 0 ? "Won" : result < 0 ? "Lost" : "Draw";
    cls += result > 0 ? " won" : result < 0 ? "" : " even";
  } else if (frame.over && frame.seats.length === 1 && result !== undefined) text = frame.over;
  if (part.key === cls + text) return;
  part.key = cls + text;
  part.tint.remove();
  part.tint = el("div", cls, el("span", "", ...text.split(" · ").map((line, k) => el(k ? "small" : "b", "", line))));
  if (text) part.box.append(part.tint);
}

function pieces(tray, frame, cell, seats, own) {
  const {pieces: list, seat} = (frame.trays || [])[tray.k] || {pieces: [], seat: -1};
  const size = tray.mine ? (innerWidth > 900 ? 9 : own >= 0 && seat === own ? 8 : 6) : Math.max(6, Math.min(18, cell * .62));
  if (!tray.mine) tray.box.style.visibility = list.length ? "visible" : "hidden";
  if (!tray.mine) tray.column.style.minWidth = 5 * size + "px";
  while (tray.drawn.length > list.length) tray.drawn.pop().canvas.remove();
  list.forEach((p, k) => {
    let d = tray.drawn[k];
    if (!d) {
      d = {canvas: el("canvas"), key: ""};
      d.canvas.setAttribute("aria-hidden", "true");
      d.canvas.dataset.tray = tray.k;
      d.canvas.dataset.piece = k;
      tray.column.append(d.canvas);
      tray.drawn.push(d);
    }
    const key = [p.w, p.cells, p.ink, size, getComputedStyle(document.documentElement).getPropertyValue("--ink8"), devicePixelRatio].join();
    if (d.key === key) return;
    d.key = key;
    drawPiece(d.canvas, p, size, seats);
  });
}

// fit is the size of a cell with which the boards just fill the window.
function fit(frame) {
  const phone = innerWidth <= 640, wide = innerWidth > 900, gap = phone ? 12 : 26;
  const across = frame.boards.reduce((n, b) => n + b.w, 0), down = Math.max(...frame.boards.map((b) => b.h));
  const padding = phone ? 28 : 44, solo = parts.seats.length === 1, side = wide || solo;
  let width = stage.clientWidth - padding - (frame.boards.length - 1) * gap - 2 * frame.boards.length;
  if (beside.firstChild && side) width -= Math.max(beside.offsetWidth, phone ? 60 : 110) + gap;
  if (wide && panel.firstChild) width -= panel.offsetWidth + gap;
  const extra = $("analysis");
  if (wide && !extra.hidden) width -= extra.offsetWidth + gap;
  const card = boards.contains(parts.seats[0].box) ? parts.seats[0].box.offsetHeight + 10 : 0;
  const name = boards.querySelector(".boardname"), above = !wide && panel.querySelector(".seats2"), below = !side && beside.querySelector(".tray");
  // What is above and below the boards counts as high as it has been, so that they keep their size.
  if (parts.width !== innerWidth) Object.assign(parts, {width: innerWidth, most: 0});
  parts.most = Math.max(parts.most, (above ? above.offsetHeight + 14 : 0) + (below ? below.offsetHeight + 14 : 0));
  const used = $("game").offsetTop + document.querySelector(".deck").offsetHeight + caption.offsetHeight + card + (name ? 30 : 0) + parts.most + 52;
  const height = Math.max(phone ? 300 : 260, innerHeight - used);
  return Math.max(5, Math.min(width / across, height / down, 46));
}
