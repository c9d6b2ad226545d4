// The price of a new order is shown as it is typed; without a script it is shown once the order is created.
(() => {
  const shown = document.getElementById("tarifa");
  if (!shown) return;
  const names = ["location_id", "size", "store_id", "delivery_address"];
  const typed = (name) => document.getElementById(name)?.value.trim() ?? "";
  let waiting, last;
  const ask = async () => {
    const query = new URLSearchParams(names.map((name) => [name, typed(name)])).toString();
    if (query === last) return;
    last = query;
    if (!typed("location_id")) return shown.replaceChildren();
    try {
      const response = await fetch(`${shown.dataset.price}?${query}`, { headers: { "X-Fragment": "price" }, redirect: "error" });
      if (!response.ok || query !== last) return;
      const answer = new DOMParser().parseFromString(await response.text(), "text/html");
      if (query === last) shown.replaceChildren(...answer.body.childNodes);
    } catch {
      last = undefined; // asked again with the next change
    }
  };
  shown.closest("form").addEventListener("input", ({ target }) => {
    if (!names.includes(target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(ask, 250);
  });
  ask();
})();

// A place that is chosen from the list below a field is written into it; what is typed afterwards comes before it.
(() => {
  document.addEventListener("input", ({ target }) => {
    const field = target.closest?.(".field");
    if (!field?.querySelector(".suggestions")) return;
    const text = field.querySelector("input[list]");
    if (target.type === "radio") {
      text.value = target.value;
    } else if (target === text) {
      for (const choice of field.querySelectorAll("input[type=radio]")) choice.checked = false;
    }
  });
})();
