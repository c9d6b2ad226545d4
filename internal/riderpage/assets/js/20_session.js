// The session is who uses this phone. Its standing is "open", "locked" (the PIN is asked for),
// "revoked", "none" (there is no rider yet), or "unknown" while a link is being used: whose the
// phone's cookie is then is not known until the service has said it.
const session = (() => {
  const standings = { pin_required: "locked", device_revoked: "revoked", no_device: "none" };
  let current = { standing: "none", links: 0 };
  let changed = () => {};

  // keep changes the session. What belongs to a request from before a link was used is of another
  // rider and changes nothing.
  const keep = async (values, links = current.links) => {
    await database.write(["state"], async ({ state }) => {
      const kept = (await state.get("session")) ?? { standing: "none", links: 0 };
      current = kept.links === links ? { ...kept, ...values } : kept;
      await state.put(current, "session");
      for (const key of await state.keys()) {
        const [kind, owner] = String(key).split(":");
        // Another rider of this phone, or one whose phone was taken away, has no business with
        // these addresses any more.
        const another = owner && owner !== current.rider?.id && kind !== "arrangement";
        if (another || (kind === "day" && current.standing === "revoked")) await state.remove(key);
      }
    });
    tabs.tell("session");
    changed();
  };

  const adopt = (data, links) => keep({ ...data, standing: "open", said: undefined, lockAsked: false }, links);

  // heed takes what an answer says about the session, and is true if it was refused for it.
  const heed = async (answer, links) => {
    const standing = answer.status === 401 && standings[answer.code];
    if (!standing) return false;
    if (current.standing !== standing || current.said !== answer.error) await keep({ standing, said: answer.error }, links);
    return true;
  };

  // ask asks for something that is of the rider's.
  const ask = async (method, path, body) => {
    const { links } = current,
      answer = await service(method, path, body);
    await heed(answer, links);
    return links === current.links ? answer : { status: 0 };
  };

  const load = async () => {
    current = (await database.read(["state"], ({ state }) => state.get("session"))) ?? { standing: "none", links: 0 };
    return current;
  };

  const forgetLock = async () => {
    const { status } = await service("DELETE", "/session");
    if (status === 200 || status === 401) await keep({ lockAsked: false });
  };

  return {
    get: () => current,
    load,
    heed,
    ask,
    onchange: (listener) => {
      changed = listener;
    },

    // check asks the service who this is. Without an answer everything stays as it was.
    check: async () => {
      if (current.lockAsked) await forgetLock();
      const { links } = current,
        answer = await ask("GET", "/session");
      if (answer.status === 200) await adopt(answer.data, links);
    },

    // activate uses a link. No tab sends anything meanwhile: it would be sent in the name of the
    // rider of the link.
    activate: (token, pin) =>
      alone(async () => {
        const before = current.rider?.id;
        await keep({ standing: "unknown", links: current.links + 1 });
        const answer = await service("POST", "/activate", { token, pin });
        if (answer.status === 200) {
          await adopt(answer.data);
          return answer;
        }
        const known = await ask("GET", "/session");
        if (known.status === 200) await adopt(known.data);
        // An earlier try may have worked although its answer was lost: then the phone has another
        // rider than before.
        return known.status === 200 && known.data.rider.id !== before ? known : answer;
      }),

    unlock: async (pin) => {
      const { links } = current,
        answer = await ask("POST", "/session", { pin });
      if (answer.status === 200) await adopt(answer.data, links);
      return answer;
    },

    // lock asks for the PIN again from now on, also without a network.
    lock: async () => {
      await keep({ standing: "locked", said: undefined, lockAsked: true });
      await forgetLock().catch(() => {}); // check does it as soon as the service answers
    },
  };
})();
