// The outbox has what the rider did. Each act is written before it is sent, is sent until the
// service has answered for it, one at a time and in order, and always with the id that it was made
// with: the service takes an id once.
//
// An act is "queued"; "done" once the service has it and only the list does not show it yet;
// "refused" if the service keeps it but did not do it, wholly or partly; "rejected" if it is wrong
// in itself, so that the rider has to correct it; or "told", a load that has differences.
const fieldNames = {
  photo: "Foto",
  received_by: "Quién recibió",
  pin: "PIN del cliente",
  lat: "Ubicación",
  note: "Nota",
  reason: "Motivo",
  collections: "Cobro",
  codes: "Guías",
};
// inWords is why the service rejected something, with the fields that it names.
const inWords = (said, fields = []) =>
  [
    said,
    ...fields.map(({ field, message }) => {
      const [name] = field.split(/[.[]/);
      return `${fieldNames[name] ?? field}: ${message}.`;
    }),
  ].join(" ");

const outbox = (() => {
  const waits = [2, 4, 8, 15, 30, 60, 120, 300]; // seconds after the first, second, … failure
  // An act that the service fails for so often is not waited for by those about other packages.
  const patience = 3;
  const undoTime = 5000;
  let acts = [];
  let changed = () => {};
  let running = false,
    again = false,
    timer,
    failures = 0;
  let sending; // { seq, part } is how far the act that is being sent has come
  let trouble = ""; // why nothing is sent at the moment

  const mine = () => acts.filter((act) => act.rider === session.get().rider?.id);
  const reload = async () => {
    acts = await database.read(["acts"], ({ acts }) => acts.all());
    changed();
  };
  const changeAct = async (seq, change) => {
    await database.write(["acts"], async ({ acts }) => {
      const act = await acts.get(seq);
      if (act) await acts.put({ ...act, ...change(act) });
    });
    await reload();
    tabs.tell("acts");
  };

  // next is the act to send now: the first that is due and behind no other about one of its
  // packages.
  const next = () => {
    const queued = mine().filter(({ state }) => state === "queued"),
      behind = new Set();
    for (const act of queued) {
      const ready = Math.max(act.heldUntil ?? 0, act.due ?? 0) <= Date.now();
      if (ready && !act.orders.some((id) => behind.has(id))) return act;
      if ((act.failures ?? 0) < patience) return undefined;
      for (const id of act.orders) behind.add(id);
    }
    return undefined;
  };

  const later = (seconds) => {
    clearTimeout(timer);
    timer = setTimeout(pump, seconds * 1000);
  };
  const backoff = (count, least = 0) => Math.max(least, waits[Math.min(count, waits.length) - 1] * (0.8 + 0.4 * Math.random()));

  const request = (act) => {
    const body = { ...act.body, id: act.id, sent_at: new Date().toISOString() };
    const progressed = (part) => {
      sending = { seq: act.seq, part };
      changed();
    };
    if (act.kind === "load") return service("POST", "/load", { id: act.id, codes: act.body.codes });
    if (!act.photo) return service("POST", "/acts", body);
    const form = new FormData();
    form.append("act", JSON.stringify(body));
    form.append("photo", act.photo, "foto.jpg");
    return service("POST", "/acts", form, progressed);
  };

  // settle writes what the service answered, with the day that it sent along, in one transaction.
  const settle = async (act, { data }) => {
    const refused = (data.results ?? []).filter(({ outcome }) => outcome !== "done");
    const differs = act.kind === "load" && (data.missing?.length || data.extra?.length);
    await database.write(["acts", "state"], async (stores) => {
      if (data.day) await day.put(stores.state, act.rider, data.day);
      if (refused.length) await stores.acts.put({ ...act, photo: undefined, state: "refused", refused });
      else if (differs)
        await stores.acts.put({
          ...act,
          state: "told",
          told: { confirmed: data.confirmed, missing: data.missing, extra: data.extra },
        });
      else if (data.day) await stores.acts.remove(act.seq);
      else await stores.acts.put({ ...act, photo: undefined, state: "done", doneAt: Date.now() });
    });
  };

  // claim notes that an act is being sent, and returns it as it is now: from here on it cannot be
  // undone.
  const claim = (seq) =>
    database.write(["acts"], async ({ acts }) => {
      const act = await acts.get(seq);
      if (act?.state !== "queued") return undefined;
      const claimed = { ...act, tries: (act.tries ?? 0) + 1 };
      await acts.put(claimed);
      return claimed;
    });

  const wrong = [400, 409, 413, 415, 422];
  // work sends one act and returns whether the next may follow.
  const work = async (act) => {
    let answer;
    try {
      sending = { seq: act.seq, part: 0 };
      changed();
      answer = await request(act);
    } catch (failure) {
      if (!(failure instanceof Unanswered)) throw failure;
      trouble = "Sin conexión";
      later(backoff(++failures));
      return false;
    } finally {
      sending = undefined;
    }
    if (await session.heed(answer)) return false;
    if (answer.status === 200 && (answer.data?.id === act.id || (act.kind === "load" && answer.data))) {
      failures = 0;
      trouble = "";
      await settle(act, answer);
      await day.load();
      return true;
    }
    if (wrong.includes(answer.status) && answer.error) {
      failures = 0;
      await changeAct(act.seq, () => ({ state: "rejected", said: answer.error, fields: answer.fields ?? [] }));
      return true;
    }
    if (answer.status >= 500 && answer.status !== 503) {
      const count = (act.failures ?? 0) + 1;
      await changeAct(act.seq, () => ({ failures: count, due: Date.now() + backoff(count) * 1000 }));
      trouble = "El servicio no pudo guardar un registro: se vuelve a enviar solo";
      if (count >= patience) return true;
      later(backoff(count));
      return false;
    }
    trouble = answer.status === 403 && answer.error ? answer.error : "El servicio está ocupado";
    later(backoff(++failures, answer.retryAfter));
    return false;
  };

  const run = async () => {
    for (;;) {
      const { standing, rider } = await session.load();
      await reload();
      if (standing !== "open" || !rider) return;
      const act = next();
      if (!act) {
        const dues = mine()
          .filter(({ state }) => state === "queued")
          .map((each) => Math.max(each.heldUntil ?? 0, each.due ?? 0));
        if (dues.length) later(Math.max(0.1, (Math.min(...dues) - Date.now()) / 1000));
        return;
      }
      const claimed = await claim(act.seq);
      if (claimed && !(await work(claimed))) return;
      await reload();
      tabs.tell("acts");
    }
  };

  // pump sends what is to be sent. Only one tab of the phone does at a time.
  async function pump() {
    clearTimeout(timer);
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      do {
        again = false;
        await alone(run);
      } while (again);
    } catch (failure) {
      trouble = `No se pudo leer la memoria del celular (${failure.message})`;
      later(backoff(++failures));
    } finally {
      running = false;
      await reload().catch(() => {});
    }
    if (acts.some(({ state }) => state === "done")) day.refresh();
  }

  return {
    reload,
    pump,
    onchange: (listener) => {
      changed = listener;
    },
    all: mine,
    // strangers are acts of other riders of this phone: they are kept, and never sent in the name
    // of this one.
    strangers: () => acts.filter((act) => act.state === "queued" && act.rider !== session.get().rider?.id).length,
    progress: () => sending,
    trouble: () => trouble,
    undoTime,

    // wake sends at once what waits for its next try.
    wake: () => {
      failures = 0;
      pump();
    },
    // put keeps an act and takes its draft away, both or neither.
    put: async (act, draft) => {
      const seq = await database.write(["acts", "drafts"], async (stores) => {
        if (draft) for (const key of [draft, draft + ":photo"]) await stores.drafts.remove(key);
        return stores.acts.add({ ...act, state: "queued" });
      });
      await reload();
      tabs.tell("acts");
      later(Math.max(0.05, ((act.heldUntil ?? 0) - Date.now()) / 1000));
      return seq;
    },
    // release lets go of what is held for its undoing: the phone is put away.
    release: async () => {
      const held = mine().filter(({ state, heldUntil }) => state === "queued" && heldUntil > Date.now());
      for (const { seq } of held) await changeAct(seq, () => ({ heldUntil: 0 }));
      if (held.length) pump();
    },
    // place adds the phone's point to an act that was not sent meanwhile.
    place: (seq, point) =>
      changeAct(seq, (act) => (act.state === "queued" && !act.tries ? { body: { ...act.body, ...point } } : {})),
    // reopen makes a draft of an act that the service does not have: it was never sent, or was
    // rejected. It returns nothing where it is too late.
    reopen: async (seq) => {
      const taken = await database.write(["acts", "drafts"], async (stores) => {
        const act = await stores.acts.get(seq);
        if (!act || !(act.state === "rejected" || (act.state === "queued" && !act.tries))) return undefined;
        const { state, draft, photo, body, form, said, fields } = act;
        // What is corrected happened when it happened; what is undone has not happened yet.
        await stores.drafts.put(
          { ...form, ...(state === "rejected" && { occurredAt: body.occurred_at, said: inWords(said, fields) }) },
          draft,
        );
        if (photo) await stores.drafts.put(photo, draft + ":photo");
        await stores.acts.remove(seq);
        return act;
      });
      await reload();
      tabs.tell("acts");
      return taken;
    },
    // acknowledge forgets acts that the service has answered for.
    acknowledge: async (seq) => {
      await database.write(["acts"], async ({ acts }) => {
        const act = await acts.get(seq);
        if (act && act.state !== "queued") await acts.remove(seq);
      });
      await reload();
      tabs.tell("acts");
    },
    forgetDone: (stores, before) =>
      stores.acts
        .all()
        .then((all) =>
          Promise.all(all.filter((act) => act.state === "done" && act.doneAt < before).map((act) => stores.acts.remove(act.seq))),
        ),
  };
})();
