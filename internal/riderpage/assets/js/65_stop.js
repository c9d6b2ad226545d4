// The card of a stop: who and where, how much, and what can be done.
const mapLinks = (stop) => {
  const words = encodeURIComponent([stop.delivery_address, stop.district].filter(Boolean).join(", "));
  const hasPoint = typeof stop.lat === "number" && typeof stop.lng === "number",
    point = `${stop.lat},${stop.lng}`;
  const links = [
    [
      "Google Maps",
      `https://www.google.com/maps/${hasPoint ? "dir/?api=1&destination=" + point : "search/?api=1&query=" + words}`,
    ],
    ["Waze", `https://waze.com/ul?${hasPoint ? `ll=${point}&navigate=yes` : "q=" + words}`],
    ["Otra aplicación", hasPoint ? `geo:${point}?q=${point}` : `geo:0,0?q=${words}`],
  ];
  if (/^https?:\/\//i.test(stop.maps_url ?? "")) links.push(["Enlace de la tienda", stop.maps_url]);
  return links;
};

const usualMessage = "Hola {nombre}, le escribo de {operador}. Llevo su pedido {guia}.";
const whatsApp = (stop) => {
  const { operator } = session.get(),
    due = cents(stop.amount_to_collect);
  const values = {
    nombre: stop.recipient_name,
    guia: stop.guide_code,
    monto: money(due, operator.currency),
    operador: operator.name,
  };
  const text = (day.get().rules.whatsapp_template || usualMessage).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
  return `https://wa.me/${stop.recipient_phone.replace(/\D/g, "")}?text=${encodeURIComponent(text)}`;
};

const outside = (href, label, name, drawn) =>
  el(
    "a",
    { class: "button plain", href, target: "_blank", rel: "noopener noreferrer", "aria-label": `${label} a ${name}` },
    icon(drawn),
    el("span", {}, label),
  );

const attemptLine = (stop) => {
  const zone = session.get().operator.timezone,
    tried = stop.attempts ?? [];
  if (stop.own?.type === "attempt_failed") {
    const label = day.get().rules.reasons.find(({ code }) => code === stop.own.reason)?.label ?? stop.own.reason;
    return `Intento ${tried.length + 1}: ${label} · ${when(stop.own.at, zone)}`;
  }
  const last = tried.at(-1);
  return last && `Intento ${last.number}: ${last.label}${last.note ? ` («${last.note}»)` : ""} · ${when(last.occurred_at, zone)}`;
};

const marks = (stop) => [
  stop.unsent && el("span", { class: "mark warn" }, "Por enviar"),
  stop.wrong && el("span", { class: "mark bad" }, "Corregir"),
];

const stopCard = (stop, drawn) => {
  const name = stop.recipient_name,
    title = "stop-" + stop.id,
    due = cents(stop.amount_to_collect),
    { currency } = session.get().operator;
  const confirmed = day.get().load?.confirmed_at;
  const maps = el(
    "div",
    { class: "maps", hidden: true },
    mapLinks(stop).map(([label, href]) =>
      el("a", { class: "button plain", href, target: "_blank", rel: "noopener noreferrer" }, label),
    ),
  );
  const map = el(
    "button",
    {
      type: "button",
      class: "plain",
      "aria-expanded": "false",
      "aria-label": `Mapa de ${name}`,
      onclick: () => {
        maps.hidden = !maps.hidden;
        map.setAttribute("aria-expanded", String(!maps.hidden));
      },
    },
    icon("map"),
    el("span", {}, "Mapa"),
  );
  const line = (className, label, text) => text && el("p", { class: className }, label && el("b", {}, label + " "), text);
  return el(
    "li",
    { class: "stop card", id: "card-" + stop.id, dataset: { place: stop.place } },
    el(
      "div",
      { class: "who" },
      drawn.nth && el("span", { class: "nth" }, drawn.nth),
      el("h3", { id: title, tabIndex: -1 }, name),
      el("span", { class: "code" }, stop.guide_code),
    ),
    el(
      "p",
      { class: "address" },
      stop.delivery_address,
      drawn.district && stop.district && el("span", { class: "district" }, ` · ${stop.district}`),
    ),
    line("", "Ref.:", stop.delivery_reference),
    line("notes", "Nota:", stop.notes),
    line("goods", "", [stop.store_name, stop.product, stop.size].filter(Boolean).join(" · ")),
    line("tried", "", attemptLine(stop)),
    stop.next_attempt_on &&
      line("tried", "", `Se vuelve a intentar el ${stop.next_attempt_on.split("-").reverse().slice(0, 2).join("/")}`),
    confirmed && !stop.loaded && el("p", { class: "tried" }, "No se leyó al tomar la carga"),
    due > 0
      ? el("p", { class: "collect" }, "COBRAR ", el("strong", {}, money(due, currency)))
      : el("p", { class: "paid" }, "Pagado"),
    stop.place === "returning" ? el("p", { class: "notice warn" }, "No se entrega: devuélvalo en la sucursal.") : null,
    el("p", { class: "marks" }, marks(stop)),
    el(
      "div",
      { class: "ways" },
      stop.recipient_phone &&
        el(
          "a",
          {
            class: "button plain",
            href: "tel:" + stop.recipient_phone,
            "aria-label": `Llamar a ${name}, ${national(stop.recipient_phone)}`,
          },
          icon("call"),
          el("span", {}, "Llamar"),
        ),
      stop.recipient_phone && outside(whatsApp(stop), "WhatsApp", name, "chat"),
      map,
    ),
    maps,
    stop.wrong
      ? el(
          "div",
          { class: "deeds" },
          button("Corregir", () => screen.go("outbox"), { class: "main" }),
        )
      : stop.place !== "returning" &&
          el(
            "div",
            { class: "deeds" },
            el(
              "button",
              {
                type: "button",
                class: "main good",
                "aria-label": `Entregar a ${name}`,
                onclick: () => screen.go("deliver", { id: stop.id }),
              },
              "Entregar",
            ),
            el(
              "button",
              {
                type: "button",
                class: "plain fail",
                "aria-label": `No se pudo: ${name}`,
                onclick: () => screen.go("fail", { id: stop.id }),
              },
              "No se pudo",
            ),
          ),
  );
};

// doneRow is a package that was delivered, in two lines.
const doneRow = (stop) => {
  const { currency, timezone } = session.get().operator;
  const collected = stop.own
    ? stop.own.collections.reduce((sum, { amount }) => sum + cents(amount), 0)
    : cents(stop.done?.collected);
  return el(
    "li",
    { class: "done card", id: "card-" + stop.id, dataset: { place: stop.place } },
    el(
      "div",
      { class: "who" },
      el("h3", { id: "stop-" + stop.id, tabIndex: -1 }, stop.recipient_name),
      el("span", { class: "code" }, stop.guide_code),
    ),
    el(
      "p",
      { class: "hint" },
      [
        when(stop.own?.at ?? stop.done?.at ?? Date.now(), timezone),
        collected > 0 && `Cobrado ${money(collected, currency)}`,
        stop.delivery_address,
      ]
        .filter(Boolean)
        .join(" · "),
    ),
    el("p", { class: "marks" }, marks(stop)),
  );
};

// moveRow is a stop while the rider arranges the list.
const moveRow = (stop, i, count, move) => {
  const turn = (name, label, to, off) =>
    el(
      "button",
      {
        type: "button",
        class: "round",
        "aria-label": `${label}: ${stop.recipient_name}`,
        disabled: off,
        dataset: { focus: `${name}-${stop.id}` },
        onclick: () => move(i, to, name),
      },
      icon(name),
    );
  return el(
    "li",
    { class: "moving card", id: "card-" + stop.id },
    el("span", { class: "nth" }, i + 1),
    el(
      "div",
      {},
      el("strong", {}, stop.recipient_name),
      el("p", { class: "hint" }, [stop.delivery_address, stop.district].filter(Boolean).join(" · ")),
    ),
    el(
      "button",
      {
        type: "button",
        class: "link",
        "aria-label": `1.º: poner primero a ${stop.recipient_name}`,
        disabled: i === 0,
        onclick: () => move(i, 0, "up"),
      },
      "1.º",
    ),
    turn("up", "Subir", i - 1, i === 0),
    turn("down", "Bajar", i + 1, i === count - 1),
  );
};
