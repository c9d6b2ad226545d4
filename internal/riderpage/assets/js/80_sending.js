// What was not sent yet, one by one.
views.outbox = () => {
  const box = el("div");
  // The photos are decoded once, however often the rows around them change.
  const pictures = new Map();
  const picture = ({ seq, photo }) => {
    if (photo && !pictures.has(seq)) pictures.set(seq, el("img", { src: URL.createObjectURL(photo), alt: "Foto" }));
    return pictures.get(seq);
  };
  const kinds = { delivered: "Entrega", attempt_failed: "No se pudo" };
  const row = (act) => {
    const progress = outbox.progress(),
      now = progress?.seq === act.seq,
      { timezone } = session.get().operator;
    const state = now
      ? `Enviando ${Math.round(progress.part * 100)} %`
      : act.state === "done"
        ? "Enviado"
        : act.tries
          ? `Por enviar (${plural(act.tries, "intento", "intentos")})`
          : "Por enviar";
    return el(
      "li",
      { class: "card act" },
      picture(act),
      el(
        "div",
        {},
        el("strong", {}, `${act.kind === "load" ? "Carga" : kinds[act.body.type]} · ${clock(act.body.occurred_at, timezone)}`),
        el("p", {}, act.kind === "load" ? plural(act.body.codes.length, "guía leída", "guías leídas") : act.names.join(", ")),
        el("p", { class: "hint" }, state),
        now && el("progress", { max: 1, value: progress.part, "aria-label": "Envío" }),
      ),
      act.state === "queued" &&
        !act.tries &&
        act.kind === "act" &&
        button(
          "Deshacer",
          async () => {
            const taken = await outbox.reopen(act.seq);
            if (taken) screen.go(taken.body.type === "delivered" ? "deliver" : "fail", { id: taken.orders[0] });
          },
          { class: "plain" },
        ),
    );
  };
  const draw = () => {
    const waiting = outbox.all().filter(({ state }) => ["queued", "done"].includes(state));
    box.replaceChildren(
      ...attention(),
      waiting.length ? el("ol", { class: "stops" }, waiting.map(row)) : el("p", { class: "card quiet" }, "Todo está enviado."),
      waiting.length
        ? el(
            "p",
            { class: "hint" },
            outbox.trouble() ? `${outbox.trouble()}. ` : "",
            "Se envía solo cuando hay conexión. No borre los datos del navegador.",
          )
        : "",
      waiting.length ? button("Enviar ahora", () => outbox.wake(), { class: "main wide" }) : "",
    );
  };
  draw();
  return {
    title: "Por enviar",
    content: [heading("Por enviar"), box],
    update: draw,
    leave: () => {
      for (const { src } of pictures.values()) URL.revokeObjectURL(src);
    },
  };
};
