// A session that ends while somebody fills in a form: the session is looked at before the form is sent, and whoever has to sign in does it
// in a dialog over the form.
(() => {
  // sending are the forms between the click and their sending; checked is the one among them that may be sent now.
  const sending = new WeakSet(), checked = new WeakSet();

  // Whoever has a bad connection does not wait for the look at the session: after a while the form is sent without it.
  const checkTimeout = 5000;
  const signedIn = async () => {
    const response = await fetch("/panel/api/session", { redirect: "error", signal: endAfter(checkTimeout) });
    return response.status !== 401;
  };

  const field = (name, label, type, autocomplete) => {
    const box = Object.assign(document.createElement("div"), { className: "field" });
    const id = "resume-" + name;
    const text = Object.assign(document.createElement("label"), { htmlFor: id, textContent: label });
    box.append(text, Object.assign(document.createElement("input"), { id, name, type, autocomplete, required: name !== "code" }));
    return box;
  };

  // press sends a form with its button, as a click does: Safari has requestSubmit from 16 on.
  const press = (form, button) => (button ?? form.querySelector("button[type=submit]")).click();

  // ask resolves to true once the person has signed in, and to false if they close the dialog.
  const ask = () => new Promise((resolve) => {
    const dialog = Object.assign(document.createElement("dialog"), { className: "card" });
    dialog.setAttribute("aria-labelledby", "resume-title");
    const form = Object.assign(document.createElement("form"), { className: "fields single", method: "dialog" });
    const title = Object.assign(document.createElement("h2"), { id: "resume-title", textContent: "Su sesión terminó" });
    const words = Object.assign(document.createElement("p"), { textContent: "Ingrese y el formulario sigue como está." });
    const failure = Object.assign(document.createElement("p"), { className: "notice failed", hidden: true });
    failure.setAttribute("role", "alert");
    const code = field("code", "Código del segundo factor", "text", "one-time-code");
    code.hidden = true;
    const actions = Object.assign(document.createElement("div"), { className: "actions" });
    const enter = Object.assign(document.createElement("button"), { type: "submit", textContent: "Ingresar" });
    const leave = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "Cerrar" });
    actions.append(enter, leave);
    form.append(title, words, failure, field("email", "Correo", "email", "username"), field("password", "Contraseña", "password", "current-password"), code, actions);
    dialog.append(form);
    document.body.append(dialog);
    let done = false;
    leave.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => { dialog.remove(); resolve(done); });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const typed = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
      enter.disabled = true;
      try {
        const response = await fetch("/panel/api/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(typed) });
        if (response.ok) {
          done = true;
          dialog.close();
          return;
        }
        const answer = await response.json();
        if (answer.code?.endsWith("second_factor") || answer.code?.startsWith("second_factor")) code.hidden = false;
        failure.textContent = answer.error;
      } catch {
        failure.textContent = "Sin conexión con el servicio. Vuelva a intentarlo.";
      }
      failure.hidden = false;
      enter.disabled = false;
      // A button that is switched off loses the focus, and without one the next key goes nowhere.
      form.elements[code.hidden ? "password" : "code"].focus();
    });
    dialog.showModal();
  });

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (methodOf(event) !== "post" || form.dataset.unchecked !== undefined || document.body.classList.contains("alone")) return;
    if (checked.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (sending.has(form)) return; // whoever clicks again while the session is looked at means the same sending
    sending.add(form);
    // Without a connection, or a browser that has dialogs, the form is sent as it is: the answer says what is wrong.
    if (await signedIn().catch(() => true) || !window.HTMLDialogElement || await ask()) {
      checked.add(form);
      press(form, event.submitter);
      checked.delete(form); // the browser does not send a form that is invalid by now
    }
    setTimeout(() => sending.delete(form)); // the buttons of a form that was sent are switched off by then
  }, true);
})();
