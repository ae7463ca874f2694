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

// The page of a hot deal's progress, or of another long work, looks again by itself and shows in place what has changed: the
// keyboard and what is read aloud stay where they are. One with results loads them at the end.
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
    if ("results" in progress.dataset) location.reload();
  } catch {
    again.hidden = false;
  }
}
