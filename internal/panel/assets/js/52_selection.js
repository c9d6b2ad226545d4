// The bar of what is ticked: how many, and what they come to.
(() => {
  const money = new Intl.NumberFormat("es-PE", { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: "always" });
  const sum = () => {
    const said = document.querySelector(".selection [data-ticked]");
    if (!said) return;
    const all = document.querySelector(".tab-line .all input:checked");
    if (all) return void (said.textContent = all.parentElement.textContent.trim());
    let count = 0, cents = 0;
    const add = (orders, { amount }) => {
      count += orders;
      cents += Math.sign(orders) * Math.round(Number(amount) * 100);
    };
    for (const part of document.querySelectorAll(".rows tbody")) {
      // A whole place has more orders than the page may show.
      if (part.querySelector("[data-tick-group]")?.checked) add(Number(part.dataset.count), part.dataset);
      else for (const box of part.querySelectorAll(".tick input:checked")) add(1, box.closest("tr").dataset);
    }
    for (const { dataset } of document.querySelectorAll("#assignable > input[name=salvo]")) add(-1, dataset);
    const number = count === 1 ? "1 marcado" : count + " marcados";
    said.textContent = count ? `${number} · ${said.dataset.sign}\u00a0${money.format(cents / 100)} por cobrar` : "";
  };
  document.addEventListener("change", sum);
  window.addEventListener("pageshow", sum); // a browser that goes back restores the ticks
})();
// A long bulk move goes on by itself from step to step, until something needs a person.
document.querySelector("form[data-continue] button[type=submit]")?.click();
