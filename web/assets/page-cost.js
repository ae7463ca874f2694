// Stages that show their work alone load this: what a form took stands on the page that it leads to.

// So a button that the site's script would send in passing is sent as it is without script.
addEventListener("submit", (event) => { if (event.target.matches("[data-state]")) event.stopImmediatePropagation(); }, true);

// What the stream does of it comes in the seconds after. It is read as a document, because no text may become HTML here.
const look = (left) => {
  const part = document.getElementById("followed");
  if (!part?.dataset.live || left === 0) return;
  const asked = new XMLHttpRequest();
  asked.open("GET", part.dataset.live);
  asked.responseType = "document";
  asked.onload = () => {
    const now = asked.response?.getElementById("followed");
    if (now && now.textContent !== part.textContent) part.replaceChildren(...now.childNodes);
    setTimeout(look, 1000, left - 1);
  };
  asked.send();
};
look(10);
