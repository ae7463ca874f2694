// A list that editors order can also be dragged. What is dropped is sent by the same form as the buttons.
const form = document.getElementById("order"), rows = form?.querySelectorAll("tbody tr") ?? [];
let held;

for (const row of rows) {
  row.draggable = true;
  row.ondragstart = () => { held = row; row.classList.add("held"); };
  row.ondragover = (event) => {
    event.preventDefault();
    const {top, height} = row.getBoundingClientRect();
    if (held && held !== row) row[event.clientY < top + height / 2 ? "before" : "after"](held);
  };
  row.ondragend = () => {
    row.classList.remove("held");
    const order = [...row.parentNode.children].map((each) => each.dataset.number).join();
    if (order === form.elements.order.value) return;
    form.elements.order.value = order;
    form.submit();
  };
}
