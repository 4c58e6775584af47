//! Numpy's own file format, version 1.0
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>), and the same numbers without a header.

use super::Numbers;

/// Whole counts as int64, exactly; others, and counts with gaps, as float64 with NaN where there is no value.
pub fn npy(numbers: &Numbers<'_>) -> Vec<u8> {
    let (rows, cols) = (numbers.field.rows, numbers.field.cols);
    let kind = if numbers.is_whole() { "<i8" } else { "<f8" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    // Magic, version and length take 10 bytes; the data begin at a multiple of 64.
    let len = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', len - header.len() - 1));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((len as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(raw(numbers));
    bytes
}

/// The numbers alone, little-endian, row-major: as in [`npy`].
pub fn raw(numbers: &Numbers<'_>) -> Vec<u8> {
    match numbers.is_whole() {
        true => numbers.field.values.iter().flat_map(|value| (*value as i64).to_le_bytes()).collect(),
        false => numbers.values().flat_map(f64::to_le_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::{Cell, Field};

    #[test]
    fn counts_are_whole_and_a_gap_makes_them_floating() {
        let mut field = Field { rows: 1, cols: 2, values: vec![7.0, -2.0], counts: true, ..Field::default() };
        field.cells = vec![Cell::Value; 2];
        let bytes = npy(&Numbers { field: &field, title: "", cell: (1.0, "px") });
        assert_eq!((bytes.len(), &bytes[..8]), (128 + 16, &b"\x93NUMPY\x01\x00"[..]));
        assert_eq!(bytes[128..], [7i64.to_le_bytes(), (-2i64).to_le_bytes()].concat());
        field.cells[1] = Cell::Gap;
        let bytes = npy(&Numbers { field: &field, title: "", cell: (1.0, "px") });
        assert!(bytes[10..128].starts_with(b"{'descr': '<f8'"));
        assert_eq!(bytes[128..136], 7f64.to_le_bytes());
        assert!(f64::from_le_bytes(bytes[136..].try_into().expect("8 bytes")).is_nan());
    }
}
