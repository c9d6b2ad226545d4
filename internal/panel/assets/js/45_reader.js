// A barcode reader types like a keyboard, wherever the focus is: a code in quick keys with Enter at the end.
//
// listenToReader hands every code to take. What is typed where nothing can be typed, as on a link or a tick box, goes to the page's field for
// codes, if it has one: it may be typed slowly, by a slow reader or by a person, and Enter ends it. In another field, and in a list where
// letters choose, only quick keys that end with Enter are a code; what they have changed there is put back. typeAhead says that letters choose
// in lists; without it they go to the field too.
const listenToReader = ({ field, take, typeAhead = false }) => {
  // The keys of a reader are at most so many milliseconds apart, and no code is shorter.
  const apart = 35;
  const shortest = 8;
  const texts = "textarea, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])";
  let typed = "";
  let last = -Infinity;
  let before = new Map();

  const putBack = () => {
    for (const [element, value] of before) {
      if (element.value === value) continue;
      element.value = value;
      element.dispatchEvent(new Event(element.localName === "select" ? "change" : "input", { bubbles: true }));
    }
  };

  const end = (event) => {
    const quick = typed.length >= shortest && event.timeStamp - last <= apart ? typed : "";
    const code = quick || (event.target === field ? field.value.trim() : "");
    if (quick === "" && event.target !== field) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (quick !== "") putBack();
    if (field) field.value = "";
    if (code !== "") take(code);
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (key !== "Enter" && key.length !== 1) return;
    if (event.repeat || event.timeStamp - last > apart) {
      if (key !== "Enter") typed = "";
      before = new Map();
    }
    if (key === "Enter") {
      end(event);
      typed = "";
      return;
    }
    last = event.timeStamp;
    typed += key;
    if (target === field) return;
    if (target.matches(texts) || typeAhead && target.matches("select")) {
      if (!before.has(target)) before.set(target, target.value);
    } else if (field && key !== " ") {
      field.focus();
    }
  }, true);
};
