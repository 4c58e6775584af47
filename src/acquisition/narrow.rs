//! Pixels that are stored wider or narrower than they are shown: integers of 64 bits as 32, floats of 16 bits as 32.

use crate::{engine::ChunkFault, hdf5::half, shape::Dtype};

/// Little-endian elements of `stored_bytes` each as pixels of `dtype`. Exact, or refused; the largest unsigned number,
/// which marks pixels without a value, becomes the largest one of 32 bits.
///
/// # Errors
/// [`ChunkFault::ValueRange`] where a count does not fit.
pub fn narrowed(elements: Vec<u8>, stored_bytes: u32, dtype: Dtype) -> Result<Vec<u8>, ChunkFault> {
    let fits = |pixels: Option<Vec<u8>>| pixels.ok_or(ChunkFault::ValueRange);
    match (stored_bytes, dtype) {
        (8, Dtype::U32) => fits(each(&elements, |bytes| match u64::from_le_bytes(bytes) {
            u64::MAX => Some(u32::MAX),
            value => u32::try_from(value).ok(),
        })),
        (8, Dtype::I32) => {
            let value = |bytes| i32::try_from(i64::from_le_bytes(bytes)).ok();
            fits(each(&elements, |bytes| value(bytes).map(|value| value as u32)))
        }
        (2, Dtype::F32) => fits(each(&elements, |bytes| Some((half(u16::from_le_bytes(bytes)) as f32).to_bits()))),
        _ => Ok(elements),
    }
}

fn each<const N: usize>(elements: &[u8], pixel: impl Fn([u8; N]) -> Option<u32>) -> Option<Vec<u8>> {
    let mut pixels = Vec::with_capacity(elements.len() / N * 4);
    for element in elements.as_chunks::<N>().0 {
        pixels.extend(pixel(*element)?.to_le_bytes());
    }
    Some(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_64_bits_are_kept_or_refused() {
        let wide = |values: &[u64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let pixels = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let most = u64::from(u32::MAX);
        assert_eq!(narrowed(wide(&[0, 7, most]), 8, Dtype::U32), Ok(pixels(&[0, 7, u32::MAX])));
        assert_eq!(narrowed(wide(&[u64::MAX]), 8, Dtype::U32), Ok(pixels(&[u32::MAX])));
        assert_eq!(narrowed(wide(&[most + 1]), 8, Dtype::U32), Err(ChunkFault::ValueRange));
        assert_eq!(narrowed(wide(&[-5_i64 as u64, 9]), 8, Dtype::I32), Ok(pixels(&[-5_i32 as u32, 9])));
        assert_eq!(narrowed(wide(&[1 << 31]), 8, Dtype::I32), Err(ChunkFault::ValueRange));
    }
}
