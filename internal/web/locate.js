"use strict";
// Asks the phone where it is, once its owner taps the button, and puts the point into the form.
(() => {
  const button = document.getElementById("locate"), said = document.getElementById("located");
  const lat = document.getElementById("lat"), lng = document.getElementById("lng"), map = document.getElementById("map");
  const mark = (text, done) => {
    said.textContent = text;
    button.disabled = false;
    button.textContent = done ? "Marcar otra vez" : "Marcar dónde estoy";
  };
  if (!navigator.geolocation || !window.isSecureContext) return;
  button.hidden = false;
  if (lat.value) mark("Tu ubicación está marcada.", true);
  button.addEventListener("click", () => {
    button.disabled = true;
    said.textContent = "Buscando tu ubicación…";
    navigator.geolocation.getCurrentPosition((found) => {
      lat.value = found.coords.latitude.toFixed(6);
      lng.value = found.coords.longitude.toFixed(6);
      map.value = "";
      mark("Tu ubicación está marcada, con unos " + Math.max(1, Math.round(found.coords.accuracy)) + " m de precisión.", true);
    }, () => {
      lat.value = lng.value = "";
      mark("El teléfono no dio su ubicación. Puedes pegar un enlace de mapa.", false);
    }, {enableHighAccuracy: true, timeout: 20000, maximumAge: 30000});
  });
  map.addEventListener("input", () => {
    if (!map.value) return;
    lat.value = lng.value = "";
    said.textContent = "";
  });
})();
