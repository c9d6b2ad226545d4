// Unanswered is the failure of a request for which the service did not answer: there is no network,
// the answer was lost, or what answered was not the service, as on a wireless network that asks to
// sign in.
class Unanswered extends Error {}

// service asks /rider/api and returns { status, data, error, code, fields, retryAfter }.
const service = (() => {
  // Without any progress for so long nothing comes through.
  const stall = 45000;

  const read = (request) => {
    let body;
    try {
      body = JSON.parse(request.responseText);
    } catch {
      throw new Unanswered("no JSON");
    }
    if (typeof body !== "object" || body === null || !("data" in body || "error" in body || "message" in body))
      throw new Unanswered("no envelope");
    return { status: request.status, retryAfter: Number(request.getResponseHeader("Retry-After")) || 0, ...body };
  };

  return (method, path, body, progressed) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(),
        begun = performance.now();
      const alive = () => {
        request.timeout = performance.now() - begun + stall;
      };
      if (progressed)
        request.upload.addEventListener("progress", ({ loaded, total }) => {
          alive();
          progressed(loaded / total);
        });
      request.addEventListener("progress", alive);
      request.addEventListener("loadend", () => {
        try {
          if (!request.status) throw new Unanswered("no answer");
          resolve(read(request));
        } catch (failure) {
          reject(failure);
        }
      });
      request.open(method, "/rider/api" + path);
      alive();
      if (body === undefined || body instanceof FormData) return request.send(body);
      request.setRequestHeader("Content-Type", "application/json");
      request.send(JSON.stringify(body));
    });
})();
