// The load: every package is read at the counter, and the rider confirms what they take. What was
// read outlives the page.
views.load = () => {
  const expected = () => day.stops().filter(({ place, loaded }) => place !== "delivered" && !loaded);
  const has = (stop) => day.codes().some((code) => guideIn(code) === guideIn(stop.guide_code));
  const strange = () => day.codes().filter((code) => !day.byCode(code, day.stops()));
  const list = el("div"),
    outcome = el("p", { class: "outcome", role: "status" });
  const typed = el("input", {
    id: "code",
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: false,
    enterKeyHint: "done",
  });
  const confirm = el("button", { type: "button", class: "main" });
  let adding = Promise.resolve();

  const judge = async (code) => {
    const found = day.byCode(code, day.stops()),
      again = day.codes().some((each) => guideIn(each) === guideIn(code));
    if (!again) await day.keepCodes([...day.codes(), code]);
    tone(found ? "good" : "bad");
    const text = !found
      ? `${code}: no está en su lista`
      : again
        ? `Ya leído: ${found.recipient_name}`
        : `${found.recipient_name} · ${found.district ?? ""}`;
    outcome.textContent = text;
    outcome.className = found ? "outcome good" : "outcome bad";
    return text;
  };
  const add = (code) => {
    adding = adding.then(() => judge(code.trim()));
    return adding;
  };

  const draw = () => {
    if (!day.get()) return list.replaceChildren(el("p", { class: "card quiet" }, "En este celular no está la lista de hoy."));
    const wanted = expected(),
      missing = wanted.filter((stop) => !has(stop)),
      extra = strange(),
      read = wanted.filter(has);
    const row = (stop, mark) => el("li", { class: "card check-row" }, mark, brief(stop));
    list.replaceChildren(
      ...[
        extra.length &&
          el(
            "section",
            { class: "notice bad" },
            el("h2", {}, `No están en su lista (${extra.length})`),
            el(
              "ul",
              {},
              extra.map((code) =>
                el(
                  "li",
                  {},
                  el("span", { class: "code" }, code),
                  " ",
                  button("Quitar", () => day.keepCodes(day.codes().filter((each) => each !== code)), { class: "link" }),
                ),
              ),
            ),
            el("p", {}, "Déjelos en la sucursal o avise a su operador."),
          ),
        missing.length && el("h2", {}, "Faltan ", el("span", { class: "count" }, missing.length)),
        missing.length &&
          el(
            "ul",
            { class: "stops" },
            missing.map((stop) => row(stop, el("span", { class: "box" }))),
          ),
        read.length && el("h2", {}, "Leídos ", el("span", { class: "count" }, read.length)),
        read.length &&
          el(
            "ul",
            { class: "stops" },
            read.map((stop) => row(stop, el("span", { class: "box full" }, icon("check")))),
          ),
        !wanted.length && !extra.length && el("p", { class: "card quiet" }, "Toda su carga está confirmada."),
      ].filter(Boolean),
    );
    confirm.textContent = `Confirmar carga (${read.length} de ${wanted.length})`;
    confirm.disabled = !day.codes().length;
  };
  confirm.addEventListener("click", async () => {
    await adding;
    const codes = day.codes(),
      missing = expected().filter((stop) => !has(stop));
    if (
      missing.length &&
      !(await ask(
        `${plural(missing.length, "paquete no se leyó", "paquetes no se leyeron")}. Confirme solo si no los tiene.`,
        "Confirmar",
      ))
    )
      return;
    await outbox.put({
      id: newID(),
      kind: "load",
      rider: session.get().rider.id,
      orders: [],
      body: { codes, occurred_at: new Date().toISOString() },
    });
    await day.keepCodes([]);
    screen.close();
    toast("Carga anotada");
  });
  const form = el(
    "form",
    {
      class: "find",
      noValidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        const code = typed.value.trim();
        typed.value = "";
        if (code) add(code);
      },
    },
    typed,
    el("button", { class: "plain" }, "Agregar"),
  );
  draw();
  return {
    title: "Tomar la carga",
    scan: add,
    update: draw,
    content: [
      heading("Tomar la carga"),
      el(
        "div",
        { class: "form" },
        camera.exists() &&
          el(
            "button",
            { type: "button", class: "main wide", onclick: () => camera.codes("Leer etiquetas", add) },
            icon("scan"),
            "Leer con la cámara",
          ),
        el("label", { for: "code" }, "O con un lector, o escriba la guía"),
        form,
        outcome,
        list,
        el("footer", { class: "deed" }, confirm),
      ),
    ],
  };
};
