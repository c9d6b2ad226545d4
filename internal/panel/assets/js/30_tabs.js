// Where the tabs do not fit, the current one is brought into sight, also after the board was fetched again.
(() => {
  const show = () => {
    for (const tabs of document.querySelectorAll(".tabs")) {
      const current = tabs.querySelector("[aria-current]");
      if (current) tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
    }
  };
  show();
  const content = document.getElementById("content");
  if (content) new MutationObserver(show).observe(content, { childList: true });
})();
