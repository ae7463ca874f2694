// Stages that show their work alone load this: what a form took, and what the stream does of it in the seconds after.
// Both are read as documents of their own, because no text may become HTML here.
const read = (address, shown) => {
  const asked = new XMLHttpRequest();
  asked.open("GET", address);
  asked.responseType = "document";
  asked.onload = () => { if (asked.response) shown(asked.response); };
  asked.send();
};

const look = (left) => {
  const part = document.getElementById("followed"), address = part?.dataset.live;
  if (!address || left === 0) return;
  read(address, (page) => {
    const now = page.getElementById("followed");
    if (now && now.textContent !== part.textContent) part.replaceChildren(...now.childNodes);
    setTimeout(look, 1000, left - 1);
  });
};
look(10);

// A button that the site's script sends in passing leads to no page: what it took comes to this one.
const send = window.fetch;
window.fetch = async (...asked) => {
  const answer = await send(...asked);
  const [, address] = /<([^>]+)>; rel="describedby"/.exec(answer.headers.get("Link")) ?? [];
  if (address) read(address, (page) => {
    for (const old of document.querySelectorAll(".to-form, #form-took")) old.remove();
    document.querySelector("main").prepend(page.querySelector(".to-form"));
    document.getElementById("took").before(page.getElementById("form-took"));
    look(10);
  });
  return answer;
};

// The line that leads to the walk, on the laptop: dismissed by one click, for ever. It is hidden before the page is painted.
const line = document.getElementById("walk");
if (line) {
  line.hidden = "btd-walked" in localStorage;
  line.querySelector("button").onclick = () => {
    localStorage["btd-walked"] = "";
    line.hidden = true;
    document.getElementById("main").focus();
  };
}
