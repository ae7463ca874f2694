// Passkeys: a form with options asks the authenticator when it is sent, and then sends the answer along.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

const answered = ({ id, rawId, type, response }) => {
  const parts = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) parts[name] = text(response[name]);
  }
  return JSON.stringify({ id, rawId: text(rawId), type, response: parts });
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const publicKey = JSON.parse(form.dataset.options);
  publicKey.challenge = bytes(publicKey.challenge);
  if (publicKey.user) publicKey.user.id = bytes(publicKey.user.id);
  for (const each of [...(publicKey.excludeCredentials || []), ...(publicKey.allowCredentials || [])]) each.id = bytes(each.id);
  const button = form.querySelector("button");
  const says = form.querySelector("[data-trouble]");
  const tell = (sentence) => {
    says.textContent = sentence;
    says.hidden = !sentence;
  };
  if (!window.PublicKeyCredential) {
    tell("This browser can’t use passkeys. Try another one.");
    button.disabled = true;
    continue;
  }
  button.disabled = false;
  form.onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    tell("");
    try {
      form.elements.credential.value = answered(await navigator.credentials[form.dataset.passkey]({ publicKey }));
      form.submit();
    } catch (error) {
      tell(
        error.name === "InvalidStateError"
          ? "This device has a passkey for this account already."
          : "Nothing was sent: the request was cancelled or took too long. Try again.",
      );
      button.disabled = false;
    }
  };
}
