// Search, copy buttons and forms to try an operation. Without this script the pages have everything else.
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

let requests;

/** requestOf is the example request of an operation, from the collection for Postman. */
async function requestOf(operation) {
  requests ??= fetch("/docs/postman.json").then((response) => response.json()).then((collection) =>
    new Map(collection.item.flatMap((folder) => folder.item).map((item) => [item.id, item.request])));
  return (await requests).get(operation);
}

/** The key is typed once for a page. It stays in memory until the page is left. */
let key = "";

function addTrials() {
  for (const article of document.querySelectorAll(".operation")) {
    const path = article.querySelector(".route code").textContent;
    if (!/^\/(v1|public)\//.test(path)) {
      continue;
    }
    const operation = article.querySelector("h2").id.replace(/^op-/, "");
    const button = element("button", { type: "button", className: "trial-open" }, "Probar");
    button.addEventListener("click", async () => button.replaceWith(trial(await requestOf(operation))));
    article.querySelector(".shown").append(button);
  }
}

/** trial is a form that sends an operation's request to this service and shows what it answers. */
function trial(request) {
  const form = element("div", { className: "trial", role: "group", ariaLabel: "Probar" });
  const labelled = (name, input) => {
    form.append(element("label", {}, name, input));
    return input;
  };
  const inputs = (pairs) => pairs.map(({ key: name, value }) => ({ name, input: labelled(name, element("input", { value, autocomplete: "off" })) }));
  if (request.auth.type === "apikey") {
    const input = labelled("X-API-Key", element("input", { type: "password", value: key, autocomplete: "off", className: "key" }));
    input.addEventListener("input", () => (key = input.value.trim()));
  }
  const variables = inputs(request.url.variable ?? []);
  const query = inputs(request.url.query ?? []);
  const headers = inputs(request.header.filter((header) => header.key !== "Content-Type"));
  const body = request.body && labelled("Cuerpo", element("textarea", { value: request.body.raw, rows: 12, spellcheck: false }));
  if (request.method !== "GET") {
    form.append(element("p", {}, "No es un simulacro: se hace de verdad, con la clave que ponga."));
  }
  const send = element("button", { type: "button" }, "Enviar");
  const answer = element("pre", { tabIndex: 0, hidden: true, ariaLive: "polite" });
  form.append(send, element("figure", {}, answer));

  send.addEventListener("click", async () => {
    const path = request.url.path.map((segment) => {
      const variable = variables.find(({ name }) => segment === `:${name}`);
      return variable ? encodeURIComponent(variable.input.value) : segment;
    });
    const given = query.filter(({ input }) => input.value !== "").map(({ name, input }) => [name, input.value]);
    const sent = new Headers(headers.filter(({ input }) => input.value !== "").map(({ name, input }) => [name, input.value]));
    if (request.auth.type === "apikey") {
      sent.set("X-API-Key", key);
    }
    if (body) {
      sent.set("Content-Type", "application/json");
    }
    send.disabled = true;
    answer.hidden = false;
    try {
      // The panel's session is not sent: what is tried is the key.
      const options = { method: request.method, headers: sent, body: body?.value, credentials: "omit", cache: "no-store" };
      const search = given.length ? `?${new URLSearchParams(given)}` : "";
      const response = await fetch(`/${path.join("/")}${search}`, options);
      answer.textContent = `${response.status}\n${pretty(await response.text())}`;
    } catch (error) {
      answer.textContent = `Sin respuesta: ${error.message}`;
    }
    send.disabled = false;
  });
  return form;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

addSearch();
addCopyButtons();
addTrials();
