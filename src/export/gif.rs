//! Pictures one after another as a GIF: every colour of a colour map is a colour of its palette, so nothing is dithered.
//!
//! Format: GIF89a (<https://www.w3.org/Graphics/GIF/spec-gif89a.txt>), looped by the NETSCAPE2.0 extension.

use std::collections::HashMap;

/// A GIF in the making.
pub struct Gif {
    bytes: Vec<u8>,
    width: u16,
    height: u16,
    delay_cs: u16,
}

impl Gif {
    /// Pictures of `width` x `height` px, each shown for `delay_cs` hundredths of a second.
    pub fn new(width: u16, height: u16, palette: &[[u8; 3]; 256], delay_cs: u16) -> Self {
        let mut bytes = b"GIF89a".to_vec();
        bytes.extend(width.to_le_bytes());
        bytes.extend(height.to_le_bytes());
        // A palette of 256 colours of 8 bits; background 0; square pixels.
        bytes.extend([0xF7, 0, 0]);
        bytes.extend(palette.as_flattened());
        bytes.extend(b"\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00");
        Self { bytes, width, height, delay_cs }
    }

    /// Appends a picture: a place of the palette for every px, row-major.
    pub fn add(&mut self, indices: &[u8]) {
        self.bytes.extend([0x21, 0xF9, 4, 0]);
        self.bytes.extend(self.delay_cs.to_le_bytes());
        self.bytes.extend([0, 0, 0x2C, 0, 0, 0, 0]);
        self.bytes.extend(self.width.to_le_bytes());
        self.bytes.extend(self.height.to_le_bytes());
        // No palette of its own; codes begin with 8 bits.
        self.bytes.extend([0, 8]);
        for block in lzw(indices).chunks(255) {
            self.bytes.push(block.len() as u8);
            self.bytes.extend(block);
        }
        self.bytes.push(0);
    }

    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0x3B);
        self.bytes
    }
}

const CLEAR: u16 = 256;
const END: u16 = 257;
/// Codes have at most 12 bits.
const MOST_CODES: u16 = 1 << 12;

/// Appendix F of the specification: LZW with codes of 9 to 12 bits, low bit first.
fn lzw(indices: &[u8]) -> Vec<u8> {
    let mut out = Bits::default();
    let mut known: HashMap<(u16, u8), u16> = HashMap::new();
    let (mut next, mut width) = (END + 1, 9);
    out.push(CLEAR, width);
    let mut rest = indices.iter();
    let Some(&first) = rest.next() else {
        out.push(END, width);
        return out.finish();
    };
    let mut prefix = u16::from(first);
    for &index in rest {
        if let Some(&longer) = known.get(&(prefix, index)) {
            prefix = longer;
            continue;
        }
        out.push(prefix, width);
        if next < MOST_CODES {
            known.insert((prefix, index), next);
            // A reader knows this code one step later.
            if next == 1 << width {
                width += 1;
            }
            next += 1;
        } else {
            out.push(CLEAR, width);
            known.clear();
            (next, width) = (END + 1, 9);
        }
        prefix = index.into();
    }
    out.push(prefix, width);
    if next == 1 << width && width < 12 {
        width += 1;
    }
    out.push(END, width);
    out.finish()
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.held as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The other way, as the specification tells it to readers.
    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let (mut at, mut width) = (0usize, 9usize);
        let mut table: Vec<Vec<u8>> = Vec::new();
        let (mut out, mut before): (Vec<u8>, Option<Vec<u8>>) = (Vec::new(), None);
        loop {
            let bit = |n: usize| u16::from(bytes[n / 8] >> (n % 8) & 1);
            let code = (0..width).map(|n| bit(at + n) << n).sum::<u16>();
            at += width;
            match code {
                END => return out,
                CLEAR => {
                    table = (0..=255).map(|n| vec![n]).chain([vec![], vec![]]).collect();
                    (width, before) = (9, None);
                }
                code => {
                    let known = table.get(usize::from(code)).cloned();
                    if let Some(before) = before.filter(|_| table.len() < 4096) {
                        let first = known.as_ref().unwrap_or(&before)[0];
                        table.push([before.as_slice(), &[first]].concat());
                    }
                    let entry = known.unwrap_or_else(|| table[usize::from(code)].clone());
                    out.extend(&entry);
                    before = Some(entry);
                    if table.len() == 1 << width && width < 12 {
                        width += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn lzw_is_undone_by_what_the_specification_tells_readers() {
        let noise: Vec<u8> = (0..60_000u32).map(|n| (n.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        let steps: Vec<u8> = (0..30_000u32).map(|n| (n / 700) as u8).collect();
        for indices in [vec![], vec![7], vec![7; 5000], (0..=255).collect(), steps, noise] {
            assert_eq!(unpacked(&lzw(&indices)), indices, "{} indices", indices.len());
        }
    }

    #[test]
    fn every_length_around_a_wider_code_is_undone() {
        let noise: Vec<u8> = (0..4_200u32).map(|n| (n.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for length in (250..260).chain(510..520).chain(1020..1030).chain(3830..3850) {
            assert_eq!(unpacked(&lzw(&noise[..length])), noise[..length], "{length} indices");
        }
    }

    #[test]
    fn a_picture_lies_behind_its_palette() {
        let mut palette = [[0; 3]; 256];
        palette[9] = [1, 2, 3];
        let mut gif = Gif::new(3, 2, &palette, 10);
        gif.add(&[9; 6]);
        let bytes = gif.finish();
        assert_eq!((&bytes[..10], &bytes[13 + 27..13 + 30]), (&b"GIF89a\x03\0\x02\0"[..], &[1, 2, 3][..]));
        assert_eq!(bytes.last(), Some(&0x3B));
    }
}
