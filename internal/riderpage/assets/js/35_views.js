// A view is one screen. Each has an entry in the browser's history, so that the phone's back button
// leads to the list.
const views = {};
const screen = (() => {
  const main = document.getElementById("view");
  let shown,
    drawn = 0,
    scrolled = 0,
    pending = false;

  // wanted is the view that may be shown: who has not said who they are sees nothing of a day.
  const wanted = () => {
    const { standing } = session.get(),
      state = history.state ?? {};
    if (link.token()) return { name: "activate" };
    if (standing === "open") return views[state.name] ? state : { name: "list" };
    return { name: standing };
  };

  const show = async () => {
    const turn = ++drawn,
      next = wanted();
    if (shown?.name === "list") scrolled = scrollY;
    shown?.view.leave?.();
    const view = await views[next.name](next);
    if (turn !== drawn) return; // another view was asked for meanwhile
    shown = { ...next, view };
    document.title = view.title ? `${view.title} · Reparto` : "Reparto";
    main.replaceChildren(...view.content);
    main.dataset.view = next.name;
    scrollTo(0, next.name === "list" ? scrolled : 0);
    (view.focus ?? main).focus({ preventScroll: true });
    view.shown?.();
  };

  // update has the shown view take what has changed. Another view is shown only where this one must
  // not be any more.
  const update = () => {
    if (pending || !shown) return;
    pending = true;
    queueMicrotask(() => {
      pending = false;
      if (wanted().name === shown.name) shown.view.update?.();
      else show();
    });
  };

  addEventListener("popstate", show);
  return {
    show,
    update,
    name: () => shown?.name,
    scan: (code) => shown?.view.scan?.(code),
    go: (name, parameters = {}) => {
      history.pushState({ name, ...parameters }, "");
      return show();
    },
    // close goes back to the list, whatever led to the view.
    close: () => {
      if (history.state?.name) history.back();
      else show();
    },
  };
})();

// heading is that of a view other than the list.
const heading = (title) =>
  el(
    "header",
    { class: "top" },
    el(
      "button",
      { type: "button", class: "round", "aria-label": "Volver a la lista", onclick: () => screen.close() },
      icon("back"),
    ),
    el("h1", { id: "title", tabIndex: -1 }, title),
  );

// toast says what worked at the foot of the window for a while, with a way to undo it.
const toast = (() => {
  const box = document.getElementById("toast");
  let timer;
  const hide = () => box.replaceChildren();
  return (text, undo, time = 6000) => {
    clearTimeout(timer);
    say(text);
    const card = el("div", { class: "toast" }, el("span", {}, text));
    if (undo) {
      card.append(
        button("Deshacer", () => {
          hide();
          undo();
        }),
      );
    }
    box.replaceChildren(card);
    timer = setTimeout(hide, time);
  };
})();

// ask is a question with one button that does it and one that does not.
const ask = (question, label) =>
  new Promise((resolve) => {
    const dialog = el("dialog", { class: "card", "aria-labelledby": "question" });
    dialog.append(
      el("p", { id: "question" }, question),
      el(
        "div",
        { class: "pair" },
        button("No", () => dialog.close(), { class: "plain" }),
        button(label, () => dialog.close("yes"), { class: "danger" }),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
