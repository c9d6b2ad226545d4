// attention is what the service answered and the rider has to know: it stays until they say so.
const attention = () =>
  outbox
    .all()
    .filter(({ state }) => ["rejected", "refused", "told"].includes(state))
    .map((act) => {
      const who = (act.names ?? []).join(", "),
        end = button("Entendido", () => outbox.acknowledge(act.seq), { class: "plain" });
      if (act.state === "told") {
        const { confirmed, missing = [], extra = [] } = act.told;
        return el(
          "section",
          { class: "notice warn", "aria-label": "Diferencias de la carga" },
          el("h2", {}, `Carga confirmada: ${plural(confirmed, "paquete", "paquetes")}`),
          missing.length > 0 &&
            el(
              "p",
              {},
              `${missing.length === 1 ? "Falta" : "Faltan"} ${missing.length}: ` +
                missing.map((each) => `${each.recipient_name} (${each.guide_code})`).join(", ") +
                ". Su operador también lo ve.",
            ),
          extra.length > 0 &&
            el(
              "ul",
              {},
              extra.map((each) => el("li", {}, `${each.guide_code ?? each.code}: ${each.message}`)),
            ),
          el("div", { class: "pair" }, end),
        );
      }
      if (act.state === "refused") {
        return el(
          "section",
          { class: "notice bad", "aria-label": "No se registró" },
          el("h2", {}, "No se registró"),
          el(
            "ul",
            {},
            act.refused.map((result) =>
              el(
                "li",
                {},
                el("b", {}, act.form?.stops?.find(({ id }) => id === result.order_id)?.recipient_name ?? who),
                `: ${result.message ?? "El servicio no lo aceptó."} `,
                result.action ?? "",
              ),
            ),
          ),
          el("div", { class: "pair" }, end),
        );
      }
      return el(
        "section",
        { class: "notice bad", "aria-label": "Falta corregir" },
        el("h2", {}, "Falta corregir"),
        el("p", {}, who && el("b", {}, who + ": "), inWords(act.said, act.fields)),
        el(
          "div",
          { class: "pair" },
          button(
            "Descartar",
            async () => {
              if (await ask("Se borra de este celular lo que escribió y la foto. El servicio no lo tiene.", "Borrar"))
                outbox.acknowledge(act.seq);
            },
            { class: "plain" },
          ),
          button("Corregir", () => correct(act), { class: "main" }),
        ),
      );
    });

// correct opens the form of an act that the service rejected, or the load.
const correct = async (act) => {
  if (act.kind === "load") {
    await day.keepCodes(act.body.codes);
    await outbox.acknowledge(act.seq);
    return screen.go("load");
  }
  const taken = await outbox.reopen(act.seq);
  if (taken) screen.go(taken.body.type === "delivered" ? "deliver" : "fail", { id: taken.orders[0] });
};

// sendingBar says how much is not sent yet, and why.
const sendingBar = () => {
  const waiting = outbox.all().filter(({ state }) => state === "queued"),
    progress = outbox.progress();
  const { timezone } = session.get().operator,
    said = [];
  if (waiting.length) said.push(`Por enviar: ${waiting.length}`);
  if (progress) said.push(progress.part > 0 && progress.part < 1 ? `enviando ${Math.round(progress.part * 100)} %` : "enviando…");
  else if (waiting.length && outbox.trouble()) said.push(outbox.trouble());
  else if (day.unreachable() || !navigator.onLine) said.push("Sin conexión");
  if (!waiting.length && said.length && day.get()) said.push(`datos de las ${when(day.get().fetchedAt, timezone)}`);
  if (!said.length) return undefined;
  return el(
    "button",
    { type: "button", class: `sending ${waiting.length ? "warn" : ""}`, onclick: () => screen.go("outbox") },
    said.join(" · "),
    progress && el("progress", { max: 1, value: progress.part, "aria-label": "Envío" }),
  );
};

const totalsPart = (list) => {
  const { currency, timezone } = session.get().operator,
    sums = day.totals(list);
  const tile = (label, value) => el("div", {}, el("dt", {}, label), el("dd", {}, value));
  return el(
    "section",
    { class: "totals card", "aria-label": "Totales" },
    el("dl", {}, tile("En mano", sums.inHand), tile("Entregados", sums.delivered), tile("No se pudo", sums.failed)),
    el("p", { class: "handin" }, "Por rendir: ", el("strong", {}, money(sums.toHandIn, currency))),
    (sums.ways.length > 0 || sums.unsent > 0) &&
      el(
        "p",
        { class: "hint" },
        [
          ...sums.ways.map(({ label, cents }) => `${label} ${money(cents, currency)}`),
          sums.unsent > 0 && `incluye ${money(sums.unsent, currency)} por enviar`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    ...(day.get()?.hand_ins ?? []).map(({ number, at, on_account, amount, difference }) =>
      el(
        "p",
        { class: "hint" },
        `${on_account ? "A cuenta" : `Rendición ${number}`}, ${when(at, timezone)}: ${money(cents(amount), currency)}`,
        cents(difference) !== 0 && ` (${cents(difference) < 0 ? "faltó" : "sobró"} ${money(Math.abs(cents(difference)), currency)})`,
      ),
    ),
  );
};
