// The page shows either the list of games or one game, depending on its address.

import * as list from "./list.js";
import * as game from "./game.js";
import {$} from "./dom.js";
import {theme} from "./draw.js";

const views = {list: $("list"), game: $("game")};
let inside = null;

function go() {
  const to = list.route();
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
