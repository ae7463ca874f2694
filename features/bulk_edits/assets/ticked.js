// The bar below the list of deals counts those that are selected, and ticks all of the page.
const form = document.getElementById("ticked"), count = form.querySelector("output"), all = document.getElementById("all");
const boxes = [...form.querySelectorAll(".tick input")], matching = form.querySelector("[name=all]");

const say = () => {
  const ticked = boxes.filter((box) => box.checked).length;
  count.textContent = matching?.checked ? `All ${matching.dataset.all ?? "that match"} selected`
    : ticked ? `${ticked} of ${boxes.length} selected` : "Nothing selected";
  all.checked = ticked === boxes.length;
  all.indeterminate = ticked > 0 && ticked < boxes.length;
};

all.closest("label").hidden = false;
all.onchange = () => {
  for (const box of boxes) box.checked = all.checked;
  say();
};
form.addEventListener("change", say);
addEventListener("pageshow", say); // a browser that goes back ticks the boxes again
