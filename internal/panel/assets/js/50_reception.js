// The counter: the field is free for the next package at once, what was scanned waits in line and is sent one after the other. Nothing
// leaves the line before the service has answered, and the line outlives a reload of the page.
(() => {
  const form = document.getElementById("scanner");
  if (!form) return;
  const field = form.elements.codigo;
  const branch = form.elements.sucursal;
  const pending = document.getElementById("pending");
  const stuckActions = pending.querySelector("[data-pending-stuck]");
  const kept = "despacho.reception." + form.dataset.owner;
  const scanTimeout = 15000;
  const tryAgainAfter = 5000;

  let line = [];
  let sending = false;
  let stuck = false;
  let waiting;

  const keep = () => {
    try { sessionStorage.setItem(kept, JSON.stringify(line)); } catch { /* then it lives as long as the page */ }
  };
  try { line = JSON.parse(sessionStorage.getItem(kept)) ?? []; } catch { line = []; }

  const showLine = () => {
    pending.hidden = line.length === 0;
    pending.classList.toggle("stuck", stuck);
    stuckActions.hidden = !stuck;
    pending.querySelector("[data-pending-count]").textContent = line.length === 1 ? "1 código por enviar:" : line.length + " códigos por enviar:";
    pending.querySelector("[data-pending-codes]").textContent = line.map(({ codigo }) => codigo).join(", ");
  };

  // The outcome's container stays, so that screen readers announce what is put into it.
  const say = (outcome) => {
    document.getElementById("outcome").replaceChildren(...outcome.children);
    tone.play(document.querySelector("#outcome [data-tone]")?.dataset.tone);
  };

  const sayFailure = (code, reason) => {
    const outcome = document.createElement("div");
    const section = Object.assign(document.createElement("section"), { className: "outcome bad" });
    Object.assign(section.dataset, { tone: "bad", outcome: "unsent" });
    for (const [className, text] of [["verdict", "No se pudo recibir"], ["scanned code", code], ["why", reason]]) {
      section.append(Object.assign(document.createElement("p"), { className, textContent: text }));
    }
    outcome.append(section);
    say(outcome);
  };

  const showReceptions = (fresh) => {
    const shown = document.getElementById("receptions");
    const known = new Set([...shown.querySelectorAll("tr[id]")].map((row) => row.id));
    for (const row of fresh.querySelectorAll("tr[id]")) if (!known.has(row.id)) row.classList.add("fresh");
    shown.replaceWith(fresh);
  };

  // send returns what keeps a code from being received, or nothing once the service has answered for it. A scan whose answer was lost
  // says how long ago it was first sent: what it has received then was not received before.
  const send = async ({ codigo, sucursal, motorizado = "", sentAt }) => {
    const scan = { codigo, sucursal, motorizado };
    if (sentAt) scan.hace = Date.now() - sentAt;
    let response;
    try {
      response = await fetch(form.action, {
        method: "POST", body: new URLSearchParams(scan), headers: { "X-Fragment": "reception" }, redirect: "manual", signal: endAfter(scanTimeout),
      });
    } catch {
      return "Sin conexión con el servicio. El código queda guardado y se vuelve a enviar solo.";
    }
    if (response.type === "opaqueredirect") return "Su sesión terminó. Recargue la página e ingrese: el código queda guardado.";
    const answer = new DOMParser().parseFromString(await response.text().catch(() => ""), "text/html");
    const outcome = answer.getElementById("outcome");
    if (!outcome) return (answer.querySelector("#content .card p")?.textContent ?? "El servicio no respondió como debía.") + " El código queda guardado.";
    showReceptions(answer.getElementById("receptions"));
    const load = answer.getElementById("load");
    if (load) document.getElementById("load")?.replaceWith(load);
    if (response.status === 503) return outcome.querySelector(".why").textContent + " El código queda guardado.";
    say(outcome);
  };

  const work = async () => {
    if (sending) return;
    sending = true;
    clearTimeout(waiting);
    while (line.length > 0) {
      showLine();
      const sentAt = Date.now();
      const failure = await send(line[0]);
      if (failure) {
        line[0].sentAt ??= sentAt;
        keep();
        const first = !stuck;
        stuck = true;
        if (first) sayFailure(line[0].codigo, failure);
        waiting = setTimeout(work, tryAgainAfter);
        break;
      }
      stuck = false;
      line.shift();
      keep();
    }
    sending = false;
    showLine();
  };

  const take = (codigo) => {
    field.focus();
    line.push({ codigo, sucursal: branch?.value ?? "", motorizado: form.elements.motorizado?.value ?? "" });
    keep();
    showLine();
    if (stuck) tone.play("bad"); // it waits behind one that cannot be sent
    work();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation(); // the form is sent again and again, so its button is never switched off
    const codigo = field.value.trim();
    field.value = "";
    if (codigo === "") return field.focus();
    take(codigo);
  });

  pending.querySelector("[data-retry]").addEventListener("click", () => { field.focus(); stuck = false; work(); });
  pending.querySelector("[data-discard]").addEventListener("click", () => {
    field.focus();
    if (sending) return;
    line.shift();
    stuck = false;
    keep();
    showLine();
    work();
  });

  // A branch is chosen with the arrow keys, and Enter leads back to the code.
  branch?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== branch) return; // in the open list Enter chooses
    event.preventDefault();
    field.focus();
  });
  // In the list of branches the letters of a slow reader would choose another branch.
  listenToReader({ field, take });
  window.addEventListener("online", () => work());
  window.addEventListener("beforeunload", (event) => { if (line.length > 0) event.preventDefault(); });

  showLine();
  work();
})();
