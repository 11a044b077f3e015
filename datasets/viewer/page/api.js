// What the page asks of the server, and the frames it keeps.

const chunkSize = 128, keptChunks = 48;
const troubleBox = document.getElementById("trouble");

// ask returns the answer to a question; it throws what the server says is wrong. While the
// server cannot be reached the page says so, and nothing is thrown: null comes back.
export async function ask(path, params, signal) {
  let reply;
  try {
    reply = await fetch(path + "?" + new URLSearchParams(params), {signal});
  } catch (err) {
    if (err.name === "AbortError") throw err;
    trouble("The viewer’s program cannot be reached. Trying again …");
    return null;
  }
  trouble("");
  let body;
  try {
    body = await reply.json();
  } catch {
    throw new Error(`The answer cannot be read (status ${reply.status}).`);
  }
  if (!reply.ok) throw new Error(body.error || `The server answers with status ${reply.status}.`);
  return body;
}

function trouble(text) {
  troubleBox.hidden = !text;
  if (troubleBox.textContent !== text) troubleBox.textContent = text;
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// A Reel is the frames of one game, fetched by the chunk. The chunks used last are kept.
export class Reel {
  constructor(id) {
    this.id = id;
    this.gen = null;
    this.count = 0;
    this.chunks = new Map();
    this.under = new Map();
  }

  // take notes what /api/game says; it reports whether the game is another one now.
  take(details) {
    const other = this.gen !== null && this.gen !== details.gen;
    if (other) {
      this.chunks.clear();
      this.count = 0;
    }
    this.gen = details.gen;
    this.count = Math.max(this.count, details.film.frames);
    return other;
  }

  // has returns a frame if it is here.
  has(n) {
    const k = Math.floor(n / chunkSize), chunk = this.chunks.get(k);
    return chunk && chunk[n - k * chunkSize];
  }

  // frame fetches a frame if need be. It returns undefined if there is none yet.
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

  // stale forgets the last chunk if it was fetched before the game grew, so that its frames
  // are those of the game as it is.
  stale(before) {
    if (before > 0 && this.count > before) this.chunks.delete(Math.floor((before - 1) / chunkSize));
  }
}
