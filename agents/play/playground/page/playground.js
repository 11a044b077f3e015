// Runs the program in a worker, where it answers what the page asks (see send in api.js), and adds what the playground has
// beside the pages to play and to watch: the choice of games, and records that are opened where they are dropped.
(() => {
  // work is what the worker does. Requests that come before the program has started wait.
  const work = () => {
    const early = [];
    let answer = (request) => early.push(request);
    onmessage = async ({data}) => {
      if (!data.wasm) return answer(data);
      const packed = Uint8Array.from(atob(data.wasm), (c) => c.charCodeAt(0));
      const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")), go = new Go();
      const code = new Response(plain, {headers: {"Content-Type": "application/wasm"}});
      const made = WebAssembly.instantiateStreaming(code, go.importObject);
      go.run((await made.catch((err) => { setTimeout(() => { throw err; }); return made; })).instance); // for onerror
      const ask = globalThis.answer;
      answer = ([id, what, query, body]) => ask(what, query, body, (status, text) => postMessage([id, status, text]));
      early.forEach(answer);
    };
  };
  const $ = (id) => document.getElementById(id), none = new Uint8Array(), waiting = new Map();
  const worker = new Worker(URL.createObjectURL(new Blob([program.Support, `\n(${work})();`], {type: "text/javascript"})));
  let last = 0;
  const send = (what, query, body) => new Promise((done) => {
    waiting.set(++last, done);
    worker.postMessage([last, what, query, body]);
  });
  worker.onmessage = ({data: [id, status, text]}) => {
    starting.remove();
    waiting.get(id)(new Response(text, {status}));
    waiting.delete(id);
  };
  worker.onerror = (event) => {
    starting.remove();
    say("The program of this page does not run here: " + event.message);
  };
  worker.postMessage({wasm: program.Wasm});

  // say shows what went wrong, until a file is opened: what the page says of its requests has another place.
  function say(text) {
    wrong.hidden = !text;
    wrong.textContent = text;
  }

  const make = (tag, text, more) => Object.assign(document.createElement(tag), {textContent: text}, more);
  const starting = make("div", "The program of this page starts, which takes some seconds\u2026", {className: "starting", role: "status"});
  const wrong = make("div", "", {className: "trouble", role: "alert", hidden: true});
  const watches = Boolean($("list")), [name, seed] = location.hash.slice(1).split("/");
  const game = program.Games.some((g) => g.Name === name) ? name : program.Games[0].Name;
  const bytes = (text) => new TextEncoder().encode(text);
  let ready = null; // the first request, which others wait for

  globalThis.playground = async (path, params, body) => {
    await ready;
    return send(`${body ? "POST" : "GET"} /${path}`, new URLSearchParams(params || {}).toString(), body ? bytes(JSON.stringify(body)) : none);
  };

  const bar = make("nav", "", {className: "playground"});
  for (const g of program.Games) bar.append(make("a", g.Title, {href: "index.html#" + g.Name, className: !watches && g.Name === game ? "here" : ""}));
  bar.append(make("a", "Watch a record", {href: "watch.html", className: watches ? "here" : ""}));
  bar.setAttribute("aria-label", "Games");
  bar.querySelector(".here").setAttribute("aria-current", "page");
  document.querySelector("header.top").after(bar, starting, wrong);
  bar.querySelector(".here").scrollIntoView({inline: "center", block: "nearest"});

  // open opens a file of records: here, or on the page to watch, which gets it behind "#".
  async function open(file) {
    try {
      if (!watches) {
        const zipped = (await file.slice(0, 2).text()).charCodeAt(0) === 0x1f;
        return pass(zipped ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text() : await file.text());
      }
      const games = await add(file.name, new Uint8Array(await file.arrayBuffer()));
      location.hash = games === 1 ? encodeURIComponent(file.name + ":1") + "/0" : "";
      $("search").dispatchEvent(new Event("input")); // the list is read again
    } catch (err) { // a folder, or a file that is gone or damaged
      say(`${file.name} cannot be read: ${err.message}`);
    }
  }

  // add returns how many games of a file can be watched, and says so if it is none.
  async function add(name, text) {
    const reply = await send("POST /api/records", new URLSearchParams({name}).toString(), text), got = await reply.json();
    say(reply.ok ? "" : got.error);
    return reply.ok ? got : 0;
  }

  function pass(text) {
    const to = "watch.html#record=" + encodeURIComponent(text);
    if (to.length < 1.5e6) location.href = to;
    else say("This file is too large to be passed on: choose “Watch a record”, and open it there.");
  }

  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
  });

  if (watches) {
    const file = make("input", "", {type: "file", hidden: true}), key = make("button", "Open a record");
    file.addEventListener("change", () => open(file.files[0]));
    key.addEventListener("click", () => file.click());
    $("search").before(key, file);
    if (name.startsWith("record=")) {
      const text = location.hash.slice("#record=".length);
      history.replaceState(null, "", "#game:1/0");
      ready = (async () => add("game", bytes(decodeURIComponent(text))))().catch((err) => {
        say("The record cannot be read: " + err.message);
      }).then((games) => { if (!games) location.hash = ""; });
    }
    return;
  }
  const start = {game, seed: Number(seed) || Math.floor(1e9 * Math.random())};
  ready = send("POST /api/play", "", bytes(JSON.stringify(start)));
  const record = async () => (await send("GET /api/record", "", none)).json();
  const watch = make("button", "Watch it"), save = make("button", "Save it");
  watch.addEventListener("click", async () => pass(await record()));
  save.addEventListener("click", async () => {
    const link = make("a", "", {download: game + ".jsonl", href: URL.createObjectURL(new Blob([await record()]))});
    link.click();
  });
  $("over").append(watch, save);
  addEventListener("hashchange", () => location.reload());
})();
