// What a measurement asks of the page (window.__planescope, window.__loadprof), each answer in a form that survives
// JSON.
const planescope = window.__planescope;

return {
  // Which adapter WebGPU offers, before anything is loaded; null without one.
  adapter: async () => {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) return null;
    const { vendor, architecture, device, description } = adapter.info;
    return { name: [vendor, architecture, device, description].filter(Boolean).join(" "),
             date: new Date().toISOString(), userAgent: navigator.userAgent };
  },
  // The profile of the load that the choice of files began.
  loaded: async () => {
    while (!window.__loadprof) await new Promise((done) => setTimeout(done, 20));
    return window.__loadprof;
  },
  hashes: async () => {
    const { weighted64, digest } = await planescope.hashAll();
    const decoded = weighted64.filter((hash) => hash !== null);
    // The hash of a frame without counts is 0.
    return { digest, decoded: decoded.length, counted: decoded.filter((hash) => /[1-9a-f]/i.test(hash)).length };
  },
  // Keeps a copy of the open set in the browser's own storage; false where the page cannot.
  keep: async () => {
    if (!planescope.keep) return false;
    await planescope.keep();
    return true;
  },
  kernels: () => planescope.kernels(),
  time: (request) => planescope.time(request),
  clock: (options) => planescope.clock(options),
  pause: async (paused) => { planescope.pause(paused); return planescope.drawn; },
  drawn: async () => planescope.drawn,
  // Changes the view; pictures drawn since the start, half a second later.
  drawnAfter: async (state) => {
    planescope.set(state);
    await new Promise((done) => setTimeout(done, 500));
    return planescope.drawn;
  },
  // Waits until the view no longer changes by itself, as it does for a while after a load.
  settled: async () => {
    for (let last = null, same = 0, turn = 0; same < 3 && turn < 200; turn++) {
      const now = JSON.stringify(planescope.state());
      same = now === last ? same + 1 : 0;
      last = now;
      await new Promise((done) => setTimeout(done, 100));
    }
  },
  // What must stay as it is while something is measured: the view, and the hashes of all frames.
  scene: async () => {
    const { digest } = await planescope.hashAll();
    return `${digest} ${JSON.stringify(planescope.state())}`;
  },
  // The whole result of a product, as a hash (FNV-1a of its 32-bit words), with its values and those that are not 0.
  result: async ({ product, shape, roi }) => {
    const answer = await { virtual_image: () => planescope.virtualImage(shape), moments: () => planescope.com(shape),
                           sum_pattern: () => planescope.meanPattern(roi) }[product]();
    let [hash, values, nonzero] = [0x811c9dc5, 0, 0];
    for (const [name, part] of Object.entries(answer).filter(([, part]) => ArrayBuffer.isView(part))) {
      // Which positions have data at all is known without any work.
      for (const value of part) { values++; if (value && name !== "valid") nonzero++; }
      for (const byte of new Uint8Array(part.buffer, part.byteOffset, part.byteLength)) {
        hash = Math.imul(hash ^ byte, 0x01000193);
      }
    }
    return { hash: hash >>> 0, values, nonzero };
  },
};
