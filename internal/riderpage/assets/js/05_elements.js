// Elements are made by el and never from markup, so that nothing that a store or a customer wrote
// is markup.
const el = (name, properties = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "dataset") Object.assign(made.dataset, value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.includes("-") && key !== "list") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return made;
};

const paths = {
  back: "m15 5-7 7 7 7",
  call: "M6 3h3l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3Z",
  camera: "M4 8h3l2-3h6l2 3h3v11H4ZM12 17a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7",
  chat: "M4 5h16v11H10l-4 4v-4H4Z",
  check: "m5 12 5 5 9-10",
  close: "m6 6 12 12M18 6 6 18",
  down: "m6 9 6 6 6-6",
  map: "M12 21s7-6.5 7-11.5a7 7 0 0 0-14 0C5 14.5 12 21 12 21ZM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5",
  scan: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M7 12h10",
  up: "m6 15 6-6 6 6",
};
const icon = (name) => {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    line = document.createElementNS(drawn.namespaceURI, "path");
  for (const [key, value] of [
    ["viewBox", "0 0 24 24"],
    ["class", "icon"],
    ["aria-hidden", "true"],
  ])
    drawn.setAttribute(key, value);
  line.setAttribute("d", paths[name]);
  drawn.append(line);
  return drawn;
};

const button = (label, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, label);

// say tells screen readers what has just happened.
const say = (text) => {
  document.getElementById("said").textContent = text;
};

const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// Amounts are added in cents: sums of fractions would not come out even.
const cents = (amount) => Math.round((amount ?? 0) * 100);
const signs = { PEN: "S/", USD: "US$" };
const money = (inCents, currency) => {
  const [whole, rest] = (Math.abs(inCents) / 100).toFixed(2).split(".");
  return `${inCents < 0 ? "-" : ""}${signs[currency] ?? currency}\u00a0${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${rest}`;
};
// typedCents reads an amount as people type it, with a point or a comma, or is undefined.
const typedCents = (text) => {
  const typed = text.trim().replace(/\s/g, "").replace(",", ".");
  return /^\d{1,8}(\.\d{0,2})?$/.test(typed) ? Math.round(Number(typed) * 100) : undefined;
};

const clock = (time, zone) =>
  new Intl.DateTimeFormat("es-PE", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(
    new Date(time),
  );
const dayOf = (time, zone) => new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date(time));
// when is the time of a day, with the date unless it is of today.
const when = (time, zone) => {
  const day = dayOf(time, zone);
  return day === dayOf(Date.now(), zone) ? clock(time, zone) : `${day.slice(8)}/${day.slice(5, 7)} ${clock(time, zone)}`;
};

// national writes a phone number of Peru as people there do.
const national = (phone) => phone.replace(/^\+51(9\d\d)(\d{3})(\d{3})$/, "$1 $2 $3");

// fold makes texts alike that differ in case, accents, marks and spaces only.
const fold = (text) =>
  (text ?? "")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

// guideIn finds the guide code in what was scanned or typed: the code, or the address of its
// tracking page.
const guideIn = (text) => {
  const last = text
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .split("/")
    .pop();
  return last.toUpperCase().replace(/[\s-]/g, "").replace(/O/g, "0").replace(/[IL]/g, "1");
};

// newID is a random UUID, also where the page was opened without https.
const newID = () => {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return [...bytes]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};
