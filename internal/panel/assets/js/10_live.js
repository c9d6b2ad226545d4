// Parts of a page that change by themselves: they are fetched again every few seconds while somebody looks, and rows that were not there
// before light up. A part whose boxes are ticked, or in which something is open, is left alone, so that nobody loses what they chose or read.
// Nothing is fetched while the page is hidden, and a part that has not changed is answered without its content. A part that can no longer be
// fetched says so: otherwise it would look like one in which nothing happens.
(() => {
  const busy = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")
    || part.querySelector("tbody input:checked, details[open]");
  const tags = {};

  // The focus of somebody who works with the keyboard goes to the element that takes the place of theirs: in the same row, if they are in one,
  // and among those that cannot be told apart the one at the same position.
  const rowOf = (element) => element.closest("tr[id], li[id]");
  const twins = (element, scope) => [...scope.querySelectorAll(element.localName)].filter((other) => other.getClientRects().length > 0
    && (element.hasAttribute("href") ? other.getAttribute("href") === element.getAttribute("href") : other.textContent === element.textContent));
  const replace = (part, fresh) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const row = focused && rowOf(focused);
    const at = focused && twins(focused, row ?? part).indexOf(focused);
    part.replaceWith(fresh);
    if (!focused) return;
    twins(focused, (row && document.getElementById(row.id)) ?? fresh)[at]?.focus();
  };

  const ended = "Esta lista ya no se actualiza: su sesión terminó o cambió. Recargue la página.";
  const unanswered = "El servicio no responde: esta lista puede no estar al día. Se vuelve a intentar sola.";
  const failures = {};

  // say puts words above a part, or takes them away if there are none.
  const say = (id, words) => {
    const shown = document.getElementById(id + "-stale");
    if (shown?.textContent === words) return;
    shown?.remove();
    if (!words) return;
    const notice = Object.assign(document.createElement("p"), { id: id + "-stale", className: "notice failed", textContent: words });
    notice.setAttribute("role", "alert");
    document.getElementById(id).before(notice);
  };

  // One request that fails is not worth a word: a process that restarts is back before the next.
  const sayFailure = (id) => {
    failures[id] = (failures[id] ?? 0) + 1;
    if (failures[id] > 1) say(id, unanswered);
  };

  const refresh = async (id) => {
    const part = document.getElementById(id);
    if (!part || document.hidden || busy(part)) return;
    const headers = { "X-Fragment": id };
    if (tags[id]) headers["If-None-Match"] = tags[id];
    const response = await fetch(part.dataset.live, { headers, redirect: "manual" });
    if (response.type === "opaqueredirect" || response.status === 403 || response.status === 404) return say(id, ended);
    if (!response.ok && response.status !== 304) return sayFailure(id);
    failures[id] = 0;
    say(id, "");
    if (response.status === 304) return;
    const answer = await response.text();
    // Meanwhile somebody may have ticked a box, or another answer may have come.
    if (!part.isConnected || busy(part)) return;
    const known = new Set([...part.querySelectorAll("tr[id]")].map((row) => row.id));
    const fresh = new DOMParser().parseFromString(answer, "text/html").getElementById(id);
    tags[id] = response.headers.get("ETag");
    if (!fresh || fresh.innerHTML === part.dataset.shown) return;
    const shown = fresh.innerHTML;
    for (const row of fresh.querySelectorAll("tr[id]")) if (!known.has(row.id)) row.classList.add("fresh");
    replace(part, fresh);
    fresh.dataset.shown = shown;
  };

  for (const part of document.querySelectorAll("[data-live]")) {
    const { id } = part;
    const every = Number(part.dataset.every) * 1000;
    let waiting;
    part.dataset.shown = part.innerHTML;
    const turn = () => {
      clearTimeout(waiting);
      refresh(id).catch(() => sayFailure(id)).finally(() => {
        clearTimeout(waiting);
        waiting = setTimeout(turn, every);
      });
    };
    waiting = setTimeout(turn, every);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) turn(); });
  }
})();
