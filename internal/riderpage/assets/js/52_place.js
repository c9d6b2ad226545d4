// place is where the phone is, with permission. It is looked for while a form is open, so that
// nobody waits for it.
const place = (() => {
  const fresh = 120000;
  const patience = 6000; // for who still waits when the form is closed
  let watch,
    ending,
    last,
    state = "",
    heard = () => {};
  const waiting = [];
  const says = {
    "": "Buscando su ubicación…",
    denied: "Sin permiso para su ubicación: actívelo en los ajustes del navegador.",
    missing: "Este celular no da su ubicación.",
  };
  const now = () => (last && Date.now() - last.at <= fresh ? { lat: last.lat, lng: last.lng } : undefined);
  const found = ({ coords }) => {
    // A reading that is much less exact than one of just now, as of the network's cells, tells
    // nothing new.
    if (last && Date.now() - last.at < 30000 && coords.accuracy > last.accuracy * 2) return;
    last = {
      lat: Number(coords.latitude.toFixed(6)),
      lng: Number(coords.longitude.toFixed(6)),
      accuracy: coords.accuracy,
      at: Date.now(),
    };
    state = "";
    for (const resolve of waiting.splice(0)) resolve(now());
    heard();
  };
  const failed = ({ code }) => {
    if (code === 1) state = "denied";
    if (state) for (const resolve of waiting.splice(0)) resolve(undefined);
    heard();
  };
  return {
    now,
    text: () => (now() ? `Ubicación lista (± ${Math.round(last.accuracy)} m)` : says[state]),
    start: (listener) => {
      heard = listener;
      clearTimeout(ending);
      if (!navigator.geolocation) {
        state = "missing";
        return heard();
      }
      if (watch !== undefined) return;
      watch = navigator.geolocation.watchPosition(found, failed, { enableHighAccuracy: true, maximumAge: 30000 });
      navigator.geolocation.getCurrentPosition(found, failed, { maximumAge: fresh, timeout: 5000 }); // less exact, and quicker
    },
    stop: () => {
      heard = () => {};
      ending = setTimeout(
        () => {
          if (watch !== undefined) navigator.geolocation.clearWatch(watch);
          watch = undefined;
        },
        waiting.length ? patience : 0,
      );
    },
    // wait is the point as soon as there is one, or nothing after a time.
    wait: (time) =>
      now() || state
        ? Promise.resolve(now())
        : new Promise((resolve) => {
            waiting.push(resolve);
            setTimeout(() => resolve(now()), time);
          }),
  };
})();
