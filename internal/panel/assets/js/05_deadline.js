// endAfter is the signal that ends a request after some milliseconds. AbortSignal.timeout, which does the same, is not in every browser that
// opens the panel: Safari has it from 16 on.
const endAfter = (milliseconds) => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
};
