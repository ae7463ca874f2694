// CPython with the site in it, the cookies that no script may see, and what is kept from one visit to the next.
import { lock, made, sizes } from "./build.mjs";
import { loadPyodide } from "./pyodide.mjs";

const total = Object.values(sizes).reduce((sum, each) => sum + each);
const EARLY = /^\/($|\?|assets\/|pictures\/|my\/status|site\.webmanifest)/; // what the first archive answers
const post = (message, moved) => self.postMessage(message, moved);
const step = (text, percent) => post({ step: text, percent });
let py, site, rest, loaded = 0, following = false, turn = Promise.resolve();

// What Pyodide and this load, with the bytes counted as they come: of a copy, for browsers keep what they compiled of
// WebAssembly only where its answer is untouched. What is here from a visit before comes at once, and costs no copy.
const asked = self.fetch;
self.fetch = async (address, options) => {
  const here = await caches.match(address).catch(() => {}), answer = await asked(address, options);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  if (here) return answer;
  const counted = new WritableStream({
    write(chunk) {
      loaded += chunk.length;
      if (!site) step("Loading …", (70 * loaded) / total);
    },
  });
  answer.clone().body.pipeTo(counted).catch(() => {}); // who reads the answer itself hears of it
  return answer;
};
const bytes = async (name) => (await fetch(new URL(name, import.meta.url))).arrayBuffer();
const unpacked = (content) => py.globals.get("unpack")(content);

// What is kept, from the first thing that is done: the table that the visit began with, the cookies, the items since then.
// A table that was moved to today is kept whole, in the place of what there was.
const kept = { name: "", database: undefined, table: undefined, whole: false, unsaved: new Map(), touched: false };
const jar = new Map();
const ended = (request) => new Promise((resolve, reject) => {
  request.onsuccess = request.oncomplete = () => resolve(request.result);
  request.onerror = request.onabort = () => reject(request.error);
});
function opened() {
  const request = indexedDB.open(kept.name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore("kept");
  return ended(request);
}
async function held() {
  const names = await indexedDB.databases().catch(() => []);
  if (!names.some(({ name }) => name === kept.name)) return new Map();
  kept.database = await opened();
  const store = kept.database.transaction("kept").objectStore("kept");
  const [keys, values] = await Promise.all([ended(store.getAllKeys()), ended(store.getAll())]);
  return new Map(keys.map((key, at) => [key, values[at]]));
}
async function write() {
  for (const [key, item] of site.changes().toJs()) kept.unsaved.set(key, item ?? null);
  if (!kept.touched || !kept.unsaved.size) return;
  try {
    kept.database ??= await opened();
    kept.table ??= site.kept();
    const change = kept.database.transaction("kept", "readwrite"), store = change.objectStore("kept");
    if (kept.whole) store.clear();
    for (const [key, item] of [["table", kept.table], ["jar", [...jar]], ["records", site.pending()], ["clock", Date.now()], ...kept.unsaved]) store.put(item, key);
    await ended(change);
    kept.unsaved.clear();
    kept.whole = false;
  } catch (error) {
    kept.touched = false;
    const full = error.name === "QuotaExceededError";
    const why = full ? "This browser’s storage is full: make room" : "This browser keeps nothing for this page: open it in an ordinary window";
    post({ notice: `${why}, or what you do here ends with this tab.` });
  }
}
async function over() {
  kept.database?.close();
  kept.database = undefined;
  await ended(indexedDB.deleteDatabase(kept.name));
}

async function begin({ origin, base, name }) {
  kept.name = name;
  const before = held().catch(() => new Map());
  const [runtime, first] = await Promise.all([
    loadPyodide({ stdLibURL: new URL("python_stdlib.zip", import.meta.url).href, lockFileContents: lock }),
    bytes("first"),
  ]);
  py = runtime;
  const found = await before, of = found.get("clock");
  step("Starting Python …", 75);
  py.runPython(`import gc, sys
gc.disable()  # what the start makes stays, so there is nothing to look for
sys.dont_write_bytecode = True
sys.path.append("/app")

def unpack(archive):
    import marshal, os
    files = marshal.loads(archive.to_bytes())
    for folder in {os.path.dirname(name) for name in files}:
        os.makedirs(f"/app/{folder}", exist_ok=True)
    for name, content in files.items():
        with open(f"/app/{name}", "wb", buffering=0) as file:
            file.write(content)
    for name, module in [*sys.modules.items()]:  # packages of Python's library that have a part there
        if hasattr(module, "__path__") and (getattr(module, "__file__", None) or "").startswith("/lib/"):
            module.__path__.append("/app/" + name.replace(".", "/"))
    sys.path_importer_cache.clear()`);
  unpacked(first);
  py.runPython("from demo import stand_ins; stand_ins.install()");
  site = py.pyimport("demo.site").begun("/app/rows.json", origin, base);
  step("Reading the table …", 85);
  const table = found.get("table") ?? py.FS.readFile("/app/kept.json", { encoding: "utf8" });
  const changes = [...found].filter(([key]) => key.startsWith("[")).map(([key, item]) => [key, item ?? undefined]); // null is not None
  const days = site.keep(table, py.toPy(changes), found.get("records") ?? "[]", of ? of / 1000 : made);
  if (days) kept.whole = true;
  else kept.table = table;
  for (const [key, { value, until }] of found.get("jar") ?? []) jar.set(key, { value, until: until + days * 86_400_000 });
  if (of) post({ of, moved: days !== 0 });
  py.runPython("gc.freeze(); gc.enable()");
  step("Drawing the first page …", 92);
}

// The second archive, from when the first page is there, or something of it is asked.
function more() {
  rest ??= bytes("rest").then((archive) => {
    unpacked(archive);
    py.runPython(`for name, module in [*sys.modules.items()]:
    if name.startswith("shared."):  # whose sources are here now, as far as pages show them
        module.__spec__.origin = module.__spec__.origin.removesuffix("c")`);
  }).catch((error) => {
    rest = undefined; // the next page tries again
    throw error;
  });
  return rest;
}

// One thing after the other: Python has one thread, and each write is kept before the next request is answered.
const after = (act) => (turn = turn.then(act).then(() => site && write()).catch((error) => console.error(error)));

function take(line) {
  const [, name, value] = line.match(/^([^=]+)=([^;]*)/), age = line.match(/Max-Age=(\d+)/i);
  if (age?.[1] === "0") jar.delete(name);
  else jar.set(name, { value, until: age ? Date.now() + age[1] * 1000 : Infinity });
}

const text = (status, sentence, type = "text/plain") =>
  ({ status, headers: [["Content-Type", `${type}; charset=utf-8`]], content: new TextEncoder().encode(sentence), cookies: [] });
const page = (status, title, sentence, to, link, more = "") => {
  const [address, label] = [to, link].map((each) => each.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;"));
  const main = `<main><h1>${title}</h1><p>${sentence}</p><p><a ${more}href="${address}">${label}</a></p></main>`;
  return text(status, `<!doctype html><html lang="en"><title>${title}</title><meta name="viewport" content="width=device-width">${main}</html>`, "text/html");
};
const LEAVING = "The click is counted. The link leads to another site, which the demo does not open by itself, and the sample’s shops are invented:";
// A form with files: its fields as of any other form, and the files beside them.
async function apart(fields) {
  const texts = fields.filter(([, value]) => typeof value === "string"), files = fields.filter(([, value]) => typeof value !== "string");
  const contents = await Promise.all(files.map(async ([name, file]) => [name, new Uint8Array(await file.arrayBuffer())]));
  return [new URLSearchParams(texts).toString(), new Map(contents)];
}
const NO_PICTURES = "A browser sends them to a bucket of S3, which a tab does not have. The deal is as it was.";

async function answer({ method, path, headers, body }) {
  if (!EARLY.test(path)) await more();
  kept.touched ||= method === "POST";
  if (path === "/-/upload") return page(501, "The demo takes no pictures", NO_PICTURES, headers.referer ?? "../", "Back to the deal");
  if (path.startsWith("/-/") && method === "POST") {
    if (path === "/-/over") await over();
    const cookies = path.startsWith("/-/as/") ? site.sign_in(path.slice(6)).toJs() : [];
    cookies.forEach(take);
    return { status: 204, headers: [], cookies };
  }
  for (const [name, { until }] of jar) if (until < Date.now()) jar.delete(name);
  const cookie = [...jar].map(([name, { value }]) => `${name}=${value}`).join("; ");
  let files = new Map();
  if (Array.isArray(body)) {
    [body, files] = await apart(body);
    headers["content-type"] = "application/x-www-form-urlencoded";
  }
  const ask = () => site.answer(method, path, py.toPy(cookie ? { ...headers, cookie } : headers), body ?? undefined, py.toPy(files)).toJs({ dict_converter: Object.fromEntries });
  let got = ask();
  if (got.status === 500 && EARLY.test(path)) got = await more().then(ask);
  const to = got.headers.find(([name]) => name === "Location")?.[1];
  if (to && new URL(to, location).origin !== location.origin) return page(200, "Leaving the demo", LEAVING, to, to, 'target="_blank" rel="noreferrer" ');
  const cookies = got.headers.filter(([name]) => name === "Set-Cookie").map(([, value]) => value);
  cookies.forEach(take);
  const shown = got.headers.filter(([name]) => name !== "Set-Cookie" && name !== "X-Frame-Options"); // it is in this page's frame
  return { ...got, cookies, headers: shown.map(([name, value]) => [name, value.replace("frame-ancestors 'none'", "frame-ancestors 'self'")]) };
}

// The stream's readers, a part of the records at a time: pages that are asked for come between.
function follow() {
  following = true;
  after(async () => {
    following = false;
    await more();
    if (site.follow_some()) {
      following = true;
      setTimeout(follow);
    }
  });
}

self.onmessage = ({ data }) => {
  if (data.begin) turn = begin(data).catch((error) => post({ failed: `The site could not be started (${error.message}). Check the connection, and reload the page.` }));
  else if (data.more) more().then(follow).catch((error) => console.error(error)); // what a closed tab left
  else if (data.tick) after(() => site && !following && more().then(() => site.tick()).then(() => post({ ticked: true })));
  else after(async () => {
    const got = await answer(data).catch((error) => {
      console.error(error);
      return text(500, "Something went wrong in this tab: reload it.");
    });
    post({ ...got, id: data.id, cookies: got.cookies.filter((line) => !/HttpOnly/i.test(line)) });
    if (data.method === "POST") setTimeout(follow, 100); // the page that it leads to comes first
  });
};
