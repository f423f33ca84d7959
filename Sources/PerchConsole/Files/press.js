// A control under a finger stays until its click has come: a push that draws its place again meanwhile would lose the click.
const waiting = new Map();
let pressed = null;
function release() {
  clearTimeout(pressed);
  pressed = null;
  const all = [...waiting.values()];
  waiting.clear();
  for (const draw of all) draw();
}
const keep = (ms) => { clearTimeout(pressed); pressed = setTimeout(release, ms); };
/** Draws at once, or as soon as nothing is pressed. `key` is what is drawn: of several, the last counts. */
export function drawUnpressed(key, draw) { if (pressed === null) draw(); else waiting.set(key, draw); }
for (const [type, action] of Object.entries({
  pointerdown: () => keep(5_000), pointercancel: release, keydown: ({ key }) => { if (key === ' ') keep(5_000); },
  // The click comes in the same task or soon after it.
  pointerup: () => keep(400), keyup: ({ key }) => { if (key === ' ') keep(400); }, click: () => { if (pressed !== null) keep(0); },
})) globalThis.addEventListener?.(type, action, { capture: true, passive: true });

/** Ends at once, or as soon as nothing is pressed. */
export const unpressed = () => new Promise((done) => { drawUnpressed(Symbol('a wait'), done); });
