// Answers for the whole folder: its own files from a cache, and what is below site/ from the tab that runs the site.
const build = "BUILD", files = FILES, shell = SHELL;
const root = new URL(self.registration.scope).pathname, lock = `big-time-deals ${root}`;
const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What a host lets browsers keep may be of the version before: the page around the site comes from the host itself.
self.addEventListener("install", (event) => event.waitUntil(Promise.all(shell.map((name) => own(name, event, "no-cache")))));
self.addEventListener("activate", (event) => event.waitUntil(tidied().then(() => self.clients.claim())));
// A page asks to be answered by this, also one that was reloaded past it (Shift and reload), and learns how it is called
// and of which version this is. It may also tell a new version not to wait.
self.addEventListener("message", (event) => {
  if (event.data === "take over") return void self.skipWaiting();
  event.waitUntil(self.clients.claim().then(() => event.source.postMessage({ you: event.source.id, version: build })));
});
self.addEventListener("fetch", (event) => {
  const { origin, pathname, search } = new URL(event.request.url), name = pathname.slice(root.length);
  if (origin !== location.origin || !pathname.startsWith(root)) return;
  if (name === "site" || name.startsWith("site/")) event.respondWith(ofSite(event, (name.slice(4) || "/") + search));
  else if (name.endsWith(".wasm")) event.respondWith(untouched(name, event));
  else if ((name || "index.html") in files) event.respondWith(own(name || "index.html", event));
});

async function tidied() {
  for (const each of await caches.keys()) if (each.startsWith(lock) && each !== `${lock} ${build}`) await caches.delete(each);
}

// A file of ours. Hosts differ in what they compress and how they call it: the large ones are packed, and unpacked here.
async function own(name, event, cached = "default") {
  const cache = await caches.open(`${lock} ${build}`), kept = await cache.match(root + name);
  if (kept) return kept;
  const type = files[name], answer = await fetch(root + name + (type ? ".packed" : ""), { cache: cached });
  if (!answer.ok) return answer;
  const whole = type ? new Response(answer.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": type } }) : answer;
  event.waitUntil(cache.put(root + name, whole.clone()).catch(() => {})); // where storage is full, the host has it still
  return whole;
}

// Browsers keep what they compiled of WebAssembly for an answer that comes from the host as it is: half of a start is saved
// the next time. A host that does not compress it would send more than twice as much: the packed one is taken there.
const near = /^(localhost|127\.0\.0\.1)$/.test(location.hostname);
const fit = ({ headers }) => headers.get("Content-Type") === "application/wasm" && (near || headers.has("Content-Encoding"));
async function untouched(name, event) {
  const cache = await caches.open(`${lock} ${build}`), kept = await cache.match(root + name);
  if (kept && !fit(kept)) return kept;
  const answer = await fetch(event.request, { cache: "force-cache" }).catch(() => {}); // its folder is named by its content
  if (!answer?.ok) return kept ?? own(name, event);
  if (!fit(answer)) return answer.body.cancel().then(() => own(name, event));
  if (!kept) event.waitUntil(cache.put(root + name, answer.clone()).catch(() => {})); // for a visit without a network
  return answer;
}

// The tab that runs the site holds a lock, which is named after it.
async function leader() {
  const { held } = await navigator.locks.query(), found = held.find(({ name }) => name.startsWith(`${lock} at `));
  return found && (await self.clients.get(found.name.slice(`${lock} at `.length)));
}

async function ofSite({ request, clientId }, path) {
  // An address that was copied from within the site, or a new tab: the page around the site opens it.
  if (request.mode === "navigate" && request.destination === "document") return Response.redirect(`${root}#${path}`, 302);
  const { method } = request, once = /^\/(assets|pictures)\//.test(path) && method === "GET", cache = await caches.open(`${lock} ${build}`);
  const isForm = (request.headers.get("Content-Type") ?? "").startsWith("multipart/form-data"); // with files
  const kept = once && (await cache.match(request.url)); // their names hold their content's hash
  if (kept) return kept;
  const body = method !== "POST" ? null : isForm ? [...(await request.formData())] : await request.text(), headers = Object.fromEntries(request.headers);
  if (request.referrer.startsWith("http")) headers.referer = request.referrer; // which is no header yet
  for (let tries = 0; tries < 300; tries++) {
    const tab = await leader();
    if (!tab) {
      if (clientId && !(await self.clients.get(clientId))) break; // its page is closed: a new version waits for this to end
      await after(200);
      continue;
    }
    const got = await asked(tab, { method, path, headers, body });
    if (got) {
      const answer = new Response(got.content?.byteLength ? got.content : null, { status: got.status, headers: got.headers });
      if (once && answer.ok) cache.put(request.url, answer.clone()).catch(() => {});
      return answer;
    }
    if (body !== null) break; // whether it was done is not known
  }
  const sentence = "The tab that ran the site is gone. Go back, and try again.";
  return new Response(sentence, { status: 503, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

// An answer, or nothing where the tab is closed before it gives one.
async function asked(tab, message) {
  const { port1, port2 } = new MessageChannel();
  let got;
  const answered = new Promise((resolve) => { port1.onmessage = ({ data }) => resolve((got = data)); });
  tab.postMessage(message, [port2]);
  while (!got && (await leader())?.id === tab.id) await Promise.race([answered, after(1000)]);
  return got;
}
