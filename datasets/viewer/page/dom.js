// Elements of the page.

export const $ = (id) => document.getElementById(id);

// el creates an element with a class, and elements and texts in it.
export function el(tag, cls, ...inside) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  e.append(...inside);
  return e;
}

// button creates a button that does act. By its key it is found again when it is created anew, to keep the focus.
export function button(key, cls, title, act, ...inside) {
  const e = el("button", cls, ...inside);
  e.dataset.key = key;
  e.title = title;
  e.addEventListener("click", act);
  return e;
}

// refill replaces what is in a box. What has a key and the focus keeps it.
export function refill(box, ...inside) {
  const focus = box.contains(document.activeElement) ? document.activeElement.dataset.key : "";
  box.replaceChildren(...inside);
  if (focus) box.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
}

export const seatColour = (seat) => `var(--seat${seat})`;

// dot is the sign of a seat, in its colour.
export function dot(seat) {
  const e = el("span", "dot");
  e.style.background = seatColour(seat);
  return e;
}

// rules is a link to the rules of a game, which begin with its goal.
export function rules(game) {
  const a = el("a", "rules", "Rules");
  a.href = "rules/" + encodeURIComponent(game.split(":")[0]) + (globalThis.playground ? ".txt" : "");
  a.target = "_blank";
  return a;
}

// options fills a select element with values and returns it. text says how a value is shown.
export function options(select, values, chosen, text = (value) => value) {
  for (const value of values) {
    const option = el("option", "", text(value));
    option.value = value;
    option.selected = value === chosen;
    select.append(option);
  }
  return select;
}

// agentChoice is a choice between agents. take gets the name of the one that is chosen.
export function agentChoice(names, chosen, label, take) {
  const choose = options(el("select"), names, chosen, (name) => "by " + name);
  choose.dataset.key = "agent";
  choose.setAttribute("aria-label", label);
  choose.addEventListener("change", () => take(choose.value));
  return choose;
}

// moveTable is a table of moves without its rows. The last column says what a move loses.
export function moveTable(lost) {
  return el("table", "moves", el("thead", "", el("tr", "", ...["", "Move", "Value", lost].map((name) => el("th", "", name)))));
}

// moveRow is a row of such a table, with the button of its move.
export const moveRow = (move, button) =>
  el("tr", "", el("td", "rank", move.rank), el("td", "", button), el("td", "n", move.worth), el("td", "n lost", move.lost));
