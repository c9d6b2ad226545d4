// What the two forms of a stop have in common: the packages that they are about, the draft, the
// errors, and how their act is kept.
const field = (id, label, input, hint) =>
  el("div", { class: "field" }, el("label", { for: id }, label), input, hint && el("p", { class: "hint" }, hint));

// facts are the lines about a package that a rider needs at the door.
const brief = (stop) =>
  el(
    "div",
    { class: "brief" },
    el("strong", {}, stop.recipient_name),
    el("span", { class: "code" }, stop.guide_code),
    el("span", {}, [stop.delivery_address, stop.district].filter(Boolean).join(", ")),
  );

// choose asks which other packages belong to the same act: first those for the same door.
const choose = (stop, near, rest, chosen) =>
  new Promise((resolve) => {
    const boxes = [];
    const rows = (stops) =>
      stops.map((other) => {
        const box = el("input", { type: "checkbox", checked: chosen.includes(other.id), value: other.id });
        boxes.push(box);
        return el("label", { class: "check" }, box, brief(other));
      });
    const dialog = el(
      "dialog",
      { class: "card picker", "aria-labelledby": "picking" },
      el("h2", { id: "picking" }, "Otros paquetes en esta puerta"),
      near.length > 0 && el("h3", {}, "Misma dirección o teléfono"),
      rows(near),
      rest.length > 0 && el("h3", {}, "Los demás"),
      rows(rest),
      el(
        "div",
        { class: "actions" },
        button("Listo", () => dialog.close("yes"), { class: "main" }),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? boxes.filter((box) => box.checked).map((box) => box.value) : chosen);
    });
    document.body.append(dialog);
    dialog.showModal();
  });

// openForm reads what a form is about: its packages, its draft and the rules. There is nothing
// where the package is not known here.
const openForm = async (type, id) => {
  const key = drafts.keyOf(type, id),
    kept = await drafts.read(key);
  const known = () => new Map([...(kept.form?.stops ?? []), ...day.stops()].map((stop) => [stop.id, stop]));
  const stop = known().get(id);
  if (!stop || !day.get()) return undefined;
  const form = { others: [], ...kept.form };
  const open = () => day.stops().filter((other) => ["open", "failed"].includes(other.place) && other.id !== id);
  const stops = () => [id, ...form.others].map((each) => known().get(each)).filter(Boolean);
  return {
    key,
    stop,
    form,
    stops,
    photo: kept.photo,
    rules: day.get().rules,
    currency: session.get().operator.currency,
    // keep writes the draft. Its packages are in it, for the case that they leave the list.
    keep: () => drafts.put(key, { ...form, stops: stops().map(({ own, place, unsent, wrong, ...order }) => order) }),
    near: () => day.sameDoor(stop, open()),
    rest: () => {
      const all = open(),
        near = day.sameDoor(stop, all);
      return all.filter((other) => !near.includes(other));
    },
  };
};

// doorPart shows the packages of the form, and has more of them added.
const doorPart = (about, changed) => {
  const box = el("section", { class: "door" });
  const set = async (others) => {
    about.form.others = others;
    await about.keep();
    draw();
    changed();
  };
  const draw = () => {
    const { form } = about,
      near = about.near().filter(({ id }) => !form.others.includes(id));
    box.replaceChildren(
      ...about
        .stops()
        .map((stop) =>
          el(
            "div",
            { class: "one" },
            brief(stop),
            stop.id !== about.stop.id &&
              el(
                "button",
                {
                  type: "button",
                  class: "round",
                  "aria-label": `Quitar ${stop.guide_code}`,
                  onclick: () => set(form.others.filter((id) => id !== stop.id)),
                },
                icon("close"),
              ),
          ),
        ),
    );
    if (near.length) {
      box.append(
        button(
          `Agregar ${plural(near.length, "paquete", "paquetes")} más para esta puerta`,
          () => set([...form.others, ...near.map(({ id }) => id)]),
          { class: "plain near" },
        ),
      );
    }
    if (about.near().length + about.rest().length) {
      box.append(
        button("Elegir otros paquetes", async () => set(await choose(about.stop, about.near(), about.rest(), form.others)), {
          class: "link",
        }),
      );
    }
  };
  draw();
  return {
    element: box,
    // add takes a package that was scanned.
    add: async (code) => {
      const found = day.byCode(code, [...about.near(), ...about.rest()]);
      const again = (found && about.form.others.includes(found.id)) || day.byCode(code, [about.stop]);
      tone(found || again ? "good" : "bad");
      say(
        again
          ? "Ese paquete ya está."
          : found
            ? `Agregado: ${found.recipient_name}`
            : "Esa guía no está entre sus paquetes por entregar.",
      );
      if (found && !again) await set([...about.form.others, found.id]);
    },
  };
};

// errorList says on top of a form what is missing, each as a link to its field.
const errorList = () => {
  const box = el("div", { class: "notice bad", role: "alert", tabIndex: -1, hidden: true });
  return {
    element: box,
    show: (errors) => {
      box.hidden = errors.length === 0;
      box.replaceChildren(
        el(
          "ul",
          {},
          errors.map(({ text, id }) =>
            el(
              "li",
              {},
              id
                ? el(
                    "a",
                    {
                      href: "#" + id,
                      onclick: (event) => {
                        event.preventDefault();
                        document.getElementById(id)?.focus();
                        document.getElementById(id)?.scrollIntoView({ block: "center" });
                      },
                    },
                    text,
                  )
                : text,
            ),
          ),
        ),
      );
      if (errors.length) {
        box.scrollIntoView({ block: "center" });
        box.focus({ preventScroll: true });
      }
    },
  };
};

// finish keeps the act of a form, goes back to the list and offers to undo it for as long as it was
// not sent.
const finish = async (about, body, photo, said) => {
  const { key, form } = about,
    stops = about.stops();
  await drafts.written().catch(() => {}); // what is in the act is newer
  const seq = await outbox.put(
    {
      kind: "act",
      id: newID(),
      rider: session.get().rider.id,
      orders: body.order_ids,
      names: stops.map((stop) => stop.recipient_name),
      body,
      photo,
      form: { ...form, stops },
      draft: key,
      heldUntil: Date.now() + outbox.undoTime,
    },
    key,
  );
  if (body.lat === undefined) place.wait(outbox.undoTime - 500).then((found) => found && outbox.place(seq, found));
  screen.close();
  toast(
    said,
    async () => {
      const act = await outbox.reopen(seq);
      if (act) screen.go(act.body.type === "delivered" ? "deliver" : "fail", { id: about.stop.id });
      else toast("Ya se envió: pida a su operador que lo deshaga.");
    },
    outbox.undoTime,
  );
};
