// Starts a page that is one file: unpacks what lies in #pack and gives the page's module its WebAssembly.
// The pack is gzip in base 85: five digits make four bytes.
const text = document.getElementById("pack").textContent.trim();
const digits = new Uint8Array(128);
for (let i = 0; i < 85; i++) digits[ALPHABET.charCodeAt(i)] = i;
const packed = new Uint8Array((text.length / 5) * 4);
const words = new DataView(packed.buffer);
for (let i = 0, at = 0; i < text.length; i += 5, at += 4) {
  let word = 0;
  for (let k = 0; k < 5; k++) word = word * 85 + digits[text.charCodeAt(i + k)];
  words.setUint32(at, word);
}
// Zeros that fill the last word are not of the stream.
const stream = new Blob([packed.subarray(0, PACKED_BYTES)]).stream().pipeThrough(new DecompressionStream("gzip"));
const all = await new Response(stream).arrayBuffer();
let at = 0;
const [page, pageWasm, reader, readerWasm] = LENGTHS.map((length) => new Uint8Array(all, (at += length) - length, length));
const url = (parts, type) => URL.createObjectURL(new Blob(parts, { type }));
const wasm = JSON.stringify(url([readerWasm], "application/wasm"));
// Workers of a file:// page cannot load modules; a classic script that has everything in it runs everywhere.
globalThis.planescopeReader = url([reader, `\n__wbg_init({ module_or_path: fetch(${wasm}) });`], "text/javascript");
globalThis.planescopeWasm = pageWasm;
const script = document.createElement("script");
script.type = "module";
script.textContent = `${new TextDecoder().decode(page)}\n__wbg_init({ module_or_path: globalThis.planescopeWasm });`;
document.head.append(script);
