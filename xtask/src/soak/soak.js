// Works on the open set for `ms`: the view is moved as a user moves it, every answer is compared with the first one.
// `known` holds the answers so far.
return async (ms, known) => {
  const planescope = window.__planescope;
  const profile = window.__loadprof;
  const [rows, cols] = [profile.scanRows, profile.scanCols];
  const centre = [profile.detRows / 2, profile.detCols / 2];
  const large = { shape: "disc", centre, inner: 0, outer: 0.45 * Math.min(profile.detRows, profile.detCols) };
  const fnv = (numbers) => {
    let hash = 0x811c9dc5;
    for (const byte of new Uint8Array(numbers.buffer)) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 0).toString(16);
  };
  const frames = [], started = performance.now(), end = started + ms;
  let last = started, runs = true, [recomputes, moves, wrong] = [0, 0, []];
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    if (runs) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const judge = (name, hash) => {
    known[name] ??= hash;
    if (known[name] !== hash) wrong.push(`${name}: ${hash}, at first ${known[name]}`);
  };
  // At least one cycle, however slow the machine.
  do {
    // The detector, as a drag does it: large, moved a little each time.
    const outer = large.outer - (recomputes % 8);
    planescope.set({ ...planescope.state(), product: "custom", custom: { ...large, outer } });
    const image = await planescope.virtualImage({ ...large, outer });
    judge(`disc ${outer}`, fnv(image.data));
    recomputes++;
    // The cursor, over a row of the scan.
    for (let i = 0; i < 8; i++) {
      const cursor = [(recomputes * 7) % rows, Math.floor((i * cols) / 8)];
      planescope.set({ ...planescope.state(), cursor });
      await drawn();
      moves++;
    }
    const at = ((recomputes * 7) % rows) * cols;
    const [pattern] = await planescope.hashFrames([at]);
    judge(`pattern ${at}`, pattern.fnv1a64);
  } while (performance.now() < end);
  // Patterns are played for a while, by the button that plays them.
  const play = document.querySelector('[data-do="play"]');
  play?.click();
  await new Promise((done) => setTimeout(done, Math.min(1000, ms / 4)));
  play?.click();
  runs = false;
  return { recomputes, moves, wrong, frames: frames.slice(1), known, ms: performance.now() - started };
};
