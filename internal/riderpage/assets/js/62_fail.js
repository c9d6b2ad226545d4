// The form of a failed attempt: a reason is tapped, and that is all where nothing else is required.
// Photo and note come before it.
views.fail = async ({ id }) => {
  const about = await openForm("attempt_failed", id);
  if (!about) return missingView();
  const { form, rules } = about;
  const reasonOf = (code) => rules.reasons.find((reason) => reason.code === code) ?? {};
  const errors = errorList();
  const photo = photoField(about.key, about.photo, () => reasonOf(form.reason).needs_photo);
  const note = el("textarea", {
    id: "note",
    rows: 2,
    maxLength: 1000,
    value: form.note ?? "",
    oninput: () => {
      form.note = note.value;
      about.keep();
    },
  });
  const noteField = field("note", el("span", {}, "Nota ", el("span", { class: "hint" })), note);
  const save = el("button", { class: "main" }, "Guardar");
  const deed = el("footer", { class: "deed", hidden: true }, save);
  const where = el("p", { class: "hint where" });
  const list = el("div", { class: "reasons", role: "group", "aria-labelledby": "why" });
  let busy = false;

  const missing = (taken) => {
    const reason = reasonOf(form.reason),
      wrong = [];
    if (!reason.code) wrong.push({ text: "Elija el motivo." });
    if (reason.needs_photo && !taken) wrong.push({ text: `Para «${reason.label}» se necesita una foto.` });
    if (reason.needs_note && !form.note?.trim()) wrong.push({ id: "note", text: `Para «${reason.label}» escriba una nota.` });
    return wrong;
  };
  const commit = async () => {
    if (busy) return;
    busy = true;
    const occurredAt = form.occurredAt ?? new Date().toISOString();
    try {
      const taken = await photo.ready(),
        wrong = missing(taken);
      errors.show(wrong);
      if (wrong.length) return;
      const ids = about.stops().map((stop) => stop.id);
      const body = { type: "attempt_failed", order_ids: ids, occurred_at: occurredAt, reason: form.reason, ...place.now() };
      if (form.note?.trim()) body.note = form.note.trim();
      await finish(about, body, taken, `Anotado: ${reasonOf(form.reason).label}`);
    } catch (problem) {
      errors.show([
        {
          text: `No se pudo guardar en el celular (${problem.message}). Libere espacio e inténtelo otra vez: nada se ha borrado.`,
        },
      ]);
    } finally {
      busy = false;
    }
  };
  const draw = () => {
    list.replaceChildren(
      ...rules.reasons.map(({ code, label, needs_note, needs_photo }) => {
        const needs = [needs_photo && "foto", needs_note && "nota"].filter(Boolean).join(" y ");
        return el(
          "button",
          {
            type: "button",
            class: "reason",
            value: code,
            "aria-pressed": String(form.reason === code),
            onclick: async () => {
              form.reason = code;
              await about.keep();
              draw();
              deed.hidden = false;
              commit();
            },
          },
          el("span", {}, label),
          needs && el("span", { class: "hint" }, `pide ${needs}`),
        );
      }),
    );
    photo.redraw();
    noteField.querySelector(".hint").textContent = reasonOf(form.reason).needs_note ? "obligatoria" : "opcional";
    deed.hidden = !form.reason;
  };
  draw();
  const door = doorPart(about, () => {});
  const body = el(
    "form",
    {
      noValidate: true,
      class: "form",
      onsubmit: (event) => {
        event.preventDefault();
        commit();
      },
    },
    door.element,
    form.said && el("p", { class: "notice bad" }, form.said),
    errors.element,
    photo.element,
    noteField,
    el("section", {}, el("h2", { id: "why" }, "¿Por qué no se pudo?"), list),
    where,
    deed,
  );
  const sayWhere = () => {
    where.textContent = place.text();
  };
  return {
    title: "No se pudo",
    content: [heading("No se pudo"), body],
    scan: door.add,
    shown: () => {
      place.start(sayWhere);
      sayWhere();
    },
    leave: () => {
      place.stop();
      photo.leave();
    },
  };
};
