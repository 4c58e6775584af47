// Works on what is open, a series or one set, for `ms`: the view is moved as a user moves it, every answer is compared with the first one.
// `known` holds the answers so far.
return async (ms, known) => {
  const planescope = window.__planescope;
  const { rows, cols } = await planescope.virtualImage(null);
  const { rows: height, cols: width } = await planescope.frame(0);
  const large = { shape: "disc", centre: [height / 2, width / 2], inner: 0, outer: 0.45 * Math.min(height, width) };
  const fnv = (numbers) => {
    let hash = 0x811c9dc5;
    for (const byte of new Uint8Array(numbers.buffer)) hash = Math.imul(hash ^ byte, 0x01000193);
    return (hash >>> 0).toString(16);
  };
  const frames = [], started = performance.now(), end = started + ms;
  let last = started, runs = true, [recomputes, moves, scrubs, wrong] = [0, 0, 0, []];
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
  const panels = planescope.series?.panels ?? [];
  // At least one cycle, however slow the machine.
  do {
    // The next set, which may have to be read again.
    let name = "the set";
    if (panels.length) {
      const place = panels[scrubs % panels.length];
      const { sets } = await planescope.activate(place);
      ({ name } = sets.find((set) => set.place === place));
      scrubs++;
    }
    // The detector, as a drag does it: large, moved a little each time, for all panels at once.
    const outer = large.outer - (recomputes % 8);
    planescope.set({ product: "custom", custom: { ...large, outer } });
    const image = await planescope.virtualImage({ ...large, outer });
    judge(`${name}, disc ${outer}`, fnv(image.data));
    recomputes++;
    // The cursor, over a row of the scan.
    for (let i = 0; i < 8; i++) {
      planescope.set({ cursor: [(recomputes * 7) % rows, Math.floor((i * cols) / 8)] });
      await drawn();
      moves++;
    }
    const at = ((recomputes * 7) % rows) * cols;
    const [pattern] = await planescope.hashFrames([at]);
    judge(`${name}, pattern ${at}`, pattern.fnv1a64);
  } while (performance.now() < end);
  // Patterns and then sets are played for a while, by the buttons that play them.
  for (const button of ["play", "play-series"]) {
    const play = document.querySelector(`[data-do="${button}"]`);
    play?.click();
    await new Promise((done) => setTimeout(done, Math.min(1000, ms / 4)));
    play?.click();
  }
  // Every picture is that of now in the end; what cannot be read is told.
  const settled = await planescope.seriesSettled();
  for (const set of settled?.sets ?? []) if (!set.isCurrent) wrong.push(`${set.name}: its picture is not that of now (${set.mark})`);
  for (const error of planescope.errors()) wrong.push(`reported: ${error}`);
  runs = false;
  return { recomputes, moves, scrubs, wrong, frames: frames.slice(1), known, ms: performance.now() - started };
};
