// How long orders are in their status, in a list that is not fetched while nothing changes.
setInterval(() => {
  const space = "\u00a0";
  const words = (many, large, few, small) => many + space + large + (few > 0 ? space + few + space + small : "");
  for (const shown of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(Date.now() / 1000 - Number(shown.dataset.since), 0);
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
    shown.textContent = hours < 1 ? words(minutes, "min") : hours < 48 ? words(hours, "h", minutes % 60, "min") : words(Math.floor(hours / 24), "d", hours % 24, "h");
    shown.classList.toggle("attention", seconds > Number(shown.dataset.limit));
  }
}, 60000);
