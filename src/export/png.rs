//! PNG pictures (<https://www.w3.org/TR/png-3/>): 8-bit RGBA, compressed, not interlaced.

use std::io::Write;

use flate2::{Compression, Crc, write::ZlibEncoder};

/// `rows` x `cols` pixels of four bytes, row-major.
pub fn png(rows: u32, cols: u32, rgba: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [cols.to_be_bytes(), rows.to_be_bytes()].concat();
    // Bits of a sample, colour with alpha, and the only methods there are.
    chunk(&mut bytes, b"IHDR", &[&size[..], &[8, 6, 0, 0, 0]].concat());
    let mut scanlines = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in rgba.chunks_exact((4 * cols as usize).max(1)).take(rows as usize) {
        // Writing into memory cannot fail; the first byte of a row says that it is not filtered.
        let _ = scanlines.write_all(&[0]).and_then(|()| scanlines.write_all(row));
    }
    chunk(&mut bytes, b"IDAT", &scanlines.finish().unwrap_or_default());
    chunk(&mut bytes, b"IEND", &[]);
    bytes
}

fn chunk(bytes: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(kind);
    bytes.extend(data);
    bytes.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_picture_of_two_rows_is_what_the_specification_says() {
        let rgba: Vec<u8> = (0..24).collect();
        let bytes = png(2, 3, &rgba);
        assert_eq!(bytes[..33], *b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x06\0\0\0\x9d\x74\x66\x1a");
        let len = u32::from_be_bytes(bytes[33..37].try_into().expect("4 bytes")) as usize;
        let mut scanlines = Vec::new();
        flate2::read::ZlibDecoder::new(&bytes[41..41 + len]).read_to_end(&mut scanlines).expect("a zlib stream");
        assert_eq!(scanlines, [&[0], &rgba[..12], &[0], &rgba[12..]].concat());
        assert!(bytes.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    }
}
