// The page around the site: starts it, hands on what the service worker asks for, and keeps the address and the title.
const part = (id) => document.getElementById(id), { build, code } = document.documentElement.dataset;
const root = new URL(".", location).pathname, base = `${root}site`, lock = `big-time-deals ${root}`;
const frame = part("site"), others = channel(), waiting = new Map();
const path = (address) => (new URL(address).hash.startsWith("#/") ? new URL(address).hash.slice(1) : "/");
let worker, me, version, last = 0, shown = false, failed = false;

// To the other tabs of the demo. Firefox throws where the page may store nothing; then there is no service worker either.
function channel() {
  try {
    return new BroadcastChannel(lock);
  } catch {
    return { postMessage() {} };
  }
}

const step = (text, percent) => { if (failed) return; part("step").textContent = text; if (percent) part("bar").value = percent; };

function fail(sentence) {
  step(sentence);
  failed = true; // what loads meanwhile still reports its progress
  part("bar").hidden = frame.hidden = true;
  part("start").hidden = false;
}

// What was done here on another day is shown as of today.
function dated({ of, moved }) {
  const day = new Date(of).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  part("kept").textContent = ` What you did here is from ${day}${moved ? ", with its dates moved to today" : ""}.`;
}

// A sentence under the line, with buttons: what is not kept, or was set aside.
function notice(sentence, actions = {}) {
  const button = ([name, act]) => Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: act });
  part("notice").replaceChildren(sentence, ...Object.entries(actions).map(button));
  part("notice").hidden = !sentence;
}

// Each version of the code keeps a table of its own. An older one's is set aside, until it is used or deleted.
async function kept() {
  const mine = `${lock} ${code}`;
  try {
    const found = (await indexedDB.databases()).map(({ name }) => name).filter((name) => name.startsWith(`${lock} `));
    const [version, chosen] = JSON.parse(localStorage.getItem(lock) ?? "[]");
    const name = version === code && found.includes(chosen) ? chosen : mine, old = found.filter((each) => each !== name);
    const without = (names) => Promise.all(names.map((each) => new Promise((resolve) => { indexedDB.deleteDatabase(each).onsuccess = resolve; })));
    const use = async () => {
      localStorage.setItem(lock, JSON.stringify([code, old.at(-1)]));
      worker?.terminate();
      await without([name, ...old.slice(0, -1)]);
      others.postMessage("over");
      location.reload();
    };
    if (old.length) notice("What you did here is of an older version of the site, and was set aside.", { "Use it": use, "Delete it": () => without(old).then(() => notice("")) });
    return name;
  } catch {
    return mine; // where nothing may be kept, the worker says so when something is to be
  }
}

// The site takes the place of the start, as soon as its page is there: its pictures come behind it.
function reveal() {
  if (failed || !frame.hidden) return;
  part("start").hidden = true;
  part("tools").hidden = frame.hidden = false;
  frame.focus();
  performance.mark("first page");
  worker?.postMessage({ more: true });
}

function show() {
  if (shown) return;
  shown = true;
  frame.contentWindow.location.replace(base + path(location));
  const seen = setInterval(() => {
    const page = frame.contentDocument;
    if (!page?.styleSheets.length || !page.querySelector("main")) return;
    clearInterval(seen);
    reveal();
  }, 50);
}

frame.onload = () => {
  const { pathname, search, hash } = frame.contentWindow.location;
  if (!shown || !pathname.startsWith(base)) return;
  reveal();
  history.replaceState(null, "", `#${pathname.slice(base.length)}${search}${hash}`);
  document.title = frame.title = frame.contentDocument.title;
};

// Not location's hash: a page that comes meanwhile has put its own there.
addEventListener("hashchange", ({ newURL }) => { if (shown) frame.contentWindow.location = base + path(newURL); });
others.onmessage = () => location.reload();

for (const button of document.querySelectorAll("[data-as]")) button.onclick = async () => {
  const { as } = button.dataset;
  await fetch(`${base}/-/as/${as}`, { method: "POST" });
  frame.contentWindow.location = base + button.dataset.place;
  frame.focus();
};

for (const button of document.querySelectorAll("[data-to]")) button.onclick = () => {
  frame.contentWindow.location = base + button.dataset.to;
  frame.focus();
};

part("over").onclick = async () => {
  if (!confirm("Start over? Everything you did in this demo goes.")) return;
  await fetch(`${base}/-/over`, { method: "POST" });
  others.postMessage("over");
  location.reload();
};

// This tab runs the site from now on, and answers for the others.
async function lead() {
  worker = new Worker(`${build}/worker.mjs`, { type: "module" });
  worker.onerror = () => fail("The site could not be loaded: its files are gone, or a newer version was published. Check the connection, and reload the page.");
  worker.onmessage = ({ data }) => {
    if (data.step) step(data.step, data.percent);
    else if (data.failed) fail(data.failed);
    else if (data.notice) notice(data.notice);
    else if (data.of) dated(data);
    else if (data.ticked) frame.dataset.ticked = "yes";
    else {
      for (const line of data.cookies) document.cookie = line;
      waiting.get(data.id)?.postMessage(data, data.content ? [data.content.buffer] : []);
      waiting.delete(data.id);
    }
  };
  worker.postMessage({ begin: true, origin: location.origin, base, name: await kept() });
  setInterval(() => worker.postMessage({ tick: true }), 60_000);
  return navigator.locks.request(`${lock} at ${me}`, () => {
    show(); // answered as soon as the site is there
    return new Promise(() => {}); // held as long as the tab is there
  });
}

navigator.serviceWorker?.addEventListener("message", ({ data, ports: [port] }) => {
  if (data.you) [me, version] = [data.you, data.version];
  if (!port) return;
  waiting.set(++last, port);
  worker.postMessage({ ...data, id: last });
});

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const taken = async () => (await navigator.locks.query()).held.some(({ name }) => name.startsWith(lock));

// A version that was published meanwhile takes over before anything starts. A tab that runs the older one keeps it.
async function renewed(registration) {
  if (!registration.active) return false;
  await Promise.race([registration.update().catch(() => {}), pause(5000)]);
  const next = registration.installing ?? registration.waiting;
  if (!next) return false;
  while (next.state === "installing") await new Promise((resolve) => next.addEventListener("statechange", resolve, { once: true }));
  for (let tries = 0; await taken(); tries++) { // a tab that was just closed holds its lock for a moment
    if (tries === 10) return false;
    await pause(100);
  }
  if (next.state !== "installed") return next.state !== "redundant"; // it has taken over already
  const changed = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  next.postMessage("take over");
  await Promise.race([changed, pause(5000)]);
  return true;
}

async function start() {
  if (!("WebAssembly" in self)) return fail("This browser has no WebAssembly. Try a current Firefox, Chrome, Edge or Safari.");
  if (!navigator.serviceWorker || !navigator.locks) return fail("This browser allows no service worker here, as in some private windows. Open the page in an ordinary window, over HTTPS.");
  try {
    if (await renewed(await navigator.serviceWorker.register("sw.js", { updateViaCache: "none" }))) return location.reload();
    navigator.serviceWorker.startMessages();
    while (!me || !navigator.serviceWorker.controller) {
      (await navigator.serviceWorker.ready).active.postMessage("mine?"); // whichever is active by now
      await pause(50);
    }
    if (version !== build && !sessionStorage.getItem(lock)) { // the page is of an older version: a cache of HTTP had it
      sessionStorage.setItem(lock, version);
      return location.reload();
    }
  } catch (error) {
    return fail(`This browser could not start the service worker (${error.message}). Allow the page to store data, or check the connection, and reload.`);
  }
  const first = await new Promise((resolve) => {
    navigator.locks.request(lock, { ifAvailable: true }, (held) => { resolve(held); return held && lead(); });
  });
  if (first) return;
  show();
  navigator.locks.request(lock, lead);
}
start().catch((error) => fail(`The site could not be started (${error.message}). Allow the page to store data, and reload.`));
