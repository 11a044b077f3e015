// Requests to the server, and the cache of frames.

const chunkSize = 128, keptChunks = 48;
const troubleBox = document.getElementById("trouble");

// access is what a server needs to know of who asks: headers.
export const access = {};

// send sends a request, with a body as POST, and returns the response. It throws the server's error: err.told, and err.late
// if the answer would have been another one a moment ago. Any other error means that the server cannot be reached.
export async function send(path, params, body, signal) {
  if (globalThis.ownGame) return (await globalThis.ownGame)(path, params); // the page holds its game itself
  const where = path + (params ? "?" + new URLSearchParams(params) : "");
  const options = {headers: access, signal, ...body && {method: "POST", body: JSON.stringify(body)}};
  const reply = await (globalThis.playground ? globalThis.playground(path, params, body) : fetch(where, options));
  const got = await reply.json().catch(() => ({error: `The response cannot be read (status ${reply.status}). Reload the page.`, bad: true}));
  if (reply.ok && !got.bad) return got;
  const text = got.error || `The server responded with status ${reply.status}.`;
  throw Object.assign(new Error(text), {told: true, late: reply.status === 409});
}

// ask sends a request of the page to watch. If the server cannot be reached, it shows that and returns null.
export async function ask(path, params, signal) {
  try {
    const got = await send(path, params, null, signal);
    trouble("");
    return got;
  } catch (err) {
    if (err.told) trouble("");
    if (err.told || err.name === "AbortError") throw err;
    trouble("The viewer cannot be reached: is “datasets view --web” still running? Retrying …");
    return null;
  }
}

export function trouble(text) {
  troubleBox.hidden = !text;
  if (troubleBox.textContent !== text) troubleBox.textContent = text;
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// A Timeline is the frames of one game, fetched in chunks. It keeps the most recently used chunks.
export class Timeline {
  constructor(id) {
    this.id = id;
    this.gen = null;
    this.count = 0; // frames
    this.turns = 0;
    this.starts = []; // first frame of each turn; empty if every turn has one frame
    this.chunks = new Map();
    this.under = new Map();
  }

  // take stores the response to /api/game, and reports whether another game has replaced this one.
  take(details) {
    const other = this.gen !== null && this.gen !== details.gen;
    if (other) {
      this.chunks.clear();
      this.count = 0;
      this.starts = [];
    }
    this.gen = details.gen;
    if (details.known === this.starts.length) this.starts.push(...(details.replay.starts || []));
    this.count = Math.max(this.count, details.replay.frames);
    this.turns = this.starts.length || this.count;
    return other;
  }

  // turnOf is the turn of frame n, and stepOf how many frames of the turn precede it.
  turnOf(n) {
    return this.starts.length ? Math.max(0, this.starts.findLastIndex((start) => start <= n)) : n;
  }

  stepOf(n) {
    return this.starts.length ? n - this.starts[this.turnOf(n)] : 0;
  }

  // frameOf is a frame of a turn, or the last one that there is.
  frameOf(turn, step = 0) {
    if (!this.starts.length) return Math.min(turn, this.count - 1);
    const t = Math.min(turn, this.starts.length - 1), end = t + 1 < this.starts.length ? this.starts[t + 1] : this.count;
    return t < turn ? this.count - 1 : Math.min(this.starts[t] + step, end - 1);
  }

  // has returns a frame if it is in the cache.
  has(n) {
    const k = Math.floor(n / chunkSize), chunk = this.chunks.get(k);
    return chunk && chunk[n - k * chunkSize];
  }

  // frame returns a frame and fetches it if necessary; undefined if it does not exist yet.
  async frame(n) {
    if (this.has(n)) return this.has(n);
    const k = Math.floor(n / chunkSize);
    if (!this.under.has(k)) {
      this.under.set(k, this.fetch(k).finally(() => this.under.delete(k)));
    }
    await this.under.get(k);
    return this.has(n);
  }

  async fetch(k) {
    const got = await ask("api/frames", {id: this.id, from: k * chunkSize, count: chunkSize});
    if (!got) return;
    this.chunks.delete(k);
    this.chunks.set(k, got.frames);
    for (const old of this.chunks.keys()) {
      if (this.chunks.size <= keptChunks) break;
      this.chunks.delete(old);
    }
  }

  // ahead fetches the chunk that will be needed soon.
  ahead(n, step) {
    const soon = n + step * chunkSize / 2;
    if (soon >= 0 && soon < this.count && !this.has(soon)) this.frame(soon).catch(() => {});
  }

  // stale drops the last chunk if the game has grown since it was fetched, because its last frame has changed.
  stale(before) {
    if (before > 0 && this.count > before) this.chunks.delete(Math.floor((before - 1) / chunkSize));
  }
}
