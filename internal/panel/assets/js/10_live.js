// Parts of a page that change by themselves: they are fetched again while somebody looks, and rows that were not there before light up. A list of
// orders is fetched when a stream of the panel says that an order has changed, other parts and lists without a stream every few seconds. A part
// whose boxes are ticked, or in which something is open, is left alone, so that nobody loses what they chose or read. Nothing is fetched and no
// stream is open while the page is hidden, and a part that has not changed is answered without its content. A part that can no longer be fetched
// says so: otherwise it would look like one in which nothing happens.
(() => {
  const busy = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")
    || part.querySelector("tbody input:is(:checked, :indeterminate), .all input:checked, details[open]");
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

  // refresh fetches a part; it returns true for one that was left alone.
  const refresh = async (id) => {
    const part = document.getElementById(id);
    if (!part || document.hidden) return;
    if (busy(part)) return true;
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
    if (!part.isConnected || busy(part)) return true;
    const known = new Set([...part.querySelectorAll("tr[id]")].map((row) => row.id));
    const fresh = new DOMParser().parseFromString(answer, "text/html").getElementById(id);
    tags[id] = response.headers.get("ETag");
    if (!fresh || fresh.innerHTML === part.dataset.shown) return;
    const shown = fresh.innerHTML;
    for (const row of fresh.querySelectorAll("tr[id]")) if (!known.has(row.id)) row.classList.add("fresh");
    replace(part, fresh);
    fresh.dataset.shown = shown;
  };

  // A part that was left alone is looked at again soon, which costs no request.
  const busyPause = 2000;
  // However many orders change at once, a list is fetched once in that time.
  const shortest = 1000;
  // A list without a stream, as behind a proxy that lets none through, is fetched less often than what has none.
  const withoutStream = 3;

  // watch calls changed when orders have changed, as the stream at a path says, and lost when there is no stream and the browser opens none.
  const watch = (path, changed, lost) => {
    let stream;
    const close = () => { stream?.close(); stream = undefined; };
    const open = () => {
      if (document.hidden || stream) return;
      stream = new EventSource(path);
      stream.onmessage = changed; // also once for what has changed before
      stream.onerror = () => {
        if (stream.readyState !== EventSource.CLOSED) return changed(); // the browser tries again; the fetch tells whether there is an answer
        close();
        lost();
      };
    };
    open();
    document.addEventListener("visibilitychange", () => document.hidden ? close() : open());
    window.addEventListener("pagehide", close);
    window.addEventListener("pageshow", open);
  };

  for (const part of document.querySelectorAll("[data-live]")) {
    const { id } = part;
    const every = Number(part.dataset.every) * 1000;
    const path = part.dataset.changes;
    let pause = path && window.EventSource ? 0 : every;
    let waiting;
    let last = 0;
    part.dataset.shown = part.innerHTML;
    const wait = (time) => {
      clearTimeout(waiting);
      waiting = setTimeout(turn, time);
    };
    const turn = () => {
      clearTimeout(waiting);
      last = Date.now();
      refresh(id).catch(() => sayFailure(id)).then((left) => {
        if (pause > 0) wait(pause);
        else if (left) wait(busyPause);
        else if (failures[id] > 0) wait(every);
      });
    };
    const soon = () => wait(Math.max(0, last + shortest - Date.now()));
    if (pause > 0) wait(pause);
    else watch(path, () => { pause = 0; soon(); }, () => { pause = every * withoutStream; soon(); });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) turn(); });
  }
})();
