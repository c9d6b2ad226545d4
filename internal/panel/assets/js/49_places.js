// The places that orders go to are opened and closed without the page being loaded again. Which ones are open is kept for the next time that
// the list is fetched.
const foldOf = (place) => place.querySelector(".fold");
const isOpen = (place) => foldOf(place)?.getAttribute("aria-expanded") !== "false";
const rowsOf = (place) => [...place.querySelectorAll("tr:not(.of-place)")];

const setOpen = (place, open) => {
  const fold = foldOf(place), name = fold.querySelector(".unseen");
  fold.setAttribute("aria-expanded", open);
  name.textContent = name.textContent.replace(/^\S+/, open ? "Cerrar" : "Abrir");
  for (const row of rowsOf(place)) row.hidden = !open;
  const list = place.closest("[data-live]");
  const ids = [...list.querySelectorAll("tbody[data-place]")].filter(isOpen).map(({ dataset }) => dataset.place).join(",") || "ninguno";
  const address = new URL(list.dataset.live, location.href);
  address.searchParams.set("abierto", ids);
  address.searchParams.delete("pagina");
  list.dataset.live = address.pathname + address.search;
  list.querySelector("input[name=abierto]").value = ids;
};

// fetchRows fetches the orders of a place that was closed when the list was made.
const fetchRows = async (place) => {
  const list = place.closest("[data-live]");
  const address = new URL(list.dataset.live, location.href);
  address.searchParams.set("abierto", place.dataset.place);
  address.searchParams.delete("pagina");
  const response = await fetch(address, { headers: { "X-Fragment": list.id }, redirect: "manual", signal: endAfter(10000) });
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const answer = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = answer.querySelector(`tbody[data-place="${place.dataset.place}"]`);
  for (const row of fresh ? rowsOf(fresh) : []) {
    if (!row.id || !document.getElementById(row.id)) place.append(row);
  }
};

const openPlace = async (place) => {
  if (!place.dataset.place || isOpen(place)) return;
  if (rowsOf(place).length === 0) await fetchRows(place);
  setOpen(place, true);
  place.dispatchEvent(new Event("opened", { bubbles: true }));
};

document.addEventListener("click", (event) => {
  const place = event.target.closest?.(".fold")?.closest("tbody");
  if (!place) return;
  event.preventDefault();
  if (isOpen(place)) setOpen(place, false);
  else openPlace(place).catch(() => foldOf(place).form.requestSubmit?.(foldOf(place)));
});
