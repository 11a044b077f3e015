// Requests to the server, with the token of the page's address.

const troubleBox = document.getElementById("trouble");

export function trouble(text) {
  troubleBox.hidden = !text;
  if (troubleBox.textContent !== text) troubleBox.textContent = text;
}

// ask sends a request, with a body as POST, and returns the response. It throws the server's error; err.late says that
// the position has changed since.
export async function ask(path, params, body) {
  const headers = {Authorization: "Bearer " + location.hash.slice(1)};
  const options = body ? {method: "POST", headers, body: JSON.stringify(body)} : {headers};
  const reply = await fetch(path + (params ? "?" + new URLSearchParams(params) : ""), options);
  const got = await reply.json();
  if (reply.ok) return got;
  const err = new Error(got.error || `The server responded with status ${reply.status}.`);
  err.told = true;
  err.late = reply.status === 409;
  throw err;
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
