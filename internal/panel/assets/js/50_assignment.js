// Assignment: how much is ticked and what it comes to, one click for all of it, and scanning a package to tick it.
(() => {
  const form = document.getElementById("assignment");
  const total = form?.querySelector("[data-ticked]");
  if (!total) return;
  const boxes = () => [...form.querySelectorAll("input[name=id]")];

  const amount = new Intl.NumberFormat("es-PE", { minimumFractionDigits: 2, maximumFractionDigits: 2, useGrouping: "always" });

  const sum = () => {
    const ticked = boxes().filter((box) => box.checked);
    const cents = ticked.reduce((all, box) => all + Math.round(Number(box.closest("tr").dataset.amount) * 100), 0);
    const number = ticked.length === 1 ? "1 marcado" : ticked.length + " marcados";
    total.textContent = `${number} · ${total.dataset.sign}\u00a0${amount.format(cents / 100)} por cobrar`;
  };
  total.hidden = false;
  form.addEventListener("change", sum);

  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-tick-all]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    for (const box of boxes()) box.checked = link.dataset.tickAll !== "";
    sum();
  });

  const scan = form.querySelector("[data-scan-tick]");
  const field = scan.querySelector("input");
  const result = scan.querySelector("[role=status]");
  const folded = (code) => code.toUpperCase().replace(/[^0-9A-Z]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  scan.hidden = false;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // it ticks; it does not assign
    const typed = folded(field.value);
    field.value = "";
    if (typed === "") return;
    // A tracking address ends with the code.
    const row = [...form.querySelectorAll("tr[data-guide]")].find(({ dataset }) => typed.endsWith(folded(dataset.guide)));
    result.classList.toggle("bad", !row);
    result.textContent = row ? `Marcado ${row.dataset.guide}` : "No está en esta lista.";
    tone.play(row ? "good" : "bad");
    if (!row) return;
    row.querySelector("input[name=id]").checked = true;
    row.classList.remove("spotted");
    row.scrollIntoView({ block: "nearest" });
    requestAnimationFrame(() => row.classList.add("spotted"));
    sum();
  });
  sum();
})();
