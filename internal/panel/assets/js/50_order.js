(() => {
  // Buttons that need a script appear once there is one. Browsers have a clipboard only over https.
  for (const button of document.querySelectorAll("[data-print]")) button.hidden = false;
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;

  document.addEventListener("click", ({ target }) => {
    if (target.dataset?.print !== undefined) window.print();
  });

  // A file that would be refused is named before it is sent.
  document.addEventListener("change", ({ target }) => {
    const most = Number(target.dataset?.maxBytes);
    if (!most) return;
    const tooLarge = [...target.files].some((file) => file.size > most);
    target.setCustomValidity(tooLarge ? "El archivo supera el máximo de 8 MiB." : "");
    if (tooLarge) target.reportValidity();
  });
})();
