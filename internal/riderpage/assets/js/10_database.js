// The phone's own database. What the rider did is in it before anything is sent, and stays until
// the service has answered for it.
const database = (() => {
  let opened;
  const open = () =>
    (opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open("reparto", 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("state"); // the session, and by rider the day, its order and the load
        request.result.createObjectStore("acts", { keyPath: "seq", autoIncrement: true });
        request.result.createObjectStore("drafts");
      };
      const forget = () => {
        opened = undefined;
      };
      request.onsuccess = () => {
        request.result.onclose = forget;
        request.result.onversionchange = () => {
          forget();
          request.result.close();
        };
        resolve(request.result);
      };
      request.onerror = () => {
        forget();
        reject(request.error);
      };
    }));

  const answered = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const wrap = (store) => ({
    get: (key) => answered(store.get(key)),
    all: (range) => answered(store.getAll(range)),
    keys: () => answered(store.getAllKeys()),
    put: (value, key) => answered(store.put(value, key)),
    add: (value) => answered(store.add(value)),
    remove: (key) => answered(store.delete(key)),
  });

  // transact runs work in one transaction, and returns what it returns once everything is on the
  // phone's disk.
  const transact = async (names, mode, work) => {
    const transaction = (await open()).transaction(names, mode, mode === "readwrite" ? { durability: "strict" } : {});
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new Error("aborted"));
    });
    let value;
    try {
      value = await work(Object.fromEntries(names.map((name) => [name, wrap(transaction.objectStore(name))])));
    } catch (failure) {
      ended.catch(() => {});
      try {
        transaction.abort();
      } catch {
        /* it has ended already */
      }
      throw failure;
    }
    await ended;
    return value;
  };
  return {
    read: (names, work) => transact(names, "readonly", work),
    write: (names, work) => transact(names, "readwrite", work),
  };
})();

// tabs tells the other tabs of this phone that something changed, and hears it from them.
const tabs = (() => {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("reparto") : undefined;
  return {
    tell: (what) => channel?.postMessage(what),
    hear: (listener) => channel?.addEventListener("message", ({ data }) => listener(data)),
  };
})();

// alone runs work while no other tab of this phone runs it. Where a browser has no locks, a lease
// in the database does: it ends by itself when the tab that has it is killed.
const alone = (() => {
  const me = newID(),
    term = 20000,
    patience = 1000;
  const lease = () =>
    database.write(["state"], async ({ state }) => {
      const held = await state.get("lease");
      if (held && held.owner !== me && held.until > Date.now()) return false;
      await state.put({ owner: me, until: Date.now() + term }, "lease");
      return true;
    });
  return async (work) => {
    if (navigator.locks) return navigator.locks.request("reparto", work);
    while (!(await lease()))
      await new Promise((resolve) => {
        setTimeout(resolve, patience);
      });
    const renewal = setInterval(lease, term / 4);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
      await database.write(["state"], ({ state }) => state.remove("lease"));
    }
  };
})();
