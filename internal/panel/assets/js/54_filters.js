// A filter that is chosen with the mouse is applied at once. Whoever chooses with the keys passes over values on the way: they press Enter.
(() => {
  const apply = (form) => form.querySelector("[type=submit]").click();
  let byKey = false;
  document.addEventListener("keydown", (event) => {
    byKey = true;
    if (event.key === "Enter" && event.target.matches?.("[data-filters] select")) apply(event.target.form);
  }, true);
  document.addEventListener("pointerdown", () => { byKey = false; }, true);
  document.addEventListener("change", ({ target }) => {
    if (!byKey && target.matches("[data-filters] .chips > .field select")) apply(target.form);
  });
  // What is folded away closes when somebody presses beside it, or Escape.
  document.addEventListener("pointerdown", ({ target }) => {
    for (const open of document.querySelectorAll(".toolbar details[open]")) if (!open.contains(target)) open.open = false;
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    for (const open of document.querySelectorAll(".toolbar details[open]")) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });
})();
