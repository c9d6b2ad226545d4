// The bar of what is ticked: how many, and what they come to.
(() => {
  const money = new Intl.NumberFormat("es-PE", { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: "always" });
  const sum = () => {
    const said = document.querySelector(".selection [data-ticked]");
    if (!said) return;
    const ticked = [...document.querySelectorAll(".rows tbody .tick input:checked")];
    const all = document.querySelector(".tab-line .all input:checked");
    if (all) return void (said.textContent = all.parentElement.textContent.trim());
    const cents = ticked.reduce((all, box) => all + Math.round(Number(box.closest("tr").dataset.amount) * 100), 0);
    const number = ticked.length === 1 ? "1 marcado" : ticked.length + " marcados";
    said.textContent = ticked.length ? `${number} · ${said.dataset.sign}\u00a0${money.format(cents / 100)} por cobrar` : "";
  };
  document.addEventListener("change", sum);
  window.addEventListener("pageshow", sum); // a browser that goes back restores the ticks
})();
// A long bulk move goes on by itself from step to step, until something needs a person.
document.querySelector("form[data-continue] button[type=submit]")?.click();
