// The service worker keeps the page on the phone, so that it opens without a network and at once on
// a slow one. It keeps no data: what /rider/api answers is in the page's own database.
const shell = {{shell}};

// A browser that reads codes by itself does not need the decoder.
const files = "BarcodeDetector" in self ? shell.files : [...shell.files, ...shell.decoder];

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(shell.name);
    // An address with a version never has another content; the other ones are asked for anew.
    await cache.addAll(files.map((file) => new Request(file, { cache: file.includes("/assets/") ? "default" : "reload" })));
    await self.skipWaiting();
  })());
});

// The copy before this one stays: a page of that release may still be open, and ask for its
// decoder.
self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("reparto-") && name !== shell.name);
    for (const name of names.slice(0, -1)) await caches.delete(name);
    await self.clients.claim();
  })());
});

const root = shell.files[0];
const isPage = (url) => url.pathname === root || url.pathname === root + "/";
const isFile = (url) => url.pathname.startsWith(root + "/assets/") || url.pathname === shell.files[1];

const find = async (request, name) => {
  const cache = await caches.open(shell.name);
  const kept = await cache.match(name) ?? await caches.match(name);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok && name.includes("/assets/")) await cache.put(name, answer.clone());
  return answer;
};

self.addEventListener("fetch", (event) => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate" && isPage(url)) event.respondWith(find(request, root));
  else if (isFile(url)) event.respondWith(find(request, url.pathname));
});
