"use strict";

const events = document.getElementById("events");
const connection = document.getElementById("connection");

const stream = new EventSource("/inbox/stream?after=" + events.dataset.after);
stream.onopen = () => { connection.textContent = "En vivo"; };
stream.onerror = () => { connection.textContent = "Sin conexión: reintentando…"; };
stream.onmessage = (message) => {
  document.getElementById("empty").hidden = true;
  events.insertAdjacentHTML("afterbegin", message.data);
  while (events.children.length > Number(events.dataset.kept)) {
    events.lastElementChild.remove();
  }
};
