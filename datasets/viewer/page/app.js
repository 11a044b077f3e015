// The page shows either the list of games or one game, depending on its address.

import * as list from "./list.js";
import * as game from "./game.js";
import {$} from "./dom.js";
import {theme} from "./draw.js";

const views = {list: $("list"), game: $("game")};
let inside = null;

// route reads the address: "#GAME/TURN" or "#GAME/TURN.STEP", where GAME may contain slashes.
function route() {
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

function go() {
  const to = route();
  if (inside && inside !== to.view) (inside === "list" ? list : game).leave();
  for (const name in views) views[name].hidden = name !== to.view;
  const came = inside !== to.view;
  inside = to.view;
  if (to.view === "game") game.enter(to.id, to.turn, to.step);
  else if (came) list.enter();
}

addEventListener("hashchange", go);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  theme();
  if (inside === "game") game.redraw();
  else list.enter();
});
go();
