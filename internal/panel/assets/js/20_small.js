// methodOf is how a form is sent: its button may say otherwise than the form.
// The attribute, not the property: a form may have a field with the name method.
const methodOf = ({ target, submitter }) => submitter?.getAttribute("formmethod") ?? target.getAttribute("method") ?? "get";

// Small conveniences: everything can be done without them too.
(() => {
  // One box that ticks all the others of its form.
  document.addEventListener("change", ({ target }) => {
    const name = target.dataset?.checkAll;
    if (!name) return;
    for (const box of target.closest("form").querySelectorAll(`input[name="${name}"]`)) box.checked = target.checked;
  });

  // Copy what is shown once. What the browser does not let be copied is marked, for whoever copies it by hand.
  document.addEventListener("click", async ({ target }) => {
    const from = target.dataset?.copy;
    if (!from) return;
    const text = document.getElementById(from);
    try {
      await navigator.clipboard.writeText(text.textContent.trim());
      target.textContent = "Copiado";
    } catch {
      getSelection().selectAllChildren(text);
      target.textContent = "Cópielo: está marcado";
    }
  });

  // A form is sent once, however often it is clicked.
  document.addEventListener("submit", (event) => {
    const { target } = event;
    if (methodOf(event) !== "post") return;
    setTimeout(() => { for (const button of target.querySelectorAll("button[type=submit]")) button.disabled = true; });
  });
  // It can be sent again by whoever comes back to the page, or has stopped the browser before there was an answer.
  const allow = () => {
    for (const button of document.querySelectorAll("form button[type=submit]:disabled")) button.disabled = false;
  };
  window.addEventListener("pageshow", allow);
  window.navigation?.addEventListener("navigateerror", allow);

  // Places are completed while they are typed.
  let waiting;
  document.addEventListener("input", ({ target }) => {
    if (!target.matches?.("input[data-places]")) return;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const typed = target.value.trim();
      if (typed.length < 2) return;
      const response = await fetch(target.dataset.places + "?q=" + encodeURIComponent(typed), { redirect: "error" });
      if (!response.ok) return;
      const names = await response.json();
      if (target.value.trim() !== typed) return; // those of what was typed since may have come already
      target.list.replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
    }, 150);
  });
})();
