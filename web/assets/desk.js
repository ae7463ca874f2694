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
const telling = document.getElementById("telling"), again = document.getElementById("again");

const look = async () => {
  const answer = await fetch(location.pathname, {headers: {Accept: "application/json"}});
  if (!answer.ok) throw answer;
  const now = await answer.json();
  for (const each of telling.querySelectorAll("[data-says]")) {
    const text = now[each.dataset.says];
    if (text !== each.textContent) each.textContent = text;
  }
  document.title = document.title.replace(/.*(?= · )/, now.title);
  if (now.most) Object.assign(telling.querySelector("progress"), {max: now.most, value: now.reached});
  if (now.finished) document.querySelector(".notice")?.remove();
  return now.finished;
};

if (telling) {
  again.hidden = true;
  try {
    while (!await look()) await new Promise((done) => setTimeout(done, 2000));
  } catch {
    again.hidden = false;
  }
}

// A picture can also be dropped on the page of its deal, or pasted: it is put into the form's field, and sent by the form.
const file = document.getElementById("f-file");

const take = (event, files) => {
  const [first] = files ?? [];
  if (!first) return;
  event.preventDefault();
  file.files = files;
  file.onchange();
  file.form.querySelector("button").focus();
};

if (file) {
  document.querySelector("[data-drop]").hidden = false;
  file.onchange = () => {
    const [first] = file.files;
    file.form.elements["Content-Type"].value = first?.type || "image/*";
    file.setCustomValidity(first?.size > file.dataset.most ? "This file is too large." : "");
    file.reportValidity();
  };
  document.ondragover = (event) => event.dataTransfer.types.includes("Files") && event.preventDefault();
  document.ondrop = (event) => take(event, event.dataTransfer.files);
  document.onpaste = (event) => take(event, event.clipboardData.files);
}
