// installing is the question of the browser whether the page is to be installed, for when it is asked.
let installing;
addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  installing = event;
});

views.list = async () => {
  let moving = false,
    query = "",
    begun = await drafts.begun();
  const head = el("div", { class: "state" }),
    notices = el("div"),
    totals = el("div"),
    sections = el("div");
  const cards = new Map(); // by package, with what it was made from

  const close = () => menu.removeAttribute("open");
  const item = (label, act) =>
    el(
      "li",
      {},
      button(
        label,
        () => {
          close();
          act();
        },
        { class: "link" },
      ),
    );
  const menuItems = el("ul");
  const menu = el(
    "details",
    {
      class: "menu",
      ontoggle: () =>
        menuItems.replaceChildren(
          ...[
            item("Tomar la carga", () => screen.go("load")),
            item(moving ? "Terminar de ordenar" : "Ordenar mis paradas", arrange),
            item(`Por enviar (${outbox.all().filter(({ state }) => state === "queued").length})`, () => screen.go("outbox")),
            item("Actualizar", () => {
              day.refresh();
              outbox.wake();
            }),
            installing &&
              item("Instalar en este celular", () => {
                installing.prompt();
                installing = undefined;
              }),
            item("Bloquear con mi PIN", () => session.lock()),
          ].filter(Boolean),
        ),
    },
    el("summary", { "aria-label": "Menú" }, "Menú"),
    menuItems,
  );

  const search = el("input", {
    id: "find",
    type: "search",
    placeholder: "Buscar nombre, dirección o guía",
    "aria-label": "Buscar",
    autocomplete: "off",
    oninput: () => {
      query = search.value;
      draw();
    },
  });
  const find = el(
    "div",
    { class: "find" },
    search,
    camera.exists() &&
      el(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-label": "Leer una etiqueta con la cámara",
          onclick: () => camera.codes("Buscar un paquete", scan, true),
        },
        icon("scan"),
      ),
  );

  const scan = (code) => {
    const found = day.byCode(code, day.stops());
    tone(found ? "good" : "bad");
    if (!found) return toast("Esa guía no está en su lista.");
    query = search.value = "";
    draw();
    const card = document.getElementById("card-" + found.id);
    card.closest("details")?.setAttribute("open", "");
    card.scrollIntoView({ block: "center" });
    document.getElementById("stop-" + found.id)?.focus({ preventScroll: true });
  };

  const arrange = () => {
    moving = !moving;
    query = search.value = "";
    draw();
    scrollTo(0, 0);
  };
  const move = async (from, to, name) => {
    const ids = day.arranged(day.stops().filter((stop) => stop.place === "open")).map(({ id }) => id),
      [id] = ids.splice(from, 1);
    ids.splice(to, 0, id);
    await day.arrange(ids);
    draw();
    const again = document.querySelector(`[data-focus="${name}-${id}"]`);
    (again?.disabled ? document.querySelector(`[data-focus="${name === "up" ? "down" : "up"}-${id}"]`) : again)?.focus();
    say(`Ahora es el ${to + 1} de ${ids.length}`);
  };

  // card returns the kept element of a stop unless the stop has changed: what is open in it stays
  // open.
  const card = (stop, drawn, make) => {
    const { rules, load } = day.get(),
      from = JSON.stringify([stop, drawn, make.name, load?.confirmed_at, rules.whatsapp_template]),
      kept = cards.get(stop.id);
    if (kept?.from === from) return kept.element;
    const element = make(stop, drawn);
    cards.set(stop.id, { from, element });
    return element;
  };
  const matches = (stop) => {
    const wanted = fold(query);
    return (
      !wanted ||
      fold([stop.recipient_name, stop.delivery_address, stop.district, stop.store_name].join(" ")).includes(wanted) ||
      (query.trim().length > 2 && guideIn(stop.guide_code).includes(guideIn(query)))
    );
  };
  const section = (title, list, extra) => [
    el("h2", {}, `${title} `, el("span", { class: "count" }, list.length), extra),
    el("ol", { class: "stops" }, list),
  ];
  const folded = (title, list) =>
    el(
      "details",
      { class: "folded", open: Boolean(query) },
      el("summary", {}, el("h2", {}, `${title} `, el("span", { class: "count" }, list.length))),
      el("ol", { class: "stops" }, list),
    );

  const drawSections = (list) => {
    const of = (name) => list.filter((stop) => stop.place === name && matches(stop));
    const open = day.arranged(of("open")),
      failed = of("failed"),
      delivered = of("delivered"),
      returning = of("returning"),
      made = [];
    if (moving) {
      made.push(
        el(
          "div",
          { class: "pair" },
          button("Listo", arrange, { class: "main" }),
          day.isArranged() &&
            button(
              "Volver al orden por distrito",
              async () => {
                await day.arrange([]);
                draw();
              },
              { class: "plain" },
            ),
        ),
        el(
          "ol",
          { class: "stops" },
          open.map((stop, i) => moveRow(stop, i, open.length, move)),
        ),
      );
      return sections.replaceChildren(...made);
    }
    if (day.isArranged())
      made.push(
        ...section(
          "Por entregar",
          open.map((stop, i) => card(stop, { nth: i + 1, district: true }, stopCard)),
        ),
      );
    else {
      for (const district of new Set(open.map((stop) => stop.district))) {
        made.push(
          ...section(
            district || "Sin distrito",
            open.filter((stop) => stop.district === district).map((stop) => card(stop, {}, stopCard)),
          ),
        );
      }
    }
    if (!open.length && !query)
      made.push(
        el("p", { class: "card quiet" }, list.length ? "No le queda nada por entregar." : "Todavía no tiene paquetes asignados."),
      );
    if (failed.length)
      made.push(
        ...section(
          "No se pudo",
          failed.map((stop) => card(stop, { district: true }, stopCard)),
        ),
      );
    if (returning.length)
      made.push(
        ...section(
          "Por devolver",
          returning.map((stop) => card(stop, { district: true }, stopCard)),
        ),
      );
    if (delivered.length)
      made.push(
        folded(
          "Entregados",
          delivered.map((stop) => card(stop, {}, doneRow)),
        ),
      );
    if (query && !made.some((each) => each.localName !== "p"))
      made.push(el("p", { class: "card quiet" }, "Nada coincide con lo que busca."));
    sections.replaceChildren(...made);
  };

  const drawNotices = () => {
    const { load } = day.get() ?? {},
      made = attention(),
      strangers = outbox.strangers();
    const about = (id) => day.stops().find((stop) => stop.id === id && ["open", "failed"].includes(stop.place));
    for (const { type, id } of begun) {
      const stop = about(id);
      if (!stop) continue;
      made.push(
        el(
          "section",
          { class: "notice warn" },
          el("p", {}, `Quedó a medias: ${type === "delivered" ? "entrega a" : "no se pudo,"} ${stop.recipient_name}`),
          el(
            "div",
            { class: "pair" },
            button(
              "Borrar",
              async () => {
                if (!(await ask("Se borra lo que escribió y la foto de este intento.", "Borrar"))) return;
                await drafts.remove(drafts.keyOf(type, id));
                begun = await drafts.begun();
                draw();
              },
              { class: "plain" },
            ),
            button("Seguir", () => screen.go(type === "delivered" ? "deliver" : "fail", { id }), { class: "main" }),
          ),
        ),
      );
    }
    if (strangers) {
      made.push(
        el(
          "p",
          { class: "notice warn" },
          `${plural(strangers, "registro", "registros")} de otro motorizado en este celular. ` +
            "Se enviarán cuando esa persona vuelva a entrar aquí.",
        ),
      );
    }
    const asked = outbox.all().some(({ kind, state }) => kind === "load" && state === "queued");
    if (load && load.expected > load.confirmed && !asked && !attention().length) {
      made.push(
        el(
          "section",
          { class: "notice warn" },
          el(
            "p",
            {},
            load.confirmed_at
              ? `Hay ${plural(load.expected - load.confirmed, "paquete", "paquetes")} sin confirmar en su carga.`
              : `Tome su carga: ${plural(load.expected, "paquete", "paquetes")}.`,
          ),
          el(
            "div",
            { class: "pair" },
            button("Tomar la carga", () => screen.go("load"), { class: "main" }),
          ),
        ),
      );
    }
    return made;
  };

  const draw = () => {
    const focused = document.activeElement,
      bar = sendingBar();
    head.replaceChildren(...[bar].filter(Boolean));
    if (!day.get()) {
      sections.replaceChildren(
        el(
          "p",
          { class: "card quiet" },
          day.unreachable() ? "Sin conexión, y en este celular no está la lista de hoy." : "Cargando su lista…",
        ),
      );
      notices.replaceChildren(...attention());
      find.hidden = true;
      return;
    }
    const list = day.stops();
    find.hidden = moving || !list.length;
    notices.replaceChildren(...(moving ? [] : drawNotices()));
    totals.replaceChildren(...(moving ? [] : [totalsPart(list)]));
    drawSections(list);
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  };

  const { rider, operator } = session.get();
  draw();
  return {
    title: "Mi día",
    content: [
      el(
        "header",
        { class: "top" },
        el(
          "div",
          {},
          el("h1", { id: "title", tabIndex: -1 }, "Mi día"),
          el("p", { class: "hint" }, `${rider.name} · ${operator.name}`),
        ),
        menu,
      ),
      head,
      notices,
      totals,
      find,
      sections,
    ],
    update: draw,
    scan,
    leave: close,
  };
};
