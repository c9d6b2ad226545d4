// Many orders are created a few at a time, so that their sender sees how it goes. Every row is created once, however often it is sent:
// after a broken connection the button simply starts again.
(() => {
  const send = async (path, fields, part) => {
    const content = new FormData();
    for (const [name, value] of Object.entries(fields)) content.set(name, value);
    const response = await fetch(path, { method: "POST", body: content, headers: { "X-Fragment": part }, redirect: "error" });
    if (!response.ok) throw Object.assign(new Error(`status ${response.status}`), { over: response.status === 422 });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  };

  const place = (answer) => {
    for (const fresh of answer.querySelectorAll("tr[id]")) document.getElementById(fresh.id)?.replaceWith(fresh);
  };

  const chip = (kind, text) => Object.assign(document.createElement("span"), { className: `chip ${kind}`, textContent: text });
  const count = () => {
    const rows = (state) => document.querySelectorAll(`[data-state="${state}"]`).length;
    const states = [["created", "good", "creado", "creados"], ["ready", "quiet", "por crear", "por crear"], ["existed", "", "ya existía", "ya existían"], ["pending", "warn", "pendiente", "pendientes"], ["wrong", "bad", "con errores", "con errores"]];
    document.getElementById("tally").replaceChildren(...states.filter(([state]) => rows(state)).map(([state, kind, one, many]) => chip(kind, `${rows(state)} ${rows(state) === 1 ? one : many}`)));
  };

  const leaving = (event) => event.preventDefault();

  const run = async (form) => {
    const { filas, resto, visto, separador } = Object.fromEntries(new FormData(form));
    const rows = JSON.parse(filas);
    const size = Number(form.dataset.batches);
    const button = form.querySelector("button[type=submit]");
    const box = form.querySelector(".progress"), bar = box.querySelector("progress"), said = box.querySelector("[role=status]");
    box.hidden = false;
    bar.max = rows.length;
    bar.value = 0;
    window.addEventListener("beforeunload", leaving);
    try {
      for (let at = 0; at < rows.length; at += size) {
        said.textContent = `Creando: ${at} de ${rows.length}…`;
        place(await send(form.action, { filas: JSON.stringify(rows.slice(at, at + size)), visto, separador }, "rows"));
        bar.value = Math.min(at + size, rows.length);
        count();
      }
      const left = document.querySelectorAll('[data-state="pending"]').length;
      if (left) throw new Error(`${left} left`);
      const after = (await send(form.dataset.after, { filas, resto, visto, separador }, "after")).getElementById("after");
      document.getElementById("after").replaceWith(after);
      form.hidden = true;
      for (const heading of document.querySelectorAll("[data-done]")) heading.textContent = heading.dataset.done;
      after.querySelector("a, button")?.focus();
    } catch (error) {
      said.textContent = error.over ? "La revisión venció. Vuelva a subir el archivo."
        : "No se pudo terminar. Presione el botón otra vez: lo que ya se creó no se repite. Si sigue igual, vuelva a ingresar al panel y suba el archivo el mismo día.";
      button.textContent = "Continuar";
      button.disabled = false;
      button.focus();
    } finally {
      window.removeEventListener("beforeunload", leaving);
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.download !== undefined) {
      // A download leaves the page as it is: its button can be pressed again.
      setTimeout(() => { form.querySelector("button").disabled = false; }, 1000);
      return;
    }
    if (!form.dataset.batches) return;
    event.preventDefault();
    run(form);
  });
})();
