// The day is what the service last said, the same day as the phone knows it with what was not sent
// yet, and the order that the rider gave it.
const day = (() => {
  const old = 24 * 3600 * 1000; // a list of yesterday would send the rider to the wrong doors
  const byText = new Intl.Collator("es").compare;
  let current,
    arrangement = [],
    loadCodes = [],
    asking,
    failed = false;
  let changed = () => {};
  const rider = () => session.get().rider?.id;

  // put keeps a day in a transaction, unless a later one has come already: answers overtake each
  // other.
  const put = async (state, owner, data) => {
    const kept = await state.get("day:" + owner);
    if (kept && Date.parse(kept.now) > Date.parse(data.now) && Date.now() - kept.fetchedAt < 60000) return;
    await state.put({ ...data, fetchedAt: Date.now() }, "day:" + owner);
  };

  const load = async () => {
    await database.read(["state"], async ({ state }) => {
      current = await state.get("day:" + rider());
      arrangement = (await state.get("arrangement:" + rider())) ?? [];
      loadCodes = (await state.get("load:" + rider())) ?? [];
    });
    if (current && Date.now() - current.fetchedAt > old) current = undefined;
    changed();
  };

  const fetchDay = async () => {
    const begun = Date.now(),
      owner = rider();
    let answer;
    try {
      answer = await session.ask("GET", "/day");
    } catch (failure) {
      if (!(failure instanceof Unanswered)) throw failure;
    }
    failed = answer?.status !== 200;
    if (!failed) {
      await database.write(["state", "acts"], async (stores) => {
        await put(stores.state, owner, answer.data);
        await outbox.forgetDone(stores, begun);
      });
    }
    await load();
    await outbox.reload();
    tabs.tell("day");
  };

  // place is the part of the list that a package is in.
  const placeOf = (order) => {
    if (order.done?.type === "delivered" || order.status === "delivered") return "delivered";
    if (order.returning) return "returning";
    const today = dayOf(Date.now(), session.get().operator?.timezone);
    if (order.substatus === "retry_planned" && !(order.next_attempt_on > today)) return "open";
    if (order.done || ["attempt_failed", "awaiting_decision"].includes(order.substatus) || order.next_attempt_on > today)
      return "failed";
    return "open";
  };

  const sum = (rows) => rows.reduce((total, { amount }) => total + cents(amount), 0);

  // stops are the packages with what was done on this phone and is not in the day yet.
  const stops = () => {
    const own = new Map();
    for (const act of outbox.all()) {
      if (act.kind !== "act" || !["queued", "done", "rejected"].includes(act.state)) continue;
      for (const id of act.orders) own.set(id, [...(own.get(id) ?? []), act]);
    }
    const read = new Set(
      (outbox.all().findLast(({ kind, state }) => kind === "load" && state === "queued")?.body.codes ?? []).map(guideIn),
    );
    return (current?.orders ?? []).map((order) => {
      const acts = own.get(order.id) ?? [],
        last = acts.findLast(({ state }) => state !== "rejected");
      const stop = { ...order, place: placeOf(order), wrong: acts.find(({ state }) => state === "rejected")?.seq };
      stop.loaded ||= read.has(guideIn(order.guide_code));
      if (!last) return stop;
      return {
        ...stop,
        unsent: last.state === "queued",
        place: last.body.type === "delivered" ? "delivered" : "failed",
        own: {
          type: last.body.type,
          at: last.body.occurred_at,
          reason: last.body.reason,
          collections: last.body.collections?.[order.id] ?? [],
        },
      };
    });
  };

  // totals count what was not sent too.
  const totals = (list) => {
    const { totals } = current,
      ways = totals.to_hand_in_by.map((way) => ({ ...way, cents: cents(way.amount) }));
    let { in_hand, delivered, failed } = totals,
      toHandIn = cents(totals.to_hand_in),
      unsent = 0;
    for (const stop of list.filter(({ own }) => own)) {
      const before = placeOf(stop);
      if (stop.own.type === "attempt_failed") {
        if (before === "open") failed++;
        continue;
      }
      if (before === "delivered") continue;
      in_hand--;
      delivered++;
      if (before === "failed" && failed > 0) failed--;
      for (const { method, amount } of stop.own.collections) {
        const way = ways.find((each) => each.method === method),
          { label } = current.rules.methods.find(({ code }) => code === method) ?? {};
        if (way) way.cents += cents(amount);
        else ways.push({ method, label: label ?? method, cents: cents(amount) });
      }
      unsent += sum(stop.own.collections);
      toHandIn += sum(stop.own.collections);
    }
    return { inHand: in_hand, delivered, failed, toHandIn, unsent, ways: ways.filter((way) => way.cents) };
  };

  // arranged is the rider's own order. A package that came since is after those of its district.
  const arranged = (list) => {
    const byDistrict = [...list].sort(
      (a, b) =>
        byText(a.district ?? "", b.district ?? "") ||
        byText(a.delivery_address, b.delivery_address) ||
        byText(a.guide_code, b.guide_code),
    );
    if (!arrangement.length) return byDistrict;
    const placed = arrangement.map((id) => list.find((stop) => stop.id === id)).filter(Boolean);
    for (const stop of byDistrict.filter(({ id }) => !arrangement.includes(id))) {
      const neighbour = placed.findLastIndex(({ district }) => district === stop.district);
      placed.splice(neighbour < 0 ? placed.length : neighbour + 1, 0, stop);
    }
    return placed;
  };

  const keepFor = async (kind, value) => {
    await database.write(["state"], ({ state }) => state.put(value, `${kind}:${rider()}`));
    await load();
    tabs.tell("day");
  };

  return {
    put,
    load,
    stops,
    totals,
    arranged,
    onchange: (listener) => {
      changed = listener;
    },
    get: () => current,
    unreachable: () => failed,
    isArranged: () => arrangement.length > 0,
    arrange: (ids) => keepFor("arrangement", ids),
    // codes are those that were read for the load and not confirmed yet.
    codes: () => loadCodes,
    keepCodes: (codes) => keepFor("load", codes),
    // refresh asks for the day. Whoever asks meanwhile gets the same answer.
    refresh: () => {
      if (session.get().standing !== "open") return Promise.resolve();
      asking ??= fetchDay().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    // sameDoor are the other packages for the door of one.
    sameDoor: (stop, list) =>
      list.filter(
        (other) =>
          other.id !== stop.id &&
          ((fold(other.delivery_address) === fold(stop.delivery_address) && other.district === stop.district) ||
            (other.recipient_phone && other.recipient_phone === stop.recipient_phone)),
      ),
    byCode: (text, list) => list.find(({ guide_code }) => guideIn(guide_code) === guideIn(text)),
  };
})();
