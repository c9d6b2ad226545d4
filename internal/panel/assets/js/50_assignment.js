// Assignment: one click for all of a list or for all of a place, and scanning a package to tick it.
(() => {
  const form = document.getElementById("assignment");
  const field = form?.elements.codigo;
  if (!field) return;
  const boxesIn = (part) => [...part.querySelectorAll("input[name=id]")];

  // The box of a place says whether all of its orders are ticked.
  const mirror = () => {
    for (const group of form.querySelectorAll("[data-tick-group]")) {
      const boxes = boxesIn(group.closest("tbody"));
      const all = boxes.filter((box) => box.checked).length;
      group.checked = all === boxes.length;
      group.indeterminate = all > 0 && all < boxes.length;
    }
  };
  form.addEventListener("change", ({ target }) => {
    if (target.matches("[data-tick-group]")) for (const box of boxesIn(target.closest("tbody"))) box.checked = target.checked;
    mirror();
  });
  // A browser that goes back to the page restores its ticks.
  window.addEventListener("pageshow", mirror);
  const changed = () => form.dispatchEvent(new Event("change", { bubbles: true }));

  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-tick-all]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    for (const box of boxesIn(form)) box.checked = link.dataset.tickAll !== "";
    changed();
  });
  // The Enter key of a slow reader sends no half list.
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("[name=rider_id], [type=checkbox]")) event.preventDefault();
  });
  // Without the filters the list has the same ticks.
  form.querySelector("[data-keeps-ticks]")?.addEventListener("click", ({ currentTarget: link }) => {
    const address = new URL(link.href);
    address.searchParams.delete("id");
    for (const box of boxesIn(form)) if (box.checked) address.searchParams.append("id", box.value);
    link.href = address;
  });

  const result = document.getElementById("codigo-result");
  const folded = (code) => code.toUpperCase().replace(/[^0-9A-Z]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  // A tracking address ends with the code.
  const rowOf = (code) => [...form.querySelectorAll("tr[data-guide]")].find(({ dataset }) => folded(code).endsWith(folded(dataset.guide)));

  const say = (ok, ...words) => {
    const line = document.createElement("p");
    line.classList.toggle("bad", !ok);
    line.append(...words);
    result.replaceChildren(line);
    tone.play(ok ? "good" : "bad");
  };
  const tick = (row) => {
    row.querySelector("input[name=id]").checked = true;
    row.classList.remove("spotted");
    row.scrollIntoView({ block: "nearest" });
    requestAnimationFrame(() => row.classList.add("spotted"));
    say(true, `Marcado ${row.dataset.guide}`);
    changed();
  };

  // ask asks the service for what is not on the page: it was received since, or it is on another page or behind another filter.
  const ask = async (code) => {
    const address = new URL(field.dataset.scanned, location.href);
    address.searchParams.set("codigo", code);
    const response = await fetch(address, { headers: { "X-Fragment": "scanned" }, redirect: "manual", signal: endAfter(10000) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    const answer = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("scanned");
    const fresh = answer.querySelector("tr[data-guide]");
    const known = rowOf(code); // two scans of one package may be under way
    if (known) return tick(known);
    if (!fresh) return say(false, ...answer.querySelector("p").childNodes);
    const marked = document.getElementById("marked");
    if (!marked) { // the list was empty
      const more = new URL(location.href);
      more.searchParams.append("id", fresh.querySelector("input[name=id]").value);
      return location.assign(more);
    }
    marked.append(fresh);
    marked.hidden = false;
    marked.querySelector(".count").textContent = marked.querySelectorAll("tr[data-guide]").length;
    tick(fresh);
  };

  const take = (code) => {
    if (folded(code) === "") return;
    const row = rowOf(code);
    if (row) return tick(row);
    ask(code).catch(() => say(false, `${code}: sin respuesta del servicio. Escanéelo otra vez.`));
  };
  listenToReader({ field, take, typeAhead: true });
})();
