// Assignment: ticking orders, whole places or all that match, and scanning a package to tick it.
(() => {
  const form = document.getElementById("assignment");
  const field = form?.elements.codigo;
  if (!field) return;
  const boxesIn = (part) => [...part.querySelectorAll("input[name=id]")];
  const groupOf = (part) => part.querySelector("[data-tick-group]");
  const places = () => [...form.querySelectorAll("tbody[data-place]")];
  const exceptedIn = ({ dataset }) => [...form.querySelectorAll(`input[name=salvo][data-place="${dataset.place}"]`)];
  const idOf = (row) => row.id.replace("order-", "");
  const exceptionOf = (row) => form.querySelector(`input[name=salvo][value="${idOf(row)}"]`);

  // except has an order stay where it is though its place is ticked.
  const except = (row) => {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "salvo", value: idOf(row) });
    Object.assign(field.dataset, { place: row.dataset.of, amount: row.dataset.amount });
    document.getElementById("assignable").append(field);
  };

  // settle makes the box of a place and those of its orders agree. A place that is ticked has all of its orders, also those that are not on the
  // page, but for those that were unticked; one whose orders are all ticked is ticked.
  const settle = (place) => {
    const group = groupOf(place), boxes = boxesIn(place), count = Number(place.dataset.count);
    const ticked = boxes.filter((box) => box.checked).length;
    if (group.checked) {
      for (const box of boxes) {
        const row = box.closest("tr"), excepted = exceptionOf(row);
        if (box.checked) excepted?.remove();
        else if (!excepted) except(row);
      }
      group.indeterminate = exceptedIn(place).length > 0;
      if (exceptedIn(place).length < count) return;
      group.checked = false;
    }
    for (const excepted of exceptedIn(place)) excepted.remove();
    group.checked = count > 0 && ticked === count;
    group.indeterminate = ticked > 0 && ticked < count;
  };
  const mirror = () => places().forEach(settle);
  form.addEventListener("change", ({ target }) => {
    if (target.matches("[data-tick-group]")) {
      const place = target.closest("tbody");
      for (const excepted of exceptedIn(place)) excepted.remove();
      for (const box of boxesIn(place)) box.checked = target.checked;
    }
    mirror();
  });
  // A place that is opened has its orders ticked as it is itself.
  form.addEventListener("opened", ({ target: place }) => {
    if (groupOf(place).checked) for (const box of boxesIn(place)) box.checked = !exceptionOf(box.closest("tr"));
    mirror();
  });
  // A browser that goes back to the page restores its ticks.
  window.addEventListener("pageshow", mirror);
  const changed = () => form.dispatchEvent(new Event("change", { bubbles: true }));

  form.addEventListener("click", (event) => {
    if (!event.target.closest("[data-untick]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    for (const excepted of form.querySelectorAll("input[name=salvo]")) excepted.remove();
    for (const box of form.querySelectorAll("#assignable input[type=checkbox]")) box.checked = false;
    changed();
  });
  // ticksAt is an address with all that is ticked.
  const ticksAt = (path) => {
    const address = new URL(path, location.href);
    const ticks = ["id", "grupo", "salvo", "todos", "visto", "filtro", "rider_id"];
    for (const name of ticks) address.searchParams.delete(name);
    for (const [name, value] of new FormData(form)) if (ticks.includes(name)) address.searchParams.append(name, value);
    return address;
  };
  // Without the filters the list has the same ticks.
  form.querySelector("[data-keeps-ticks]")?.addEventListener("click", ({ currentTarget: link }) => { link.href = ticksAt(link.href); });

  const result = document.getElementById("codigo-result");
  const say = (kind, ...words) => {
    const line = document.createElement("p");
    line.className = kind;
    line.append(...words);
    result.replaceChildren(line);
    tone.play(kind);
  };

  const show = (row) => {
    row.classList.remove("spotted");
    row.scrollIntoView({ block: "nearest" });
    requestAnimationFrame(() => row.classList.add("spotted"));
  };
  const tick = (row) => {
    const box = row.querySelector("input[name=id]");
    const already = box.checked;
    box.checked = true;
    show(row);
    changed();
    if (already) say("warn", `Ya estaba marcado ${row.dataset.guide}`);
    else say("good", `Marcado ${row.dataset.guide}`);
  };

  // add lists a row among those that are ticked by themselves; listed means that its place has counted it until now.
  const add = (row, listed) => {
    const marked = document.getElementById("marked");
    if (!marked) { // the list was empty
      const address = ticksAt(location.href);
      address.searchParams.append("id", row.querySelector("input[name=id]").value);
      return location.assign(address);
    }
    const place = listed && form.querySelector(`tbody[data-place="${row.dataset.of}"]`);
    if (place && groupOf(place).checked && !exceptionOf(row)) return say("warn", `Ya estaba marcado ${row.dataset.guide}, con su distrito`);
    if (place) {
      exceptionOf(row)?.remove();
      place.dataset.count -= 1;
      place.dataset.amount = (Number(place.dataset.amount) - Number(row.dataset.amount)).toFixed(2);
      place.querySelector(".count").textContent = place.dataset.count;
      place.querySelector(".sum").textContent = "";
      place.hidden = place.dataset.count === "0";
    }
    marked.append(row);
    marked.hidden = false;
    marked.querySelector(".count").textContent = marked.querySelectorAll("tr[data-guide]").length;
    row.querySelector("input[name=id]").checked = false;
    tick(row);
  };

  // ask asks the service what an order is now: the page may have been loaded before, or show other orders.
  const ask = async (code) => {
    const address = new URL(field.dataset.scanned, location.href);
    address.searchParams.set("codigo", code);
    address.searchParams.set("visto", form.elements.visto.value);
    const response = await fetch(address, { headers: { "X-Fragment": "scanned" }, redirect: "manual", signal: endAfter(10000) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    const answer = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("scanned");
    const fresh = answer.querySelector("tr[data-guide]");
    const words = answer.querySelector("p");
    const guide = words.querySelector(".code")?.textContent;
    const shown = fresh ? document.getElementById(fresh.id) : guide && form.querySelector(`tr[data-guide="${guide}"]`);
    const box = shown && boxesIn(shown)[0], now = fresh && boxesIn(fresh)[0].value;
    if (answer.dataset.marked === undefined) {
      if (box?.checked && box.value === now) return tick(shown); // it was ticked by somebody who knew where it is
      if (box?.checked) {
        box.checked = false; // it has gone since the page was loaded
        changed();
      }
      words.querySelector("[data-offered]")?.addEventListener("click", (event) => {
        event.preventDefault();
        shown?.remove();
        add(fresh, false);
        field.focus();
      });
      return say("bad", ...words.childNodes);
    }
    if (!shown) return add(fresh, answer.dataset.listed !== undefined);
    box.value = now; // the version that whoever scans it knows of
    openPlace(shown.closest("tbody"));
    tick(shown);
  };

  const take = (code) => {
    ask(code).catch(() => say("bad", `${code}: sin respuesta del servicio. Escanéelo otra vez.`));
  };
  listenToReader({ field, take, typeAhead: true });
})();
