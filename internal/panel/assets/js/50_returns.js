// Packages that go back to their store: each one that is scanned is ticked, and what is ticked is handed over at once.
(() => {
  const form = document.getElementById("returns");
  const field = form?.elements.codigo;
  if (!form) return;
  const boxes = () => [...form.querySelectorAll("input[name=id]")];
  const counted = form.querySelector("[data-count-ticked]");
  const count = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    if (counted) counted.textContent = ticked === 1 ? "1 marcado" : `${ticked} marcados`;
  };
  form.addEventListener("change", count);
  window.addEventListener("pageshow", count); // a browser that goes back restores the ticks
  if (!field) return;

  const result = document.getElementById("codigo-result");
  const folded = (code) => code.toUpperCase().replace(/[^0-9A-Z]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  const rowOf = (code) => [...form.querySelectorAll("tr[data-guide]")].find(({ dataset }) => folded(code).endsWith(folded(dataset.guide)));
  const say = (ok, ...words) => {
    const line = document.createElement("p");
    line.classList.toggle("bad", !ok);
    line.append(...words);
    result.replaceChildren(line);
    tone.play(ok ? "good" : "bad");
  };
  const ask = async (code) => {
    const address = new URL(field.dataset.scanned, location.href);
    address.searchParams.set("codigo", code);
    const response = await fetch(address, { headers: { "X-Fragment": "scanned" }, redirect: "manual", signal: endAfter(10000) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    const answer = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("scanned");
    if (!answer.querySelector(".bad")) { // it was received after the page was loaded
      const more = new URL(location.href);
      more.search = new URL(field.dataset.scanned, location.href).search;
      for (const box of boxes()) if (box.checked) more.searchParams.append("id", box.value);
      more.searchParams.set("codigo", code);
      return location.assign(more);
    }
    say(false, ...answer.querySelector("p").childNodes);
  };
  const take = (code) => {
    if (folded(code) === "") return;
    const box = rowOf(code)?.querySelector("input[name=id]");
    if (!box) return void ask(code).catch(() => say(false, `${code}: sin respuesta del servicio. Escanéelo otra vez.`));
    box.checked = true;
    box.scrollIntoView({ block: "nearest" });
    say(true, `Marcado ${box.closest("tr").dataset.guide}`);
    count();
  };
  listenToReader({ field, take, typeAhead: true });
  // The button beside the field, which also stands for the Enter key, reads the field. The page stays.
  form.addEventListener("submit", (event) => {
    if (methodOf(event) !== "get") return;
    event.preventDefault();
    event.stopPropagation(); // the button is pressed again and again, so it is never switched off
    const code = field.value.trim();
    field.value = "";
    field.focus();
    take(code);
  });
})();
