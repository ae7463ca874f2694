// The modeller where scripts run: the page is drawn anew after each edit, and its address holds the model. Answers are read
// as documents, because no text may become HTML here.
const main = document.getElementById("main");
const form = () => document.getElementById("model");
const packed = "m=";

const ask = (address, fields) => new Promise((resolve) => {
  const asked = new XMLHttpRequest();
  asked.open("POST", address);
  asked.responseType = "document";
  asked.onloadend = () => resolve(asked.response);
  asked.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
  asked.send(new URLSearchParams(fields));
});

// While a button is held down or a text is composed, the page stays as it is: a click or a text would be lost.
const held = new Set();
const free = [];
const holds = (begins, ends, what) => {
  addEventListener(begins, () => held.add(what), true);
  for (const each of ends) addEventListener(each, () => setTimeout(() => {
    held.delete(what);
    if (!held.size) free.splice(0).forEach((go) => go());
  }), true);
};
holds("pointerdown", ["pointerup", "pointercancel"], "pointer");
holds("compositionstart", ["compositionend"], "text");
const whenFree = () => held.size ? new Promise((go) => free.push(go)) : undefined;

// The fields of a form by name, and the same as a text.
const valuesOf = (own) => new Map([...own?.elements ?? []].filter((each) => each.name && each.type !== "hidden" && !each.matches("button"))
  .map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value]));

const told = (own) => JSON.stringify([...valuesOf(own)]);

// What was typed since a form was sent stays: it is newer than the answer, which has no spaces at a text's end.
const keepTyped = (sent, next) => {
  for (const [name, value] of valuesOf(form())) {
    const field = next.elements[name];
    if (!field || (sent.get(name) === value && name !== document.activeElement.name)) continue;
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
  }
};

let latest = 0, drawn = "";
const draw = async (fields, kept, button) => {
  const own = ++latest, sent = valuesOf(form());
  drawn = told(form());
  const page = await ask(form()?.action ?? main.querySelector("form.open").action, fields);
  await whenFree();
  if (own !== latest) return; // an edit since then is drawn instead
  const whole = page?.getElementById("main"), next = whole?.querySelector("#model");
  if (!next && form()) {
    form().submit(); // the browser shows what is wrong
    return;
  }
  if (!next) {
    if (whole) main.replaceChildren(...[...whole.childNodes].map((each) => document.adoptNode(each)));
    return;
  }
  const link = `#${packed}${next.elements.was.value}`;
  drawn = told(next);
  if (["replaced", "run"].includes(kept) || button?.name === "add") keepTyped(sent, next);
  replace(whole, kept, button);
  document.title = page.title;
  if (kept === "tried") history.pushState(null, "", link);
  else if (kept) history.replaceState(null, "", link);
  if (kept === "run") document.getElementById("came")?.scrollIntoView({block: "center"});
};

// Put another page in the place of this one; the field that has the focus keeps it, with its caret and its place.
const replace = (next, kept, button) => {
  const before = document.activeElement, top = before?.getBoundingClientRect().top, from = scrollY;
  const caret = before?.matches("input[type=text], textarea") ? [before.selectionStart, before.selectionEnd] : null;
  const opened = [...main.querySelectorAll("fieldset details")].map((each) => each.open);
  main.replaceChildren(...[...next.childNodes].map((each) => document.adoptNode(each)));
  if (kept !== "tried") main.querySelectorAll("fieldset details").forEach((each, at) => { each.open ||= !!opened[at]; });
  begin();
  scrollTo({top: from, behavior: "instant"});
  const added = button?.name === "add" && [...main.querySelectorAll(`[name^="${button.value}."][name$=".name"]`)].at(-1);
  if (added) {
    added.focus();
    added.select();
    return;
  }
  const fields = [...form().elements], again = before?.name && fields.find((each) => each.name === before.name && (caret || each.value === before.value));
  (again || (button && form().querySelector("[name=undo]")))?.focus({preventScroll: true}); // a button may be gone
  if (!again) return;
  if (caret) again.setSelectionRange(...caret);
  if (kept === "replaced") scrollBy({top: again.getBoundingClientRect().top - top, behavior: "instant"});
};

// The next field has the focus a moment later. A change and the loss of the focus are one edit: were they two, what is typed
// between them would be a second.
let edited = 0;
const onEdit = () => {
  clearTimeout(edited);
  edited = setTimeout(() => { if (told(form()) !== drawn) draw(new FormData(form()), "replaced"); });
};

const onSubmit = (event) => {
  const button = event.submitter;
  if (button?.name === "as") return; // a file is saved
  event.preventDefault();
  const kept = button?.name === "run" ? "run" : /^(try|add|remove|undo)/.test(button?.name) ? "tried" : "replaced";
  draw(new FormData(form(), button), kept, button);
};

const begin = () => {
  const own = form();
  if (own) {
    drawn ||= told(own);
    own.onchange = onEdit;
    own.addEventListener("focusout", onEdit);
    own.onsubmit = onSubmit;
    const copy = own.querySelector("[data-link]"), print = own.querySelector("[data-print]");
    copy.hidden = print.hidden = false;
    copy.onclick = () => navigator.clipboard.writeText(location.href).then(() => { copy.textContent = "Copied"; });
    print.onclick = () => window.print();
  }
  const file = document.getElementById("f-file");
  file.hidden = main.querySelector("[data-file]").hidden = false;
  file.onchange = async () => draw({open: 1, model: await file.files[0].text()}, "tried");
};

const read = () => {
  const found = location.hash.slice(1);
  if (found.startsWith(packed)) draw({open: 1, link: found.slice(packed.length)}, "");
};

document.addEventListener("keydown", (event) => {
  if (event.key === "z" && event.ctrlKey && !event.target.matches("input, textarea, select")) form()?.querySelector("[name=undo]")?.click();
});
addEventListener("popstate", read);
begin();
read();
