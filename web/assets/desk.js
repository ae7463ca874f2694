// A list that editors order can also be dragged. What is dropped is sent by the same form as the buttons; a drag that is
// cancelled, or ends outside the list, leaves the list as it was.
const form = document.getElementById("order"), list = form?.querySelector("tbody"), rows = list ? [...list.rows] : [];
let held;

for (const row of rows) {
  row.draggable = true;
  row.ondragstart = () => { held = row; row.classList.add("held"); };
  row.ondragenter = row.ondragover = (event) => {
    if (!held) return;
    event.preventDefault();
    const {top, height} = row.getBoundingClientRect();
    if (held !== row) row[event.clientY < top + height / 2 ? "before" : "after"](held);
  };
  row.ondrop = (event) => {
    if (!held) return;
    event.preventDefault();
    held = undefined;
    const order = [...list.rows].map((each) => each.dataset.number).join();
    if (order === form.elements.order.value) return;
    form.elements.order.value = order;
    form.submit();
  };
  row.ondragend = () => {
    row.classList.remove("held");
    if (held) list.append(...rows);
    held = undefined;
  };
}

// The page of a hot deal's progress looks again by itself and shows in place what has changed: the keyboard and what is
// read aloud stay where they are.
const progress = document.getElementById("progress"), again = document.getElementById("again");

const look = async () => {
  const answer = await fetch(location.pathname, {headers: {Accept: "application/json"}});
  if (!answer.ok) throw answer;
  const now = await answer.json();
  for (const each of progress.querySelectorAll("[data-says]")) {
    const text = now[each.dataset.says];
    if (text !== each.textContent) each.textContent = text;
  }
  document.title = document.title.replace(/.*(?= · )/, now.title);
  if (now.most) Object.assign(progress.querySelector("progress"), {max: now.most, value: now.reached});
  if (now.finished) document.querySelector(".notice")?.remove();
  return now.finished;
};

if (progress) {
  again.hidden = true;
  try {
    while (!await look()) await new Promise((done) => setTimeout(done, 2000));
  } catch {
    again.hidden = false;
  }
}

// A picture can also be dropped on the page of its deal, or pasted: it is put into the form's field, and sent by the form.
// That of a new deal goes once the deal is posted, by the form on the page that posting leads to. Until then the answers,
// which may be errors or a preview, are shown here: a page that the browser went to would not have the file.
const main = document.querySelector("main");
let file;

const take = (event, files) => {
  if (!files?.length) return;
  event.preventDefault();
  file.files = files;
  file.onchange();
  file.focus();
};

const ready = (taken) => {
  file = document.getElementById("f-file");
  if (!file) return;
  for (const each of document.querySelectorAll("[data-drop]")) each.hidden = false;
  file.onchange = () => {
    const [first] = file.files, {elements} = file.form;
    if (elements["Content-Type"]) elements["Content-Type"].value = first?.type || "image/*";
    file.setCustomValidity(first?.size > file.dataset.most ? "This file is too large." : "");
    file.reportValidity();
  };
  if (!taken) return;
  file.files = taken;
  file.onchange();
};

const answered = (form, action) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("POST", action);
  request.responseType = "document";
  request.onload = () => request.response ? done(request) : failed();
  request.onerror = failed;
  request.send(new URLSearchParams(new FormData(form)));
});

ready();
if (file) {
  document.ondragover = (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); };
  document.ondrop = (event) => take(event, event.dataTransfer.files);
  // A text that is copied may come with its picture.
  document.onpaste = (event) => {
    if (!event.clipboardData.types.includes("text/plain")) take(event, event.clipboardData.files);
  };
}
if (file && !file.name) main.onsubmit = async (event) => {
  const {target, submitter} = event, taken = file?.files;
  if (file?.name || !taken?.length) return;
  event.preventDefault();
  if (main.ariaBusy) return;
  main.ariaBusy = "true";
  try {
    const {response, responseURL} = await answered(target, submitter?.getAttribute("formaction") ?? target.action);
    if (!response.getElementById("f-file")) return location.assign(responseURL);  // a draft, which has no picture
    main.replaceChildren(...response.querySelector("main").childNodes);
    document.title = response.title;
    ready(taken);
    scrollTo(0, 0);
    if (file?.name) {
      history.replaceState(null, "", responseURL);
      file.form.submit();
    } else main.querySelector("[role=alert]")?.focus();
  } catch {
    target.submit();
  }
  main.ariaBusy = null;
};
