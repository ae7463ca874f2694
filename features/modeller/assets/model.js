// The modeller where scripts run: the page is drawn anew after each edit, and its address holds the model. Answers are read
// as documents, because no text may become HTML here.
const main = document.getElementById("main");
const form = () => document.getElementById("model");
const packed = "m=";

const through = async (bytes, stream) => {
  let left = 1e6; // of a link that was made to grow without end
  const parts = [], reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  try {
    for (let part = await reader.read(); !part.done && left > 0; part = await reader.read()) {
      parts.push(part.value);
      left -= part.value.length;
    }
  } catch { /* A link that was cut: what came of it is read, and the page says so. */ }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
};

const toLink = async (text) => {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  return btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};

const fromLink = async (text) => {
  let bytes;
  try {
    const whole = text.replaceAll("-", "+").replaceAll("_", "/");
    bytes = Uint8Array.from(atob(whole.slice(0, whole.length - (whole.length % 4 === 1))), (each) => each.charCodeAt(0));
  } catch { return ""; }
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
};

const ask = (address, fields) => new Promise((resolve) => {
  const asked = new XMLHttpRequest();
  asked.open("POST", address);
  asked.responseType = "document";
  asked.onloadend = () => resolve(asked.response);
  asked.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
  asked.send(new URLSearchParams(fields));
});

let latest = 0;
const draw = async (fields, kept, focus) => {
  const own = ++latest, page = await ask(form()?.action ?? main.querySelector("form.open").action, fields);
  if (own !== latest) return; // an edit since then is drawn instead
  const next = page?.getElementById("main");
  if (!next?.querySelector("#model")) {
    form()?.submit(); // the browser shows what is wrong
    return;
  }
  const link = `#${packed}${await toLink(next.querySelector("#model").elements.was.value)}`;
  if (own !== latest) return;
  const opened = [...main.querySelectorAll("fieldset details")].map((each) => each.open);
  const top = scrollY;
  document.title = page.title;
  main.replaceChildren(...[...next.childNodes].map((each) => document.adoptNode(each)));
  if (kept !== "tried") main.querySelectorAll("fieldset details").forEach((each, at) => { each.open ||= !!opened[at]; });
  begin();
  if (focus) form().elements[focus]?.focus?.({preventScroll: true});
  scrollTo({top, behavior: "instant"});
  if (kept === "tried") history.pushState(null, "", link);
  else if (kept) history.replaceState(null, "", link);
  if (kept === "run") document.getElementById("came")?.scrollIntoView({block: "center"});
};

const open = async (text, kept = "replaced") => draw({open: 1, model: text}, kept);

const onEdit = ({target}) => {
  if (!target.name) return;
  // The next field has the focus a moment later.
  setTimeout(() => draw(new FormData(form()), "replaced", document.activeElement?.name));
};

const onSubmit = (event) => {
  const button = event.submitter;
  if (button?.name === "as") return; // a file is saved
  event.preventDefault();
  const kept = button?.name === "run" ? "run" : /^(try|add|remove|undo)/.test(button?.name) ? "tried" : "replaced";
  draw(new FormData(form(), button), kept);
};

const begin = () => {
  const own = form();
  if (own) {
    own.onchange = onEdit;
    own.onsubmit = onSubmit;
    const copy = own.querySelector("[data-link]"), print = own.querySelector("[data-print]");
    copy.hidden = print.hidden = false;
    copy.onclick = () => navigator.clipboard.writeText(location.href).then(() => { copy.textContent = "Copied"; });
    print.onclick = () => window.print();
  }
  const file = document.getElementById("f-file");
  file.hidden = main.querySelector("[data-file]").hidden = false;
  file.onchange = async () => open(await file.files[0].text(), "tried");
};

const read = async () => {
  const found = location.hash.slice(1);
  if (found.startsWith(packed)) await open(await fromLink(found.slice(packed.length)), "");
};

document.addEventListener("keydown", (event) => {
  if (event.key === "z" && event.ctrlKey && !event.target.matches("input, textarea, select")) form()?.querySelector("[name=undo]")?.click();
});
addEventListener("popstate", read);
begin();
read();
