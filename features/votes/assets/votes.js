// Votes on cards. Which ones this reader pressed is known to the browser alone: a page for everyone can't show it.
const held = "btd-votes", mine = JSON.parse(sessionStorage.getItem(held) ?? "{}");

const show = (form) => {
  const given = mine[form.dataset.vote];
  for (const button of form.querySelectorAll("button"))
    button.ariaPressed = button.formAction.endsWith(`/${given}`) ? "true" : "false";
};

for (const form of document.querySelectorAll("form[data-vote]")) {
  show(form);
  form.onsubmit = async (event) => {
    if (!/(^|; )(__Host-)?btd-in=/.test(document.cookie)) return; // signing in first, the form is sent again
    event.preventDefault();
    const {submitter} = event, {vote} = form.dataset, way = submitter.formAction.split("/").pop(), on = mine[vote] !== way;
    const body = new URLSearchParams({on: on ? "1" : "0"}), headers = {Accept: "application/json"};
    const answer = await fetch(submitter.formAction, {method: "POST", body, headers}).catch(() => ({}));
    if (!answer.ok) {
      form.action = submitter.formAction;
      return form.submit();
    }
    mine[vote] = on ? way : "";
    sessionStorage.setItem(held, JSON.stringify(mine));
    show(form);
    dispatchEvent(new CustomEvent("say", {detail: (await answer.json()).notice}));
  };
}
