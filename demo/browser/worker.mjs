// CPython with the site in it, the cookies that no script may see, and what is kept from one visit to the next.
import { code, lock, sizes } from "./build.mjs";
import { loadPyodide } from "./pyodide.mjs";

const tell = (message) => self.postMessage(message), total = Object.values(sizes).reduce((sum, each) => sum + each);
const jar = new Map(), EARLY = /^\/($|\?|assets\/|pictures\/|site\.webmanifest)/;
let py, site, kept, fresh, rest, signed = false, loaded = 0, turn = Promise.resolve();

const step = (text, percent) => tell({ step: text, percent });

// What Pyodide and this load, with the bytes counted as they come.
const asked = self.fetch;
self.fetch = async (address, options) => {
  const answer = await asked(address, options);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const counted = new TransformStream({
    transform(chunk, to) { loaded += chunk.length; if (!site) step("Loading …", (70 * loaded) / total); to.enqueue(chunk); },
  });
  return new Response(answer.body.pipeThrough(counted), { headers: answer.headers });
};
const bytes = async (name) => (await fetch(new URL(name, import.meta.url))).arrayBuffer();

// What is kept: the table that the visit began with, the items since then, the cookies. Nothing where the browser allows none.
const ended = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
async function opened(name) {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => ["state", "items"].forEach((each) => request.result.createObjectStore(each));
  return ended(request);
}
const store = (name, mode) => kept.transaction(name, mode).objectStore(name);
const done = (all) => new Promise((resolve, reject) => { all.oncomplete = resolve; all.onabort = all.onerror = () => reject(all.error); });
async function write(changes) {
  if (!kept || !(changes.length || signed)) return;
  signed = false;
  try {
    const state = kept.transaction(["state", "items"], "readwrite"), items = state.objectStore("items");
    if (fresh) { state.objectStore("state").put(fresh, "table"); state.objectStore("state").put(code, "code"); }
    for (const [key, item] of changes) items.put(item ?? null, key);
    state.objectStore("state").put([...jar], "jar");
    await done(state);
    fresh = undefined;
  } catch {
    kept = undefined;
    tell({ notice: "This browser's storage is full: what you do from now on ends with this tab." });
  }
}
async function emptied() {
  const all = kept.transaction(["state", "items"], "readwrite");
  all.objectStore("items").clear();
  for (const each of KEPT) all.objectStore("state").delete(each);
  await done(all);
}
async function over() {
  if (kept) await emptied();
  kept = undefined;
}

// What an older version of the code kept is set aside, until it is used with this one or deleted.
const KEPT = ["table", "code", "jar"];
async function aside() {
  const held = {}, [keys, items] = await Promise.all([ended(store("items").getAllKeys()), ended(store("items").getAll())]);
  for (const each of KEPT) held[each] = await ended(store("state").get(each));
  await ended(store("state", "readwrite").put({ ...held, keys, items }, "aside"));
  await emptied();
}
async function decided(how) {
  const held = await ended(store("state").get("aside"));
  if (how === "use") {
    await emptied();
    const all = kept.transaction(["state", "items"], "readwrite");
    held.keys.forEach((key, at) => all.objectStore("items").put(held.items[at], key));
    for (const [name, value] of Object.entries({ table: held.table, jar: held.jar, code })) all.objectStore("state").put(value, name);
    await done(all);
  }
  await ended(store("state", "readwrite").delete("aside"));
  tell(how === "use" ? { reload: true } : { notice: "" });
}

async function begin({ origin, base }) {
  const database = opened(`big-time-deals ${base}`).catch(() => undefined);
  const [runtime, first] = await Promise.all([
    loadPyodide({ stdLibURL: new URL("python_stdlib.zip", import.meta.url).href, lockFileContents: lock }),
    bytes("first.zip"),
  ]);
  py = runtime;
  step("Starting Python …", 75);
  py.unpackArchive(first, "zip", { extractDir: "/app" });
  py.runPython(`import sys; sys.dont_write_bytecode = True; sys.path.insert(0, "/app")
from demo import stand_ins
stand_ins.install()`);
  site = py.pyimport("demo.site").begun("/app/rows.json", origin, base);
  step("Reading the table …", 85);
  kept = await database;
  if (!kept) tell({ notice: "This browser keeps nothing here: what you do ends with this tab." });
  fresh = py.FS.readFile("/app/kept.json", { encoding: "utf8" });
  const table = kept && (await ended(store("state").get("table"))), changes = [];
  if (table && (await ended(store("state").get("code"))) === code) {
    const [keys, items] = await Promise.all([ended(store("items").getAllKeys()), ended(store("items").getAll())]);
    for (const at in keys) changes.push([keys[at], items[at] ?? undefined]); // null is not None
    for (const [name, cookie] of (await ended(store("state").get("jar"))) ?? []) jar.set(name, cookie);
    fresh = undefined;
    site.keep(table, py.toPy(changes));
  } else {
    if (table) await aside();
    site.keep(fresh);
  }
  if (kept && (await ended(store("state").get("aside")))) tell({ notice: "What you did here is of an older version of the site, and was set aside.", aside: true });
  step("Drawing the first page …", 92);
  tell({ ready: true });
  rest = later();
  setInterval(() => after(() => site.tick()), 60_000);
}

// What the first page does without comes behind it: pydantic, the pages of members and editors, the lessons.
async function later() {
  py.unpackArchive(await bytes("rest.zip"), "zip", { extractDir: "/app" });
  py.runPython(`import importlib; importlib.invalidate_caches()
for name, module in [*sys.modules.items()]:
    if name.startswith("shared."):  # whose sources are here now, as far as pages show them
        module.__spec__.origin = module.__spec__.origin.removesuffix("c")`);
}

// One thing after the other: Python has one thread, and what was written is kept before the next request is answered.
const after = (act) => (turn = turn.then(act).then(() => write(site.changes().toJs())).catch((error) => console.error(error)));

function take(line) {
  signed = true;
  const [, name, value] = line.match(/^([^=]+)=([^;]*)/), age = line.match(/Max-Age=(\d+)/i);
  if (age?.[1] === "0") jar.delete(name);
  else jar.set(name, { value, until: age ? Date.now() + age[1] * 1000 : Infinity });
}

const special = {
  "/-/as/member": () => site.sign_in("member").toJs(),
  "/-/as/editor": () => site.sign_in("editor").toJs(),
  "/-/over": () => over().then(() => []),
};

const text = (id, status, sentence, type = "text/plain") => ({ id, status, headers: [["Content-Type", `${type}; charset=utf-8`]], content: new TextEncoder().encode(sentence), cookies: [] });

const page = (id, status, title, rest) => text(id, status, `<!doctype html><html lang="en"><title>${title}</title><meta name="viewport" content="width=device-width"><main><h1>${title}</h1>${rest}</main></html>`, "text/html");
const linked = (to) => to.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

// A shop is on another host, and this tab asks none: a page says where the link leads.
const elsewhere = (id, to) => page(id, 200, "Leaving the demo", `<p>The click is counted. The link leads to another site, which the demo does not open by itself, and the sample's shops are invented:</p><p><a target="_blank" rel="noreferrer" href="${linked(to)}">${linked(to)}</a></p>`);

// A browser sends pictures to S3 itself, past the functions.
const refused = (id, from) => page(id, 501, "The demo takes no pictures", `<p>A browser sends them to a bucket of S3, which a tab does not have. The deal is as it was.</p><p><a href="${linked(from)}">Back to the deal</a></p>`);

async function answer({ id, method, path, headers, body }) {
  if (!EARLY.test(path)) await rest;
  if (path === "/-/upload") return refused(id, headers.referer ?? "../desk");
  if (path in special && method === "POST") {
    const cookies = await special[path]();
    cookies.forEach(take);
    return { id, status: 204, headers: [], cookies };
  }
  for (const [name, { until }] of jar) if (until < Date.now()) jar.delete(name);
  const cookie = [...jar].map(([name, { value }]) => `${name}=${value}`).join("; ");
  const got = site.answer(method, path, py.toPy(cookie ? { ...headers, cookie } : headers), body ?? undefined).toJs({ dict_converter: Object.fromEntries });
  const cookies = [], out = [], to = got.headers.find(([name]) => name === "Location")?.[1];
  if (to && new URL(to, location).origin !== location.origin) return elsewhere(id, to);
  for (const [name, value] of got.headers) {
    if (name === "Set-Cookie") { cookies.push(value); take(value); }
    else if (name === "Content-Security-Policy") out.push([name, value.replace("frame-ancestors 'none'", "frame-ancestors 'self'")]);
    else if (name !== "X-Frame-Options") out.push([name, value]);
  }
  return { id, status: got.status, headers: out, content: got.content, cookies };
}

self.onmessage = ({ data }) => {
  if (data.aside) decided(data.aside);
  else if (data.begin) turn = begin(data).catch((error) => tell({ failed: `The site could not be started (${error.message}). Check the connection, and reload the page.` }));
  else after(async () => {
    const got = await answer(data).catch((error) => {
      console.error(error);
      return text(data.id, 500, "Something went wrong in this tab: reload it.");
    });
    tell({ ...got, cookies: got.cookies.filter((line) => !/HttpOnly/i.test(line)) });
    if (data.method === "POST") setTimeout(() => after(() => rest.then(() => site.follow())), 100); // the page that it leads to comes first
  });
};
