const root = document.documentElement, base = root.dataset.base;
const all = (what, from = document) => from.querySelectorAll(what);

// Times in the reader's own zone, those of ends short; on an end's last day what is left, beside a time that is told in full.
const clock = {hour: "2-digit", minute: "2-digit", timeZoneName: "short"};
for (const time of all("time[data-ends], time[data-local]")) {
  const when = new Date(time.dateTime), left = when - Date.now(), full = "local" in time.dataset;
  const local = when.toLocaleString("en-GB", full ? {day: "numeric", month: "long", year: "numeric", ...clock} : {day: "numeric", month: "short", ...clock});
  const soon = left < 36e5 ? `in ${Math.ceil(left / 6e4)} min` : `in ${Math.floor(left / 36e5)} h`;
  const last = "ends" in time.dataset && left > 0 && left < 864e5;
  time.textContent = !last ? local : full ? `${local}, ${soon}` : soon;
  time.title = local;
}

// A bar that is wider than the screen is scrolled to the page that is shown.
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

// What only the reader has: the unread count, and the state of each toggle. The page itself is the same for everybody.
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
