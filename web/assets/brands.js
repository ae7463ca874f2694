const all = (what, from = document) => from.querySelectorAll(what);

// Names are compared by their letters and digits, without accents; so are their slugs, which spell out letters such as ø.
const plain = (text) => text.normalize("NFD").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
for (const box of all("[data-filter]")) {
  box.hidden = false;
  box.oninput = ({target}) => {
    const wanted = plain(target.value);
    let found = 0;
    for (const part of all("[data-letter]")) {
      part.hidden = true;
      for (const item of all("li", part)) {
        const slug = item.firstChild.pathname.split("/").pop();
        item.hidden = !plain(item.textContent).includes(wanted) && !plain(slug).includes(wanted);
        if (!item.hidden) { part.hidden = false; found += 1; }
      }
      all(`.letters [href="#${part.querySelector("h2").id}"]`)[0].hidden = part.hidden;
    }
    all("[role=status]", box)[0].textContent = !found ? "No brand has that in its name." : found > 1 ? `${found} brands` : "1 brand";
  };
}
