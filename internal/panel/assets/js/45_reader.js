// A barcode reader types like a keyboard, wherever the focus is: a code in quick keys with Enter at the end.
//
// listenToReader hands every code to take, whatever has the focus. What is typed where nothing can be typed, as on a link or a tick box, goes to the
// page's field for codes, if it has one: it may be typed slowly, by a slow reader or by a person, and Enter ends it. In another field, and in a list
// where letters choose, only quick keys that end with Enter are a code: what they have changed there is put back, and what a person had typed stays.
// typeAhead says that letters choose in lists; without it they go to the field too. A page without a field for codes leaves in a text field what is
// no guide code: it may be the number that somebody wants there.
const listenToReader = ({ field, take, typeAhead = false }) => {
  // The keys of a reader are on average at most so many milliseconds apart, none of them longer than a pause, and no code is shorter. Nobody types
  // as fast, and a reader without a cable is not always on time.
  const apart = 45;
  const pause = 120;
  const shortest = 8;
  const texts = "textarea, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])";
  const isGuide = (code) => /^[0-9A-Z]{11}$/i.test(code.replace(/[^0-9A-Z]/gi, "")) || /track/i.test(code);
  let typed = "";
  let began = 0;
  let last = -Infinity;
  let before = new Map();

  const putBack = () => {
    for (const [element, value] of before) {
      if (element.value === value) continue;
      element.value = value;
      element.dispatchEvent(new Event(element.localName === "select" ? "change" : "input", { bubbles: true }));
    }
  };
  const follows = (at) => Math.abs(at - last) <= pause;
  const isQuick = (at) => typed.length >= shortest && follows(at) && at - began <= apart * typed.length;

  const end = (event) => {
    const { target } = event;
    let code = isQuick(event.timeStamp) ? typed : "";
    if (target === field && !isGuide(code)) code = ""; // after a pause in the middle of a code, the field has all of it
    if (code !== "" && !field && target.matches(texts) && !target.matches("[type=search]") && !isGuide(code)) code = "";
    if (code !== "") putBack();
    else if (target === field) code = field.value.trim();
    else {
      // After a slow reader Enter would send what is ticked until now.
      if (target.matches(".rows input, .tab-line input, .selection select")) event.preventDefault();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    if (field) field.value = "";
    if (code !== "") take(code);
  };

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    if (key === "Enter") {
      end(event);
      typed = "";
      return;
    }
    if (key.length !== 1) return;
    if (event.repeat || !follows(event.timeStamp)) {
      typed = "";
      before = new Map();
    }
    if (typed === "") began = event.timeStamp;
    last = event.timeStamp;
    typed += key;
    if (target === field) return;
    const list = target.closest("select"); // an open list has the focus in one of its options
    if (target.matches(texts) || typeAhead && list) {
      const kept = list ?? target;
      if (!before.has(kept)) before.set(kept, kept.value);
    } else if (field && key !== " " && !(key === "x" && target.closest(".rows"))) { // which ticks a row
      field.focus();
    } else if (typed.length > 1 && key === " ") {
      event.preventDefault(); // a space in a code ticks nothing
    }
  }, true);
};
