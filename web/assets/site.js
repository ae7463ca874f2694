const root = document.documentElement, {base, in: own} = root.dataset;
const all = (what, from = document) => from.querySelectorAll(what);
const has = (cookie) => new RegExp(`(^|; )(__Host-)?${cookie}(;|$)`).test(document.cookie); // a laptop's has no prefix

// Times in the reader's own zone; in an end's last two days what is left, beside the full time.
const clock = {hour: "2-digit", minute: "2-digit", timeZoneName: "short"};
const showTimes = () => {
  const now = new Date();
  for (const time of all("time[data-ends], time[data-local]")) {
    const when = new Date(time.dateTime), left = when - now, full = "local" in time.dataset;
    const year = full || when.getFullYear() !== now.getFullYear() ? {year: "numeric"} : {};
    const local = when.toLocaleString("en-GB", {day: "numeric", month: full ? "long" : "short", ...year, ...(time.dataset.ends === "day" ? {} : clock)});
    const soon = left < 36e5 ? `in ${Math.ceil(left / 6e4)} min` : `in ${Math.floor(left / 36e5)} h`;
    const last = "ends" in time.dataset && left > 0 && left < 1728e5;
    time.textContent = !last ? local : full ? `${local}, ${soon}` : soon;
    time.title = local;
  }
};

// A bar that is wider than the screen is scrolled to the page that is shown.
for (const place of all("nav [aria-current]")) {
  const bar = place.closest("ul");
  if (place.offsetLeft + place.offsetWidth > bar.clientWidth) bar.scrollLeft = place.offsetLeft - 48;
}

for (const done of all("[data-notice]")) done.hidden = !has(`btd-notice=${done.dataset.notice}`);

for (const button of all("[data-copy], [data-print]")) {
  const {copy} = button.dataset;
  button.hidden = false;
  button.onclick = () => copy ? navigator.clipboard.writeText(copy).then(() => { button.textContent = "Copied"; }) : print();
}

// What only the reader has: counts such as that of unread messages, the state of each toggle.
const show = (form, on) => {
  const button = form.querySelector("button"), other = button.dataset.on;
  if ((button.ariaPressed === "true") === on) return;
  button.dataset.on = button.textContent;
  button.textContent = other;
  button.ariaPressed = on;
  form.elements.on.value = on ? 0 : 1;
};

const ask = (path, more) => fetch(path, {headers: {Accept: "application/json"}, ...more}).catch(() => ({}));

let known;
const showStates = (mine) => {
  known = mine;
  for (const form of all("form[data-state]")) {
    show(form, !!mine[form.dataset.state]);
    form.onsubmit = "unread" in mine ? send : null;
  }
};

const send = async (event) => {
  event.preventDefault();
  const form = event.target, body = new URLSearchParams(new FormData(form));
  // What fails here is sent as without script, and the browser says what is wrong.
  const answer = await ask(form.action, {method: "POST", body});
  if (!answer.ok) return form.submit();
  const {notice, ...now} = await answer.json();
  showStates({...known, ...now});
  say(notice);
};

const say = (notice) => {
  all(".said").forEach((each) => each.remove());
  const said = Object.assign(document.createElement("p"), {className: "said", role: "status"});
  document.body.append(said); // empty at first, so that its text is read aloud when it comes
  setTimeout(() => { said.textContent = notice; });
  setTimeout(() => said.remove(), 6000);
};
addEventListener("say", (event) => say(event.detail));

const showMine = async () => {
  let mine = {};
  const signedIn = has("btd-in=1");
  if (signedIn) root.dataset.in ||= "member";
  else if (!own) delete root.dataset.in; // a page of one's own knows whose it is
  if (signedIn) {
    const answer = await ask(`${base}/my/status?${new URLSearchParams(all("main [data-asks]")[0]?.dataset.asks)}`);
    if (!answer.ok) return;
    mine = await answer.json();
    if (mine.who) root.dataset.in = mine.who;
    else delete root.dataset.in;
  }
  for (const count of all(".mine [data-counts]")) {
    const spoken = document.createElement("span"), number = mine[count.id];
    spoken.className = "vh";
    spoken.textContent = ` ${count.dataset.counts}`;
    count.hidden = !number;
    count.replaceChildren(...number ? [number, spoken] : []);
  }
  // The form of an alert that one has says so, and changes it.
  for (const own of all("[data-own]")) {
    const alert = own.querySelector("b").textContent = mine[own.dataset.own] ?? "", {elements: [field, button]} = own.closest("form");
    own.hidden = !alert;
    own.nextSibling.hidden = alert;
    if (alert) {
      field.defaultValue = mine.ceiling;
      button.textContent = "Change";
      // Across the chart, unless it is above all prices.
      for (const line of all("[data-high]")) {
        const y = 130 - 120 * mine.ceiling / line.dataset.high;
        if (y > 0) line.removeAttribute("hidden");
        line.setAttribute("transform", `translate(0 ${y})`);
        line.lastChild.textContent = `Your alert ${alert}`;
      }
    }
  }
  showStates(mine);
};

const showAll = () => { showTimes(); showMine(); };
showAll();
// A page that Back brings again as it was left shows what is so now.
addEventListener("pageshow", ({persisted}) => { if (persisted) showAll(); });
