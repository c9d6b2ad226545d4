// The keys of the panel, which /panel/teclas lists. None of them acts while somebody types.
(() => {
  // A row is reached by its order's link, or by the button of its place.
  const stop = ".guide a, .fold";
  const rows = () => [...document.querySelectorAll(".rows tbody tr:not([hidden])")].map((row) => row.querySelector(stop))
    .filter((link) => link?.getClientRects().length);
  const step = (by) => {
    const links = rows();
    const at = links.indexOf(document.activeElement.closest?.("tr")?.querySelector(stop));
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
    x: () => {
      const box = document.activeElement.closest("tr")?.querySelector(".tick input, [data-tick-group]");
      ticking = setTimeout(() => box?.click(), 60); // the first key of a quick code ticks nothing
    },
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
  };
  // What only exists on a page of the panel: whoever is not signed in has no menu.
  const menu = document.getElementById("menu");
  let last = -Infinity;
  let ticking;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.timeStamp - last <= 60) clearTimeout(ticking);
    const quick = event.timeStamp - last <= 35; // of a barcode reader, which reads addresses too
    last = event.timeStamp;
    if (!menu || !acts[key] || quick && key.length === 1 || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (target.closest("textarea, select, input:not([type=checkbox])") || document.querySelector("dialog[open]")) return;
    // Where something scans, letters are a code that begins; where there is no list, arrows move the page.
    if (document.getElementById("scanner") || key.startsWith("Arrow") && rows().length === 0) return;
    if (key === "x" && !target.closest("tr")) return;
    event.preventDefault();
    acts[key]();
  });

  // A reader opens the order whose label it reads. What somebody has typed into a form of the page is not left behind.
  const open = (code) => {
    const path = "/panel/pedidos?q=" + encodeURIComponent(code);
    const fields = [...document.querySelectorAll("main form[method=post] :is(textarea, input:not([type=hidden], [type=checkbox], [type=radio]))")];
    if (!fields.some((input) => input.value !== input.defaultValue)) return location.assign(path);
    const notice = Object.assign(document.createElement("p"), { className: "notice warned toast", id: "scanned-later" });
    const link = Object.assign(document.createElement("a"), { href: path, target: "_blank", textContent: "Abrir en otra pestaña" });
    notice.setAttribute("role", "alert");
    notice.append(`Se leyó ${code}, pero aquí hay algo escrito sin guardar. `, link);
    document.getElementById(notice.id)?.remove();
    document.querySelector("main").append(notice);
  };
  // On the list of what a rider carries a reader ticks the order.
  const folded = (code) => code.toUpperCase().replace(/[^0-9A-Z]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
  const take = (code) => {
    const rows = document.querySelectorAll("#board[data-reader=tick] tr[data-guide]");
    const row = [...rows].find(({ dataset }) => folded(code).endsWith(folded(dataset.guide)));
    if (!row) return open(code);
    const box = row.querySelector("input[name=id]");
    box.checked = true;
    box.dispatchEvent(new Event("change", { bubbles: true }));
    row.scrollIntoView({ block: "nearest" });
    document.querySelector("[data-scan-said]").textContent = `Marcado ${row.dataset.guide}`;
    tone.play("good");
  };
  if (document.querySelector(".today, .order-columns, #board")) listenToReader({ take, typeAhead: true });
})();
