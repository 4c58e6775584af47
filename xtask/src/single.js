// Starts a page that is one file: unpacks what lies in #pack and gives the page's module its WebAssembly.
// The pack is LZMA, 7 bits a character: 0 to 127, of which HTML would not keep three as they are; those stand 256 higher.
const text = document.getElementById("pack").textContent;
const packed = new Uint8Array((text.length * 7) >> 3);
for (let i = 0, at = 0, bits = 0, count = 0; i < text.length; i++) {
  bits = ((bits << 7) | (text.charCodeAt(i) & 127)) & 0x3fff;
  count += 7;
  if (count >= 8) packed[at++] = bits >> (count -= 8);
}

// A decoder by the specification in the LZMA SDK (https://www.7-zip.org/sdk.html, lzma-specification.txt), for
// lc = 3, lp = 0, pb = 0, without a header: `size` bytes come out.
const unpacked = (size) => {
  // Where the probabilities of each kind begin; of `isMatch` to `isRep0Long` one for each of the 12 states.
  const [isMatch, isRep, isRepG0, isRepG1, isRepG2, isRep0Long] = [0, 12, 24, 36, 48, 60];
  const [slots, special, align, lengths, repLengths, literals] = [72, 328, 443, 459, 733, 1007];
  const odds = new Uint16Array(literals + (0x300 << 3)).fill(1024);
  const out = new Uint8Array(size);
  let [range, code, next, pos, state] = [0xffffffff, 0, 5, 0, 0];
  let [rep0, rep1, rep2, rep3] = [0, 0, 0, 0];
  for (let i = 1; i < 5; i++) code = ((code << 8) | packed[i]) >>> 0;
  const shift = () => {
    if (range >= 0x1000000) return;
    range = (range << 8) >>> 0;
    code = ((code << 8) | packed[next++]) >>> 0;
  };
  const bit = (i) => {
    const bound = (range >>> 11) * odds[i];
    if (code < bound) {
      range = bound;
      odds[i] += (2048 - odds[i]) >> 5;
      shift();
      return 0;
    }
    range -= bound;
    code -= bound;
    odds[i] -= odds[i] >> 5;
    shift();
    return 1;
  };
  const tree = (base, bits) => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = (m << 1) | bit(base + m);
    return m - (1 << bits);
  };
  const reverse = (base, bits) => {
    let [m, value] = [1, 0];
    for (let i = 0; i < bits; i++) {
      const is = bit(base + m);
      m = (m << 1) | is;
      value |= is << i;
    }
    return value;
  };
  const direct = (bits) => {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      range >>>= 1;
      const is = code >= range ? 1 : 0;
      if (is) code -= range;
      value = (value << 1) | is;
      shift();
    }
    return value;
  };
  const length = (base) => {
    if (!bit(base)) return tree(base + 2, 3);
    return bit(base + 1) ? 16 + tree(base + 18, 8) : 8 + tree(base + 10, 3);
  };
  const distance = (length) => {
    const slot = tree(slots + 64 * Math.min(length, 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << bits;
    if (slot < 14) return high + reverse(special + high - slot, bits);
    return high + (direct(bits - 4) << 4) + reverse(align, 4);
  };
  // Puts one of the last four distances first; false where a single byte is repeated.
  const earlier = () => {
    if (!bit(isRepG0 + state)) return bit(isRep0Long + state) === 1;
    if (!bit(isRepG1 + state)) [rep0, rep1] = [rep1, rep0];
    else if (!bit(isRepG2 + state)) [rep0, rep1, rep2] = [rep2, rep0, rep1];
    else [rep0, rep1, rep2, rep3] = [rep3, rep0, rep1, rep2];
    return true;
  };
  const literal = () => {
    const base = literals + 0x300 * (pos ? out[pos - 1] >> 5 : 0);
    let symbol = 1;
    if (state >= 7) {
      for (let match = out[pos - rep0 - 1]; symbol < 0x100; match <<= 1) {
        const expected = (match >> 7) & 1;
        const is = bit(base + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | is;
        if (is !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | bit(base + symbol);
    out[pos++] = symbol;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  };
  while (pos < size) {
    if (!bit(isMatch + state)) {
      literal();
      continue;
    }
    let count = 1;
    if (!bit(isRep + state)) {
      [rep3, rep2, rep1] = [rep2, rep1, rep0];
      count = length(lengths) + 2;
      rep0 = distance(count - 2);
      state = state < 7 ? 7 : 10;
    } else if (earlier()) {
      count = length(repLengths) + 2;
      state = state < 7 ? 8 : 11;
    } else {
      state = state < 7 ? 9 : 11;
    }
    for (let i = 0; i < count; i++, pos++) out[pos] = out[pos - rep0 - 1];
  }
  return out.buffer;
};

const all = unpacked(UNPACKED_BYTES);
let at = 0;
const [page, pageWasm, reader, readerWasm] = LENGTHS.map((length) => new Uint8Array(all, (at += length) - length, length));
// Workers of a file:// page can load neither modules nor what the page has made, but a classic script that has
// everything in it, its WebAssembly as a data address.
const wasm = await new Promise((done) => {
  const file = new FileReader();
  file.onload = () => done(file.result);
  file.readAsDataURL(new Blob([readerWasm], { type: "application/wasm" }));
});
const whole = new Blob([reader, `\n__wbg_init({ module_or_path: fetch("${wasm}") });`], { type: "text/javascript" });
globalThis.planescopeReader = URL.createObjectURL(whole);
globalThis.planescopeWasm = pageWasm;
const script = document.createElement("script");
script.type = "module";
script.textContent = new TextDecoder().decode(page);
document.head.append(script);
