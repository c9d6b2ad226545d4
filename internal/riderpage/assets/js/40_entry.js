// link is the token of the rider's link. It is taken out of the address at once, and outlives only
// a reload of this tab.
const link = (() => {
  const key = "reparto.link";
  let token = "";
  try {
    token = sessionStorage.getItem(key) ?? "";
  } catch {
    /* there is none */
  }
  const take = () => {
    if (location.hash.length < 2) return false;
    token = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
    try {
      sessionStorage.setItem(key, token);
    } catch {
      /* then it lives as long as the page */
    }
    return true;
  };
  take();
  // A link may be opened in a tab that has the page already.
  addEventListener("hashchange", () => take() && screen.show());
  return {
    token: () => token,
    forget: () => {
      token = "";
      try {
        sessionStorage.removeItem(key);
      } catch {
        /* nothing was kept */
      }
    },
  };
})();

// pinField is a field for a PIN.
const pinField = (id, label, properties = {}) =>
  el(
    "p",
    { class: "field" },
    el("label", { for: id }, label),
    el("input", {
      id,
      type: "password",
      inputMode: "numeric",
      autocomplete: "off",
      maxLength: 8,
      pattern: "[0-9]*",
      required: true,
      ...properties,
    }),
  );

const isPIN = (text) => /^\d{4,8}$/.test(text);

// entry is a card with a form that sends something, says what failed, and stays.
const entry = (title, intro, fields, label, send) => {
  const failure = el("p", { class: "notice bad", role: "alert", hidden: true });
  const submit = el("button", { class: "main" }, label);
  const fail = (text, field) => {
    failure.textContent = text;
    failure.hidden = !text;
    field?.focus();
  };
  const form = el(
    "form",
    { noValidate: true, class: "card" },
    el("h1", { id: "title", tabIndex: -1 }, title),
    intro && el("p", {}, intro),
    failure,
    ...fields,
    fields.length > 0 && submit,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    fail("");
    try {
      await send(form, fail);
    } catch (problem) {
      fail(
        problem instanceof Unanswered ? "No hay conexión con el servicio. Inténtelo otra vez." : `No se pudo: ${problem.message}`,
      );
    }
    submit.disabled = false;
  });
  return { title, content: [form], focus: form.querySelector("input") ?? form.querySelector("h1"), form, fail };
};

const waitingNote = () => {
  const count = outbox.all().filter(({ state }) => state === "queued").length;
  if (!count) return "";
  return `${plural(count, "registro espera", "registros esperan")} en este celular: no se ${count === 1 ? "pierde" : "pierden"}.`;
};

views.activate = () =>
  entry(
    "Active este celular",
    "Elija un PIN de 4 a 8 números. Lo escribirá al empezar cada jornada; no se lo diga a nadie.",
    [pinField("pin", "PIN nuevo"), pinField("again", "El mismo PIN otra vez")],
    "Activar",
    async (form, fail) => {
      const pin = form.querySelector("#pin"),
        again = form.querySelector("#again");
      if (!isPIN(pin.value)) return fail("El PIN tiene de 4 a 8 números.", pin);
      if (pin.value !== again.value) {
        again.value = "";
        return fail("Los dos PIN no son iguales. Escríbalo otra vez.", again);
      }
      const answer = await session.activate(link.token(), pin.value);
      if (answer.status !== 200) {
        if (answer.code === "link_invalid") {
          link.forget();
          views.none.said = answer.error;
          await start.enter();
          if (session.get().standing === "open") toast(answer.error); // the phone is still that of its rider
          return;
        }
        return fail(answer.error ?? "El servicio no respondió como debía. Inténtelo otra vez.", pin);
      }
      link.forget();
      // The browser is asked not to clear what was not sent when the phone runs out of space.
      navigator.storage?.persist?.().catch(() => {});
      await start.enter();
    },
  );

views.locked = () => {
  const { rider, operator, said } = session.get();
  const view = entry(
    "Su PIN",
    [rider?.name, operator?.name].filter(Boolean).join(" · "),
    [pinField("pin", "PIN")],
    "Entrar",
    async (form, fail) => {
      const pin = form.querySelector("#pin");
      if (!isPIN(pin.value)) return fail("El PIN tiene de 4 a 8 números.", pin);
      const answer = await session.unlock(pin.value);
      if (answer.status === 200) return start.enter();
      pin.value = "";
      fail(answer.error ?? "El servicio no respondió como debía. Inténtelo otra vez.", pin);
    },
  );
  const note = waitingNote();
  if (note) view.form.append(el("p", { class: "hint" }, note));
  if (said && note) view.form.querySelector("h1").after(el("p", {}, said));
  return view;
};

views.none = () =>
  entry(
    "Reparto",
    views.none.said ?? "Abra aquí el enlace que le envió su operador. Con él, este celular queda a su nombre.",
    [],
  );

views.revoked = () =>
  entry(
    "Este celular ya no tiene acceso",
    [session.get().said ?? "Su operador retiró el acceso.", "Pida un enlace nuevo a su operador.", waitingNote()]
      .filter(Boolean)
      .join(" "),
    [],
  );

views.unknown = () =>
  entry("Un momento", "Falta comprobar de quién es este celular. Se necesita conexión.", [el("span")], "Comprobar", async () => {
    await session.check();
    await start.enter();
  });
