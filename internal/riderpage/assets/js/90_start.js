// start puts the parts together: what changes is shown, and what waits is sent when there may be a
// network again.
const start = (() => {
  const period = 120000; // how often a visible list is asked for
  // refresh asks for the list, and says whether it did.
  const refresh = () => {
    if (document.hidden || session.get().standing !== "open") return false;
    day.refresh();
    return true;
  };
  const wake = () => {
    if (document.hidden) return;
    outbox.wake();
    refresh();
  };

  // enter shows what the rider may see now, and catches up with the service.
  const enter = async () => {
    await day.load();
    await outbox.reload();
    await screen.show();
    wake();
  };

  const begin = async () => {
    for (const each of [session, outbox, day]) each.onchange(screen.update);
    tabs.hear(async () => {
      await session.load();
      await day.load();
      await outbox.reload();
    });
    addEventListener("online", wake);
    addEventListener("pageshow", wake);
    document.addEventListener("visibilitychange", () => (document.hidden ? outbox.release() : wake()));
    addEventListener("pagehide", () => outbox.release());
    setInterval(refresh, period);
    await session.load();
    await day.load();
    await outbox.reload();
    await screen.show();
    if (!link.token()) {
      // A list does not wait for the answer to who this is: on the street a round trip is long.
      const asked = refresh();
      try {
        await session.check();
      } catch (failure) {
        if (!(failure instanceof Unanswered)) throw failure;
      }
      if (!asked) wake();
      else if (!document.hidden) outbox.wake();
    }
  };

  const fail = (failure) => {
    document.getElementById("view").replaceChildren(
      el(
        "div",
        { class: "notice bad", role: "alert" },
        el(
          "p",
          {},
          "Esta página no se pudo abrir: el navegador no le deja guardar datos, o el celular no tiene espacio. " +
            "No use el modo incógnito y libere espacio.",
        ),
        el("p", { class: "hint" }, String(failure?.message ?? failure)),
        button("Intentar otra vez", () => location.reload(), { class: "main" }),
      ),
    );
  };
  return { enter, begin: () => begin().catch(fail) };
})();

// A new release is taken when the page is opened next; until then everything is of one release.
navigator.serviceWorker
  ?.register(document.documentElement.dataset.worker, { scope: document.documentElement.dataset.root })
  .catch(() => {});
start.begin();
