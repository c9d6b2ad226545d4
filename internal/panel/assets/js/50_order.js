// showButtons shows the buttons that need a script. Browsers have a clipboard only over https.
const showButtons = () => {
  for (const button of document.querySelectorAll("[data-print]")) button.hidden = false;
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
};

// limitFiles names a file that would be refused before it is sent.
const limitFiles = (input) => {
  const most = Number(input.dataset.maxBytes);
  const tooLarge = [...input.files].some((file) => file.size > most);
  input.setCustomValidity(tooLarge ? "El archivo supera el máximo de 8 MiB." : "");
  if (tooLarge) input.reportValidity();
};

(() => {
  showButtons();

  document.addEventListener("click", ({ target }) => {
    if (target.dataset?.print !== undefined) window.print();
  });

  // A photo may be made smaller first.
  document.addEventListener("change", ({ target }) => {
    if (target.dataset?.maxBytes && target.dataset.photo === undefined) limitFiles(target);
  });
})();
