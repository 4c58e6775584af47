// What the tests ask of the page, each answer in a form that survives JSON: 64-bit numbers as strings.
// The hooks themselves (`window.__planescope`, `window.__loadprof`) are the page's.
const planescope = window.__planescope;
const texts = (numbers) => Array.from(numbers, String);
const masked = (numbers, valid) => Array.from(numbers, (value, i) => (valid[i] ? String(value) : null));

const image = async (shape) => {
  const { data, valid } = await planescope.virtualImage(shape);
  return masked(data, valid);
};

// The position-dependent hash of ../../tests/data/bench/expected.py, over the values of one frame.
const weighted64 = (values) => {
  const mix = (x) => {
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return x ^ (x >>> 16);
  };
  let [high, low] = [0, 0];
  for (let p = 0; p < values.length; p++) {
    high = (high + Math.imul(values[p], mix(2 * p) | 1)) | 0;
    low = (low + Math.imul(values[p], mix(2 * p + 1) | 1)) | 0;
  }
  return [high, low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
};

return {
  // Opens what the file input holds; everything that the page knows about it.
  open: () => planescope.open(),
  // The set that was opened by a click or by the choice of files itself.
  opened: async (seconds) => {
    const end = performance.now() + 1000 * seconds;
    while (!window.__loadprof && performance.now() < end) {
      await new Promise((done) => setTimeout(done, 10));
      // Of several sets the first one is meant.
      document.querySelector('[data-stage="choice"] [data-do="choose 0"]')?.click();
    }
    if (!window.__loadprof) throw new Error(`nothing was opened within ${seconds} s`);
    return window.__loadprof;
  },
  hashes: () => planescope.hashAll(),
  images: async (detectors) => {
    const shape = (name) => ({ shape: detectors[name].inner > 0 ? "annulus" : "disc", ...detectors[name] });
    const { sum, sumRow, sumCol, valid } = await planescope.com();
    return {
      bf: await image(shape("bf")),
      adf: await image(shape("adf")),
      sum: await image({ shape: "disc", centre: [0, 0], inner: 0, outer: 1e4 }),
      com: [masked(sum, valid), masked(sumRow, valid), masked(sumCol, valid)],
    };
  },
  pattern: async () => {
    const { sum, max, frames } = await planescope.meanPattern();
    return { sum: texts(sum), max: texts(max), frames };
  },
  frames: async (indices) => {
    const found = [];
    for (const i of indices) {
      const { data } = await planescope.frame(i);
      found.push(weighted64(data));
    }
    return found;
  },
  checksums: (indices) => planescope.checksumFrames(indices),
  hashFrames: (indices) => planescope.hashFrames(indices),
  errors: () => planescope.errors(),
};
