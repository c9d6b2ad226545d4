// paymentPart is what is collected for one package: one or more ways of payment, the first with the
// whole amount. changed is called after every change.
const paymentPart = (stop, about, several, changed) => {
  const { form, rules, currency } = about,
    due = cents(stop.amount_to_collect);
  const box = el("fieldset", { class: "payment" });
  const rows = () => form.payments[stop.id];
  const method = (code) => rules.methods.find((each) => each.code === code) ?? { code, label: code };
  const collected = () => rows().reduce((total, { amount }) => total + (typedCents(amount) ?? 0), 0);
  const plain = (inCents) => (inCents / 100).toFixed(2);

  const difference = el("p", { class: "difference", role: "status" });
  const sayDifference = () => {
    const rest = due - collected();
    difference.textContent = rest > 0 ? `Faltan ${money(rest, currency)}` : rest < 0 ? `${money(-rest, currency)} de más` : "";
  };
  const change = async () => {
    sayDifference();
    await changed(stop, rows());
  };

  const row = (payment, i) => {
    const id = `pay-${stop.id}-${i}`;
    const amount = el("input", {
      id,
      inputMode: "decimal",
      autocomplete: "off",
      class: "amount",
      value: payment.amount,
      oninput: () => {
        payment.amount = amount.value;
        change();
      },
    });
    const reference = el("input", {
      id: id + "-ref",
      autocomplete: "off",
      maxLength: 100,
      value: payment.reference ?? "",
      oninput: () => {
        payment.reference = reference.value;
        change();
      },
    });
    const referenceField = field(id + "-ref", "N.º de operación", reference);
    referenceField.hidden = !method(payment.method).needs_reference;
    const ways = el(
      "div",
      { class: "chips", role: "radiogroup", "aria-label": "Forma de pago" },
      rules.methods.map(({ code, label }) =>
        el(
          "label",
          { class: "chip" },
          el("input", {
            type: "radio",
            name: id + "-way",
            value: code,
            checked: code === payment.method,
            onchange: () => {
              payment.method = code;
              referenceField.hidden = !method(code).needs_reference;
              change();
            },
          }),
          el("span", {}, label),
        ),
      ),
    );
    return el(
      "div",
      { class: "way" },
      ways,
      el(
        "div",
        { class: "pair" },
        field(id, `Monto cobrado${rows().length > 1 ? ` (${i + 1})` : ""}`, amount),
        referenceField,
        rows().length > 1 &&
          el(
            "button",
            {
              type: "button",
              class: "round",
              "aria-label": "Quitar esta forma de pago",
              onclick: () => {
                rows().splice(i, 1);
                draw();
                change();
              },
            },
            icon("close"),
          ),
      ),
    );
  };

  const draw = () => {
    box.replaceChildren(
      el(
        "legend",
        {},
        el("span", { class: "collect" }, "COBRAR ", el("strong", {}, money(due, currency))),
        several && el("span", { class: "hint" }, `${stop.recipient_name} · ${stop.guide_code}`),
      ),
      ...rows().map(row),
      difference,
      button(
        "Otra forma de pago",
        () => {
          const used = rows().map((payment) => payment.method),
            free = rules.methods.find(({ code }) => !used.includes(code)) ?? rules.methods[0];
          rows().push({ method: free.code, amount: plain(Math.max(0, due - collected())), reference: "" });
          draw();
          change();
          document.getElementById(`pay-${stop.id}-${rows().length - 1}`)?.focus();
        },
        { class: "link" },
      ),
    );
    sayDifference();
  };
  form.payments[stop.id] ??= [{ method: rules.methods[0]?.code ?? "cash", amount: plain(due), reference: "" }];
  draw();
  return { stop, element: box, draw };
};

// collected is what was collected for a package, as the service takes it: nothing at all is an
// amount of 0.
const collected = (stop, about) => {
  const { rules, form } = about,
    needs = (method) => rules.methods.find(({ code }) => code === method)?.needs_reference;
  const ways = form.payments[stop.id]
    .map(({ method, amount, reference }) => ({ method, amount: typedCents(amount) ?? 0, reference: reference?.trim() }))
    .filter(({ amount }) => amount > 0)
    .map(({ method, amount, reference }) => ({ method, amount: amount / 100, ...(needs(method) && reference && { reference }) }));
  return ways.length
    ? ways
    : [{ method: (rules.methods.find(({ needs_reference }) => !needs_reference) ?? rules.methods[0]).code, amount: 0 }];
};

// deliveryAct is the act of one handing over, of one package or of several.
const deliveryAct = (about, photo, base) => {
  const { form } = about,
    stops = about.stops(),
    due = stops.filter(({ amount_to_collect }) => amount_to_collect > 0);
  const body = { ...base, type: "delivered", order_ids: stops.map(({ id }) => id) };
  if (form.receivedBy?.trim()) body.received_by = form.receivedBy.trim();
  if (stops.some(({ needs_pin }) => needs_pin)) body.pin = form.pin.trim();
  if (due.length) body.collections = Object.fromEntries(due.map((stop) => [stop.id, collected(stop, about)]));
  return body;
};

// deliveryErrors are what the rules require and is not there.
const deliveryErrors = (about, photo) => {
  const { form, rules } = about,
    errors = [];
  for (const stop of about.stops()) {
    const who = about.stops().length > 1 ? ` de ${stop.recipient_name}` : "";
    for (const [i, payment] of (stop.amount_to_collect > 0 ? form.payments[stop.id] : []).entries()) {
      const id = `pay-${stop.id}-${i}`,
        way = rules.methods.find(({ code }) => code === payment.method);
      const amount = typedCents(payment.amount);
      if (amount === undefined) errors.push({ id, text: `Escriba el monto cobrado${who}, como 119.50.` });
      if (amount > 0 && way?.needs_reference && !payment.reference?.trim()) {
        errors.push({ id: id + "-ref", text: `Escriba el número de operación de ${way.label}${who}.` });
      }
    }
  }
  if (about.stops().some(({ needs_pin }) => needs_pin) && !/^\d{6}$/.test(form.pin?.trim() ?? "")) {
    errors.push({ id: "pin", text: "Escriba el PIN de 6 números: el cliente lo ve en la página de su pedido." });
  }
  if (rules.needs_photo && !photo) errors.push({ text: "Tome la foto de la entrega." });
  if (rules.needs_received_by && !form.receivedBy?.trim()) errors.push({ id: "received", text: "Escriba quién recibió." });
  return errors;
};

// locate is the phone's point. Where it is required it is waited for, and without it there is an
// error.
const locate = async (rules, button) => {
  if (!rules.needs_point || place.now()) return { point: place.now() };
  const label = button.textContent;
  button.textContent = "Buscando su ubicación…";
  const point = await place.wait(10000);
  button.textContent = label;
  return point ? { point } : { error: { text: `La ubicación es obligatoria. ${place.text()}` } };
};

const missingView = () => ({
  title: "Pedido",
  content: [heading("Pedido"), el("p", { class: "card" }, "Este pedido ya no está en su lista.")],
});

views.deliver = async ({ id }) => {
  const about = await openForm("delivered", id);
  if (!about) return missingView();
  const { form, rules } = about;
  form.payments ??= {};
  const errors = errorList(),
    payments = el("div"),
    total = el("p", { class: "total" });
  const photo = photoField(about.key, about.photo, () => rules.needs_photo);
  // Whoever opens the door has the PIN of one of the packages.
  const pin = el("input", {
    id: "pin",
    inputMode: "numeric",
    autocomplete: "off",
    maxLength: 6,
    value: form.pin ?? "",
    oninput: () => {
      form.pin = pin.value;
      about.keep();
    },
  });
  const pinPart = field("pin", "PIN del cliente", pin, "Son 6 números que el cliente ve en la página de su pedido.");
  let parts = [];

  // What is chosen for the first package is taken for those that have nothing else: one customer
  // pays for all in one way.
  const paid = async (stop, rows) => {
    if (stop.id === parts[0]?.stop.id && rows.length === 1) {
      for (const part of parts.slice(1)) {
        const [first] = form.payments[part.stop.id];
        if (form.payments[part.stop.id].length > 1 || form.own?.includes(part.stop.id)) continue;
        Object.assign(first, { method: rows[0].method, reference: rows[0].reference });
        part.draw();
      }
    } else if (stop.id !== parts[0]?.stop.id) form.own = [...new Set([...(form.own ?? []), stop.id])];
    sayTotal();
    await about.keep();
  };
  const sayTotal = () => {
    const sum = parts.reduce(
      (whole, { stop }) => whole + form.payments[stop.id].reduce((part, { amount }) => part + (typedCents(amount) ?? 0), 0),
      0,
    );
    total.hidden = parts.length < 2;
    total.replaceChildren("Cobrado en total ", el("strong", {}, money(sum, about.currency)));
  };
  const draw = () => {
    const stops = about.stops(),
      due = stops.filter(({ amount_to_collect }) => amount_to_collect > 0);
    parts = due.map((stop) => paymentPart(stop, about, stops.length > 1, paid));
    payments.replaceChildren(
      ...parts.map(({ element }) => element),
      due.length ? "" : el("p", { class: "paid" }, "Pagado: no se cobra nada"),
    );
    pinPart.hidden = !stops.some(({ needs_pin }) => needs_pin);
    sayTotal();
  };
  draw();

  const received = el("input", {
    id: "received",
    autocomplete: "off",
    maxLength: 200,
    value: form.receivedBy ?? "",
    oninput: () => {
      form.receivedBy = received.value;
      about.keep();
    },
  });
  const confirm = el("button", { class: "main good" }, icon("check"), el("span", {}, "Confirmar entrega"));
  const where = el("p", { class: "hint where" });
  const door = doorPart(about, draw);
  const body = el(
    "form",
    { noValidate: true, class: "form" },
    door.element,
    form.said && el("p", { class: "notice bad" }, form.said),
    errors.element,
    payments,
    total,
    photo.element,
    el(
      "section",
      {},
      field(
        "received",
        el(
          "span",
          {},
          "¿Quién recibió? ",
          rules.needs_received_by ? el("span", { class: "must" }, "obligatorio") : el("span", { class: "hint" }, "opcional"),
        ),
        received,
      ),
      button(
        "El destinatario",
        () => {
          received.value = form.receivedBy = about.stop.recipient_name;
          about.keep();
        },
        { class: "link" },
      ),
      pinPart,
    ),
    el("footer", { class: "deed" }, where, confirm),
  );

  body.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (confirm.disabled) return;
    confirm.disabled = true;
    const occurredAt = form.occurredAt ?? new Date().toISOString();
    try {
      const taken = await photo.ready(),
        wrong = deliveryErrors(about, taken);
      const { point, error } = wrong.length ? {} : await locate(rules, confirm.lastChild);
      if (error) wrong.push(error);
      errors.show(wrong);
      if (wrong.length) return;
      await finish(
        about,
        deliveryAct(about, taken, { occurred_at: occurredAt, ...point }),
        taken,
        about.stops().length > 1 ? "Entregas anotadas" : "Entrega anotada",
      );
    } catch (problem) {
      errors.show([
        {
          text: `No se pudo guardar en el celular (${problem.message}). Libere espacio e inténtelo otra vez: nada se ha borrado.`,
        },
      ]);
    } finally {
      confirm.disabled = false;
    }
  });
  const sayWhere = () => {
    where.textContent = place.text();
  };
  return {
    title: "Entregar",
    content: [heading("Entregar"), body],
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
