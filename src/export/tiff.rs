//! Uncompressed 32-bit TIFF, floating-point or whole (TIFF 6.0, <https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>)
//! with the scale as ImageJ and Fiji keep it: pixels per unit in X- and YResolution, the unit in ImageDescription
//! (<https://imagej.net/ij/source/ij/io/TiffDecoder.java>, `unit=`).

use super::Numbers;

/// 32-bit floats hold whole counts up to 16,777,216 exactly. No value is NaN.
pub fn tiff(numbers: &Numbers<'_>) -> Vec<u8> {
    let data = numbers.values().flat_map(|value| (value as f32).to_le_bytes()).collect();
    file(numbers, FLOAT, data)
}

/// Whole counts, exactly, as unsigned or signed 32-bit numbers; `None` where a cell has no value or one does not fit.
pub fn whole(numbers: &Numbers<'_>) -> Option<Vec<u8>> {
    let fits = |low: f64, high: f64| numbers.values().all(|value| (low..=high).contains(&value));
    let kind = match numbers.is_whole() {
        true if fits(0.0, u32::MAX.into()) => UNSIGNED,
        true if fits(i32::MIN.into(), i32::MAX.into()) => SIGNED,
        _ => return None,
    };
    let data = numbers.values().flat_map(|value| ((value as i64) as u32).to_le_bytes()).collect();
    Some(file(numbers, kind, data))
}

/// SampleFormat, TIFF 6.0 page 80.
const UNSIGNED: u32 = 1;
const SIGNED: u32 = 2;
const FLOAT: u32 = 3;

/// A file of these samples, 32 bits each, little-endian.
fn file(numbers: &Numbers<'_>, sample_format: u32, data: Vec<u8>) -> Vec<u8> {
    let (rows, cols) = (numbers.field.rows, numbers.field.cols);
    let (low, high) = numbers
        .values()
        .filter(|value| value.is_finite())
        .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    let (low, high) = if low > high { (0.0, 0.0) } else { (low, high) };
    let (side, unit) = numbers.cell;
    let title = numbers.title.replace('\n', " ");
    let mut description = format!("ImageJ=1.54f\nunit={unit}\nmin={low}\nmax={high}\nInfo={title}\n").into_bytes();
    description.push(0);
    if description.len() % 2 == 1 {
        description.push(0);
    }
    let [numerator, denominator] = rational(1.0 / side);
    // Header, description, two resolutions, the directory, the data.
    let description_at = 8u32;
    let resolution_at = description_at + description.len() as u32;
    let directory_at = resolution_at + 8;
    let entries = 14u32;
    let data_at = directory_at + 2 + 12 * entries + 4;
    let mut bytes = b"II*\0".to_vec();
    bytes.extend(directory_at.to_le_bytes());
    bytes.extend(&description);
    bytes.extend(numerator.to_le_bytes());
    bytes.extend(denominator.to_le_bytes());
    bytes.extend((entries as u16).to_le_bytes());
    let (short, long, ascii, ratio) = (3u16, 4u16, 2u16, 5u16);
    for (tag, kind, count, value) in [
        (254u16, long, 1u32, 0u32),
        (256, long, 1, cols),
        (257, long, 1, rows),
        (258, short, 1, 32),
        (259, short, 1, 1),
        (262, short, 1, 1),
        (270, ascii, description.len() as u32, description_at),
        (273, long, 1, data_at),
        (277, short, 1, 1),
        (278, long, 1, rows),
        (279, long, 1, data.len() as u32),
        (282, ratio, 1, resolution_at),
        (283, ratio, 1, resolution_at),
        (339, short, 1, sample_format),
    ] {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(data);
    bytes
}

/// A positive number as a fraction of 32-bit numbers, as fine as they allow.
fn rational(value: f64) -> [u32; 2] {
    let value = if value.is_finite() && value > 0.0 { value } else { 1.0 };
    let scale = (f64::from(u32::MAX) / value.max(1.0)).min(1e9).floor().max(1.0);
    [(value * scale).round().clamp(1.0, f64::from(u32::MAX)) as u32, scale as u32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::{Cell, Field};

    #[test]
    fn counts_are_whole_where_they_fit_and_all_are_there() {
        let of = |values: [f64; 2], cells: [Cell; 2]| {
            let field = Field {
                rows: 1,
                cols: 2,
                values: values.to_vec(),
                cells: cells.to_vec(),
                counts: true,
                ..Field::default()
            };
            whole(&Numbers { field: &field, title: "", cell: (1.0, "px") })
        };
        let all = [Cell::Value; 2];
        let tail = |file: Option<Vec<u8>>| file.map(|file| file[file.len() - 8..].to_vec());
        assert_eq!(tail(of([7.0, 4_294_967_295.0], all)), Some([7u32, u32::MAX].map(u32::to_le_bytes).concat()));
        assert_eq!(tail(of([7.0, -2.0], all)), Some([7i32, -2].map(i32::to_le_bytes).concat()));
        assert_eq!(
            [of([7.0, 4_294_967_296.0], all), of([-1.0, 3e9], all), of([1.0, 2.0], [Cell::Value, Cell::Gap])],
            [const { None }; 3]
        );
    }

    #[test]
    fn a_scale_survives_as_a_fraction() {
        for value in [1.0, 50.0, 1.0 / 0.139, 3e-7, 123_456.789] {
            let [numerator, denominator] = rational(value);
            let back = f64::from(numerator) / f64::from(denominator);
            assert!((back / value - 1.0).abs() < 2e-3, "{value} {back}");
        }
        assert_eq!(rational(50.0).map(f64::from), [4_294_967_250.0, 85_899_345.0]);
    }
}
