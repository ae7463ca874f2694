const root = document.documentElement, base = root.dataset.base;
const all = (what, from = document) => from.querySelectorAll(what);

// Ends: in the reader's own zone, and in the last day what is left.
for (const time of all("time[data-ends], time[data-local]")) {
  const when = new Date(time.dateTime), left = when - Date.now();
  if ("ends" in time.dataset && left > 0 && left < 864e5)
    time.textContent = left < 36e5 ? `in ${Math.ceil(left / 6e4)} min` : `in ${Math.floor(left / 36e5)} h`;
  else if ("local" in time.dataset)
    time.textContent = when.toLocaleString("en-GB", {day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short"});
  time.title = when.toLocaleString();
}

// A bar that is wider than the screen begins where the reader is.
for (const place of all("nav [aria-current]")) {
  const bar = place.closest("ul");
  if (place.offsetLeft + place.offsetWidth > bar.clientWidth) bar.scrollLeft = place.offsetLeft - 48;
}

for (const button of all("[data-copy]")) {
  button.hidden = false;
  button.onclick = () => navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = "Copied"; });
}

for (const box of all("[data-filter]")) {
  box.hidden = false;
  box.oninput = ({target}) => {
    for (const item of all(".names li")) item.hidden = !item.textContent.toLowerCase().includes(target.value.trim().toLowerCase());
    for (const part of all("[data-letter]")) part.hidden = !part.querySelector("li:not([hidden])");
  };
}

// What only the reader has: the unread count, and what a toggle stands for. The page itself is everybody's.
const show = (form, on) => {
  const button = form.querySelector("button"), other = button.dataset.on;
  if ((button.ariaPressed === "true") === on) return;
  button.dataset.on = button.textContent;
  button.textContent = other;
  button.ariaPressed = on;
  form.elements.on.value = on ? "0" : "1";
};

if (/(^|; )btd-in=/.test(document.cookie)) {
  const asked = new URLSearchParams(all("main [data-asks]")[0]?.dataset.asks);
  const mine = await (await fetch(`${base}/my/status?${asked}`, {headers: {Accept: "application/json"}})).json();
  const count = document.getElementById("unread");
  count.hidden = !mine.unread;
  count.textContent = mine.unread;
  count.ariaLabel = `${mine.unread} unread`;
  for (const form of all("form[data-state]")) {
    show(form, !!mine[form.dataset.state]);
    form.onsubmit = async (event) => {
      event.preventDefault();
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.action, {method: "POST", body, headers: {Accept: "application/json"}});
      if (answer.ok) show(form, body.get("on") === "1");
      else form.submit();
    };
  }
}
