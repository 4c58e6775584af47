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
    return { digest, decoded: weighted64.filter((hash) => hash !== null).length };
  },
  // Keeps a copy of the open set in the browser's own storage; false where the page cannot.
  keep: async () => {
    if (!planescope.keep) return false;
    await planescope.keep();
    return true;
  },
  kernels: () => planescope.kernels(),
  time: (request) => planescope.time(request),
};
