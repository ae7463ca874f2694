// A picture can also be dropped on the page of its deal, or pasted: it is put into the form's field, and sent by the form.
// That of a new deal goes once the deal is posted, by the form on the page that posting leads to. Until then the answers,
// which may be errors or a preview, are shown here: a page that the browser went to would not have the file.
const main = document.querySelector("main");
let file;

const take = (event, files) => {
  if (!files?.length) return;
  event.preventDefault();
  file.files = files;
  file.onchange();
  file.focus();
};

const ready = (taken) => {
  file = document.getElementById("f-file");
  if (!file) return;
  for (const each of document.querySelectorAll("[data-drop]")) each.hidden = false;
  file.onchange = () => {
    const [first] = file.files, {elements} = file.form;
    if (elements["Content-Type"]) elements["Content-Type"].value = first?.type || "image/*";
    file.setCustomValidity(first?.size > file.dataset.most ? "This file is too large." : "");
    file.reportValidity();
  };
  if (!taken) return;
  file.files = taken;
  file.onchange();
};

const answered = (form, action) => new Promise((done, failed) => {
  const request = new XMLHttpRequest();
  request.open("POST", action);
  request.responseType = "document";
  request.onload = () => request.response ? done(request) : failed();
  request.onerror = failed;
  request.send(new URLSearchParams(new FormData(form)));
});

ready();
if (file) {
  document.ondragover = (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); };
  document.ondrop = (event) => take(event, event.dataTransfer.files);
  // A text that is copied may come with its picture.
  document.onpaste = (event) => {
    if (!event.clipboardData.types.includes("text/plain")) take(event, event.clipboardData.files);
  };
}
if (file && !file.name) main.onsubmit = async (event) => {
  const {target, submitter} = event, taken = file?.files;
  if (file?.name || !taken?.length) return;
  event.preventDefault();
  if (main.ariaBusy) return;
  main.ariaBusy = "true";
  try {
    const {response, responseURL} = await answered(target, submitter?.getAttribute("formaction") ?? target.action);
    if (!response.getElementById("f-file")) return location.assign(responseURL);  // a draft, which has no picture
    main.replaceChildren(...response.querySelector("main").childNodes);
    document.title = response.title;
    ready(taken);
    scrollTo(0, 0);
    if (file?.name) {
      history.replaceState(null, "", responseURL);
      file.form.submit();
    } else main.querySelector("[role=alert]")?.focus();
  } catch {
    target.submit();
  }
  main.ariaBusy = null;
};
