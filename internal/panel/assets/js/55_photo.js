// A photo is made smaller before it is sent, and how far its sending has come is shown. A form that did not arrive stays as it is.
(() => {
  const longestSide = 2048, quality = 0.8;
  // Without any progress for so long nothing comes through.
  const stallTimeout = 60000;
  const photosOf = (form) => [...form.querySelectorAll("input[type=file][data-photo]")].filter((input) => input.files.length);

  // smaller is the photo upright and with no side over the longest, or the file itself: where the browser cannot read it, as most cannot read
  // HEIC, and where it would not be smaller.
  const smaller = async (file) => {
    try {
      const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
      const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
      const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) });
      const drawing = canvas.getContext("2d");
      drawing.fillStyle = "white"; // is seen through what is transparent
      drawing.fillRect(0, 0, canvas.width, canvas.height);
      drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
      picture.close();
      const made = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
      if (!made || made.size >= file.size) return file;
      return new File([made], file.name.replace(/\.\w+$/, "") + ".jpg", { type: made.type });
    } catch {
      return file;
    }
  };

  // making has what is made of the photo of each field.
  const making = new WeakMap();
  const shrink = async (input) => {
    const chosen = input.files[0];
    const made = await smaller(chosen);
    if (input.files[0] !== chosen) return; // another was chosen meanwhile
    if (made !== chosen) {
      const files = new DataTransfer();
      files.items.add(made);
      input.files = files.files;
    }
    limitFiles(input);
  };
  document.addEventListener("change", ({ target }) => {
    if (!target.matches?.("input[type=file][data-photo]")) return;
    target.setCustomValidity("");
    if (target.files.length) making.set(target, shrink(target));
  });

  const post = (form, progressed) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(), begun = performance.now();
    const alive = () => { request.timeout = performance.now() - begun + stallTimeout; };
    request.upload.addEventListener("progress", ({ loaded, total }) => { alive(); progressed(loaded, total); });
    request.addEventListener("loadend", () => {
      if (request.status) resolve(request);
      else reject(new Error("no answer"));
    });
    request.open("POST", form.action);
    request.setRequestHeader("X-Script", "form");
    alive();
    request.send(new FormData(form));
  });

  // take shows the page of an answer in place of this one, and is false for a page that has not the form: it says only why there is none.
  const take = (answer) => {
    const main = answer.querySelector("main");
    if (!main?.querySelector("form[method=post]")) return false;
    document.querySelector("main").replaceWith(main);
    document.title = answer.title;
    showButtons();
    (main.querySelector("[autofocus]") ?? main).focus();
    return true;
  };

  const send = async (form) => {
    const actions = form.querySelector(".actions"), button = actions.querySelector("button");
    form.querySelector(".sending")?.remove();
    const box = Object.assign(document.createElement("div"), { className: "sending progress wide" });
    const said = Object.assign(document.createElement("p"), { textContent: "Enviando la foto…" });
    said.setAttribute("role", "status");
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", "Envío de la foto");
    box.append(said, bar);
    actions.before(box);
    let failure = "No se pudo enviar: no hay conexión con el servicio.";
    try {
      for (const input of photosOf(form)) {
        await making.get(input);
        failure = input.validationMessage || failure;
        if (input.validationMessage) throw new Error("too large");
      }
      const request = await post(form, (loaded, total) => {
        Object.assign(bar, { max: total, value: loaded });
        if (loaded === total) said.textContent = "Guardando…";
      });
      const next = request.getResponseHeader("Location");
      if (next || request.status < 300) {
        location.assign(next ?? request.responseURL);
        return;
      }
      const answer = new DOMParser().parseFromString(request.responseText, "text/html");
      if (request.status < 500 && take(answer)) return;
      failure = answer.querySelector("main p")?.textContent ?? "No se pudo enviar: el servicio no respondió.";
    } catch { /* failure says why */ }
    const notice = Object.assign(document.createElement("p"), { className: "notice failed", textContent: `${failure} La foto y lo que escribió siguen aquí: inténtelo otra vez.` });
    notice.setAttribute("role", "alert");
    box.replaceChildren(notice);
    for (const each of form.querySelectorAll("button[type=submit]")) each.disabled = false;
    button.focus();
  };

  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || !photosOf(event.target).length) return;
    event.preventDefault();
    // The button is switched off by then, as that of every form that is sent.
    setTimeout(() => send(event.target));
  });
})();
