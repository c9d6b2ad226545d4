// Short tones for people who scan without looking at the screen: one high for good, one in the middle for "look here", two low for bad.
// They are muted on this machine for as long as somebody wants.
const tone = (() => {
  const key = "despacho.muted";
  const notes = {
    good: [[1320, 0, 0.12]],
    warn: [[660, 0, 0.18]],
    bad: [[220, 0, 0.2], [180, 0.26, 0.3]],
  };
  let audio;

  const muted = () => {
    try { return localStorage.getItem(key) === "1"; } catch { return false; }
  };
  const mute = (on) => {
    try { localStorage.setItem(key, on ? "1" : ""); } catch { /* a browser that keeps nothing is not muted for long */ }
  };
  const play = (kind) => {
    if (muted() || !notes[kind] || !window.AudioContext) return;
    audio ??= new AudioContext();
    audio.resume().catch(() => {});
    for (const [frequency, after, length] of notes[kind]) {
      const from = audio.currentTime + after;
      const oscillator = audio.createOscillator();
      const volume = audio.createGain();
      oscillator.type = kind === "bad" ? "square" : "sine";
      oscillator.frequency.value = frequency;
      volume.gain.setValueAtTime(0.25, from);
      volume.gain.exponentialRampToValueAtTime(0.001, from + length);
      oscillator.connect(volume).connect(audio.destination);
      oscillator.start(from);
      oscillator.stop(from + length);
    }
  };

  for (const button of document.querySelectorAll("[data-mute]")) {
    const show = () => { button.textContent = muted() ? "Encender el sonido" : "Apagar el sonido"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      mute(!muted());
      show();
      play("good");
    });
    show();
  }
  return { play };
})();
