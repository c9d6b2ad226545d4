// Search and copy buttons. Without this script the pages have everything else.
"use strict";

/** element makes an element with properties and children. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** plain is a text as it is compared: without capitals and accents. */
function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function addSearch() {
  const input = element("input", { type: "search", placeholder: "Buscar", ariaLabel: "Buscar en la referencia", autocomplete: "off" });
  const found = element("ul", { hidden: true });
  const box = element("div", { className: "search", role: "search" }, input, found);
  document.querySelector(".top .version").after(box);

  let index;
  const load = () => (index ??= fetch("/docs/search.json").then((response) => response.json()).then(({ data }) =>
    data.map(([title, url, words]) => ({ title, url, heading: plain(title), text: plain(`${title} ${words}`) }))));

  // Every word must occur; those whose title has the first word come first.
  async function search() {
    const asked = input.value;
    const words = plain(asked).split(/\s+/).filter(Boolean);
    const entries = words.length ? await load() : [];
    if (asked !== input.value) {
      return; // something else was typed meanwhile
    }
    const fits = entries.filter((entry) => words.every((word) => entry.text.includes(word)));
    const inTitle = (entry) => (entry.heading.includes(words[0]) ? 0 : 1);
    const best = fits.sort((one, other) => inTitle(one) - inTitle(other)).slice(0, 12);
    const links = best.map((entry) => element("li", {}, element("a", { href: entry.url }, entry.title)));
    const nothing = [element("li", { className: "nothing" }, "Nada con esas palabras")];
    found.replaceChildren(...(links.length ? links : nothing));
    found.hidden = words.length === 0;
  }

  input.addEventListener("focus", load, { once: true });
  input.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      found.hidden = true;
      input.focus();
    } else if (event.key === "Enter" && event.target === input && links.length) {
      links[0].click();
    } else if (event.key === "ArrowDown" && at + 1 < links.length) {
      links[at + 1].focus();
      event.preventDefault();
    } else if (event.key === "ArrowUp" && at >= 0) {
      (links[at - 1] ?? input).focus();
      event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target) || event.target.closest("a")) {
      found.hidden = true;
    }
  });
}

function addCopyButtons() {
  for (const code of document.querySelectorAll("figure pre")) {
    const button = element("button", { type: "button", className: "copy" }, "Copiar");
    button.addEventListener("click", async () => {
      button.textContent = (await copy(code)) ? "Copiado" : "No se pudo";
      setTimeout(() => (button.textContent = "Copiar"), 2000);
    });
    code.before(button);
  }
}

/** copy puts a text into the clipboard; a page that came without TLS has no clipboard but the selection's. */
async function copy(code) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(code.textContent).then(() => true, () => false);
  }
  getSelection().selectAllChildren(code);
  return document.execCommand("copy");
}

addSearch();
addCopyButtons();
