// Answers the page's requests from the element "own", instead of a server; see api.js. The document may be in a frame
// that has no address of its own, as in a notebook: then links would lead to the page around it, and the address can
// only be changed behind "#".
globalThis.ownGame = (async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("own").textContent), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const own = JSON.parse(text);
  return (path, params) => {
    if (path === "api/games") return own.games;
    if (path === "api/game") return own.game;
    if (path !== "api/frames") throw Object.assign(new Error("This page has no server."), {told: true});
    return {from: params.from, gen: own.game.gen, frames: own.frames.slice(params.from, params.from + params.count)};
  };
})();
history.replaceState = () => {};
addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  location.hash = link.getAttribute("href");
}, true);
// Now, because a frame without an address does not report later changes of it.
if (!location.hash) location.hash = encodeURIComponent(document.getElementById("own").dataset.game) + "/0";
