// A photo is made upright and small before it is kept: 20 of them have to pass through a slow
// network within a minute.
const smaller = (() => {
  const longestSide = 1600,
    enough = 160 * 1024,
    largest = 8 << 20;
  const qualities = [0.75, 0.6, 0.5, 0.4];
  return async (file) => {
    let picture;
    try {
      picture = await createImageBitmap(file, { imageOrientation: "from-image" });
    } catch {
      throw new Error("Este celular no puede leer esa foto. Tome otra.");
    }
    const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
    const canvas = el("canvas", { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) });
    const drawing = canvas.getContext("2d");
    drawing.fillStyle = "white"; // is seen through what is transparent
    drawing.fillRect(0, 0, canvas.width, canvas.height);
    drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    for (const quality of qualities) {
      const made = await new Promise((resolve) => {
        canvas.toBlob(resolve, "image/jpeg", quality);
      });
      if (made && (made.size <= enough || quality === qualities.at(-1)) && made.size <= largest) return made;
    }
    throw new Error("La foto es demasiado grande. Tome otra.");
  };
})();

// drafts have what is being typed and photographed. They are written as it happens: a phone that
// opens its camera may close the page.
const drafts = (() => {
  let writing = Promise.resolve();
  const write = (work) => {
    writing = writing.then(() => database.write(["drafts"], ({ drafts }) => work(drafts)));
    return writing;
  };
  return {
    keyOf: (type, id) => `${session.get().rider.id}:${type}:${id}`,
    read: (key) =>
      database.read(["drafts"], async ({ drafts }) => ({ form: await drafts.get(key), photo: await drafts.get(key + ":photo") })),
    put: (key, form) => write((store) => store.put(form, key)),
    putPhoto: (key, photo) => write((store) => (photo ? store.put(photo, key + ":photo") : store.remove(key + ":photo"))),
    remove: (key) =>
      write(async (store) => {
        await store.remove(key);
        await store.remove(key + ":photo");
      }),
    // written is when everything so far is on the disk. What could not be written is known then.
    written: () => {
      const now = writing;
      writing = writing.catch(() => {});
      return now;
    },
    // begun are the ids and types of what this rider has begun.
    begun: async () =>
      (await database.read(["drafts"], ({ drafts }) => drafts.keys()))
        .map((key) => key.split(":"))
        .filter(([rider, , , photo]) => rider === session.get().rider?.id && !photo)
        .map(([, type, id]) => ({ type, id })),
  };
})();

// photoField lets the rider take a photo or choose one. required is asked each time it is shown.
const photoField = (key, kept, required) => {
  let photo = kept,
    working = Promise.resolve(),
    address;
  const id = "photo";
  const box = el("section", { class: "photo" });
  const chooser = el("input", {
    type: "file",
    id,
    accept: "image/*",
    class: "unseen",
    tabIndex: -1,
    "aria-label": "Elegir una foto",
  });
  const failure = el("p", { class: "failure", role: "alert", hidden: true });

  const take = async (file) => {
    if (!file) return;
    failure.hidden = true;
    await drafts.putPhoto(key, file); // as it is, for the case that the page is closed meanwhile
    draw("Preparando la foto…");
    try {
      photo = await smaller(file);
      await drafts.putPhoto(key, photo);
    } catch (problem) {
      photo = undefined;
      await drafts.putPhoto(key);
      failure.textContent =
        problem.name === "QuotaExceededError" ? "El celular no tiene espacio para la foto: libere un poco." : problem.message;
      failure.hidden = false;
    }
    draw();
  };
  const begin = (file) => {
    working = working
      .then(() => take(file))
      .catch((problem) => {
        failure.textContent = `No se pudo guardar la foto: ${problem.message}`;
        failure.hidden = false;
        draw();
      });
  };
  chooser.addEventListener("change", () => {
    begin(chooser.files[0]);
    chooser.value = "";
  });
  const choose = () => chooser.click();

  const draw = (said) => {
    if (address) URL.revokeObjectURL(address);
    address = photo && URL.createObjectURL(photo);
    const must = required() ? el("span", { class: "must" }, "obligatoria") : el("span", { class: "hint" }, "opcional");
    box.replaceChildren(
      el("h2", {}, "Foto ", must),
      said ? el("p", { role: "status" }, said) : (photo && el("img", { src: address, alt: "Foto tomada" })) || "",
      el(
        "div",
        { class: "pair" },
        el(
          "button",
          {
            type: "button",
            class: "plain take",
            onclick: () => (camera.exists() ? camera.picture("Foto", choose).then((blob) => blob && begin(blob)) : choose()),
          },
          icon("camera"),
          photo ? "Otra foto" : "Tomar foto",
        ),
        photo
          ? button(
              "Quitar",
              () => {
                photo = undefined;
                drafts.putPhoto(key);
                draw();
              },
              { class: "plain" },
            )
          : button("Elegir foto", choose, { class: "plain" }),
      ),
      failure,
      chooser,
    );
  };
  draw();
  // A photo that was kept as it is was being made smaller when the page was closed.
  if (kept && !(kept.type === "image/jpeg" && kept.size <= 160 * 1024)) begin(kept);
  return {
    element: box,
    redraw: () => draw(),
    ready: async () => {
      await working;
      return photo;
    },
    leave: () => {
      if (address) URL.revokeObjectURL(address);
    },
  };
};
