// Tones and vibration for people who do not look at the screen while they scan.
const tone = (() => {
  const notes = {
    good: [[1320, 0, 0.12]],
    bad: [
      [220, 0, 0.2],
      [180, 0.26, 0.3],
    ],
  };
  let audio;
  return (kind) => {
    navigator.vibrate?.(kind === "good" ? 60 : [120, 60, 120]);
    if (!window.AudioContext) return;
    audio ??= new AudioContext();
    audio.resume().catch(() => {});
    for (const [frequency, after, length] of notes[kind]) {
      const from = audio.currentTime + after,
        oscillator = audio.createOscillator(),
        volume = audio.createGain();
      oscillator.frequency.value = frequency;
      volume.gain.setValueAtTime(0.25, from);
      volume.gain.exponentialRampToValueAtTime(0.001, from + length);
      oscillator.connect(volume).connect(audio.destination);
      oscillator.start(from);
      oscillator.stop(from + length);
    }
  };
})();

// A barcode reader types like a keyboard, wherever the focus is: a code in quick keys with Enter at
// the end. What it has changed in a field is put back. The field for codes takes them by itself,
// from slow readers and from people too.
(() => {
  const apart = 35,
    shortest = 8; // milliseconds between two keys, and characters
  let typed = "",
    last = -Infinity,
    field,
    before = "";
  document.addEventListener(
    "keydown",
    (event) => {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || target.id === "code") return;
      if (key !== "Enter" && key.length !== 1) return;
      const quick = event.timeStamp - last <= apart;
      last = event.timeStamp;
      if (key !== "Enter") {
        if (!quick || event.repeat) {
          typed = "";
          field = "value" in target && target.localName !== "button" ? target : undefined;
          before = field?.value;
        }
        typed += key;
        return;
      }
      const code = quick && typed.length >= shortest ? typed : "";
      typed = "";
      if (!code) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (field) {
        field.value = before;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
      screen.scan(code);
    },
    true,
  );
})();

// camera shows what the phone's camera sees.
const camera = (() => {
  const pause = 120; // milliseconds between two pictures that are looked at
  const side = 800; // a larger picture takes a slow phone too long to read
  const kinds = ["qr_code", "code_128"];
  const refusals = {
    NotAllowedError: "No hay permiso para usar la cámara. Actívelo en los ajustes del navegador para esta página.",
    NotFoundError: "Este celular no tiene cámara que se pueda usar.",
    NotReadableError: "Otra aplicación está usando la cámara.",
  };

  const makeReader = async () => {
    const formats = "BarcodeDetector" in window ? await BarcodeDetector.getSupportedFormats() : [];
    if (formats.includes("qr_code")) {
      const detector = new BarcodeDetector({ formats: kinds.filter((kind) => formats.includes(kind)) });
      return async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue);
    }
    const { default: decode } = await import(document.documentElement.dataset.decoder);
    const canvas = document.createElement("canvas"),
      drawing = canvas.getContext("2d", { willReadFrequently: true });
    return async (video) => {
      const scale = Math.min(1, side / Math.max(video.videoWidth, video.videoHeight));
      canvas.width = Math.round(video.videoWidth * scale);
      canvas.height = Math.round(video.videoHeight * scale);
      drawing.drawImage(video, 0, 0, canvas.width, canvas.height);
      try {
        return [decode(drawing.getImageData(0, 0, canvas.width, canvas.height))];
      } catch {
        return []; // there is no code in the picture
      }
    };
  };

  // open shows the camera in a dialog, and returns its parts once there is a picture, or says why
  // there is none and returns nothing.
  const open = async (title, longestSide, ...rest) => {
    const video = el("video", { playsInline: true, muted: true, "aria-label": "Lo que ve la cámara" });
    const said = el("p", { role: "status" }, "Abriendo la cámara…");
    const dialog = el("dialog", { class: "camera", "aria-label": title });
    dialog.append(
      el(
        "header",
        {},
        el("strong", {}, title),
        el(
          "button",
          { type: "button", class: "round", "aria-label": "Cerrar la cámara", onclick: () => dialog.close() },
          icon("close"),
        ),
      ),
      video,
      said,
      ...rest,
    );
    document.body.append(dialog);
    dialog.showModal();
    let stream;
    dialog.addEventListener("close", () => {
      for (const track of stream?.getTracks() ?? []) track.stop();
      dialog.remove();
    });
    try {
      if (!navigator.mediaDevices) throw Object.assign(new Error(), { name: "NotFoundError" });
      stream = await navigator.mediaDevices.getUserMedia({
        audio: false,
        video: {
          facingMode: { ideal: "environment" },
          width: { ideal: longestSide },
          height: { ideal: Math.round(longestSide * 0.75) },
        },
      });
      video.srcObject = stream;
      await video.play();
      if (!dialog.open) throw new Error("closed");
    } catch (failure) {
      for (const track of stream?.getTracks() ?? []) track.stop();
      said.textContent = refusals[failure.name] ?? "No se pudo abrir la cámara.";
      return { dialog, said, failed: true };
    }
    said.textContent = "";
    return { dialog, video, said };
  };

  return {
    exists: () => Boolean(navigator.mediaDevices?.getUserMedia),

    // codes hands every code that is seen to take, which returns what to say about it. With once
    // the camera is closed before the first is handed over, because nothing behind it can have the
    // focus until then.
    codes: async (title, take, once = false) => {
      const seen = await open(title, 1280);
      if (seen.failed) return;
      seen.said.textContent = "Apunte a la etiqueta";
      const read = await makeReader().catch(() => undefined);
      if (!read) {
        seen.said.textContent =
          "Para leer con la cámara falta descargar una parte de la página. Conéctese una vez, o escriba la guía.";
        return;
      }
      let last = "",
        at = 0;
      const look = async () => {
        if (!seen.dialog.open) return;
        for (const code of await read(seen.video).catch(() => [])) {
          const again = code === last && Date.now() - at < 3000;
          last = code;
          at = Date.now();
          if (again) continue;
          if (once) {
            seen.dialog.addEventListener("close", () => take(code), { once: true });
            return seen.dialog.close();
          }
          seen.said.textContent = await take(code);
        }
        setTimeout(look, pause);
      };
      look();
    },

    // picture is a photo as the camera sees it, or nothing. otherwise is another way to choose one.
    picture: (title, otherwise) =>
      new Promise((resolve) => {
        const shutter = el("button", { type: "button", class: "shutter", "aria-label": "Tomar la foto", disabled: true });
        const other = button(
          "Elegir otra foto",
          () => {
            other.closest("dialog").close();
            otherwise();
          },
          { class: "plain" },
        );
        open(title, 1920, el("footer", {}, other, shutter)).then((seen) => {
          shutter.hidden = Boolean(seen.failed);
          shutter.disabled = Boolean(seen.failed);
          shutter.focus();
          seen.dialog.addEventListener("close", () => resolve(undefined));
          shutter.addEventListener("click", () => {
            const canvas = el("canvas", { width: seen.video.videoWidth, height: seen.video.videoHeight });
            canvas.getContext("2d").drawImage(seen.video, 0, 0);
            canvas.toBlob(
              (blob) => {
                resolve(blob);
                seen.dialog.close();
              },
              "image/jpeg",
              0.9,
            );
          });
        });
      }),
  };
})();
