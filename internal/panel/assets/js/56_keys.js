// The keys of the panel, which /panel/teclas lists. None of them acts while somebody types.
(() => {
  const rows = () => [...document.querySelectorAll(".rows tbody .guide a")];
  const step = (by) => {
    const links = rows();
    const at = links.indexOf(document.activeElement.closest?.("tr")?.querySelector(".guide a"));
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + by, 0), links.length - 1)];
    next?.focus();
    return next;
  };
  const search = () => {
    const field = [...document.querySelectorAll("input[type=search]")].find((input) => input.checkVisibility?.() ?? input.offsetParent);
    if (!field) return location.assign("/panel/pedidos");
    field.focus();
    field.select();
  };
  const acts = {
    "/": search,
    "?": () => location.assign("/panel/teclas"),
    x: () => document.activeElement.closest?.("tr")?.querySelector(".tick input")?.click(),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
  };
  // What only exists on a page of the panel: whoever is not signed in has no menu.
  const menu = document.getElementById("menu");
  let last = -Infinity;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    const quick = event.timeStamp - last <= 35; // of a barcode reader, which reads addresses too
    last = event.timeStamp;
    if (!menu || !acts[key] || quick && key.length === 1 || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (target.matches("textarea, select, input:not([type=checkbox])") || document.querySelector("dialog[open]")) return;
    // Where something scans, letters are a code that begins; where there is no list, arrows move the page.
    if (document.getElementById("scanner") || key.startsWith("Arrow") && rows().length === 0) return;
    if (key === "x" && !target.closest("tr")) return;
    event.preventDefault();
    acts[key]();
  });

  // A reader opens the order whose label it reads; on the list of what a rider carries it ticks the order.
  const folded = (code) => code.toUpperCase().replace(/[^0-9A-Z]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  const take = (code) => {
    const rows = document.querySelectorAll("#board[data-reader=tick] tr[data-guide]");
    const row = [...rows].find(({ dataset }) => folded(code).endsWith(folded(dataset.guide)));
    if (!row) return location.assign("/panel/pedidos?q=" + encodeURIComponent(code));
    const box = row.querySelector("input[name=id]");
    box.checked = true;
    box.dispatchEvent(new Event("change", { bubbles: true }));
    row.scrollIntoView({ block: "nearest" });
    document.querySelector("[data-scan-said]").textContent = `Marcado ${row.dataset.guide}`;
    tone.play("good");
  };
  if (document.querySelector(".today, .order-columns, #board")) listenToReader({ take, typeAhead: true });
})();
