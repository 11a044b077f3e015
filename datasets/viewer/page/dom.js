// Elements of the page.

// el creates an element with a class and a text.
export function el(tag, cls, text) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
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
  const table = el("table", "moves"), top = el("thead"), names = el("tr");
  for (const name of ["", "Move", "Value", lost]) names.append(el("th", "", name));
  top.append(names);
  table.append(top);
  return table;
}
