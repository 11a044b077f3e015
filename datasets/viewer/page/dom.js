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
  a.href = "rules/" + encodeURIComponent(game.split(":")[0]) + (globalThis.arena ? ".txt" : "");
  a.target = "_blank";
  return a;
}
