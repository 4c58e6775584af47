//! Hashes and exact sums over a set's frames, on the CPU.

use std::{borrow::Cow, ops::Range};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::{Acquisition, frames::Frame};
use crate::shape::Dtype;

/// What is counted while the frames come in order.
pub struct Numbers {
    dtype: Dtype,
    saturation: Option<u64>,
    pixels: usize,
    /// Masked pixels.
    masked: Vec<usize>,
    readable: Sha256,
    pub frames_readable: u64,
    pub unreadable: Vec<Range<u32>>,
    tally: Tally,
    /// Unmasked pixels that were sentinel in every frame so far that is not sentinel as a whole; `None` before
    /// the first such frame.
    always_sentinel: Option<Vec<usize>>,
    sentinel_frames: Vec<Range<u32>>,
    digest: Option<String>,
}

/// Sums and counts over samples. Sums are exact for integers, and for floats that are whole numbers below 2^96.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    good: Sum,
    sentinel: Sum,
    has_nan: bool,
    sentinel_samples: u64,
    saturated_samples: u64,
}

impl Numbers {
    pub fn of(set: &Acquisition) -> Self {
        let bits = set.bad_pixels.bits(set.detector);
        let pixels = set.detector.pixels() as usize;
        Self {
            dtype: set.dtype,
            saturation: set.saturation,
            pixels,
            masked: (0..pixels).filter(|pixel| bits[pixel / 32] >> (pixel % 32) & 1 == 1).collect(),
            readable: Sha256::new(),
            frames_readable: 0,
            unreadable: Vec::new(),
            tally: Tally::default(),
            always_sentinel: None,
            sentinel_frames: Vec::new(),
            digest: None,
        }
    }

    /// Frames that were never written.
    pub fn add_gap(&mut self, frames: Range<u32>) {
        self.unreadable.push(frames);
    }

    pub fn add(&mut self, frame: u32, outcome: Frame<'_>) {
        let Frame::Pixels(bytes) = outcome else { return extend(&mut self.unreadable, frame) };
        self.readable.update(bytes);
        self.frames_readable += 1;
        let element = self.dtype.bytes() as usize;
        // A masked pixel set to 0 counts nowhere.
        let mut unmasked = Cow::Borrowed(bytes);
        for pixel in &self.masked {
            unmasked.to_mut()[pixel * element..(pixel + 1) * element].fill(0);
        }
        let mut tally = count(self.dtype, &unmasked, self.saturation);
        tally.has_nan = self.dtype.is_float() && tally.sentinel_samples > 0;
        self.tally = self.tally.plus(&tally);
        if tally.sentinel_samples == (self.pixels - self.masked.len()) as u64 {
            return extend(&mut self.sentinel_frames, frame);
        }
        self.keep_sentinels(bytes, tally.sentinel_samples > 0);
    }

    fn keep_sentinels(&mut self, bytes: &[u8], has_sentinels: bool) {
        let element = self.dtype.bytes() as usize;
        let is_sentinel = |pixel: &usize| {
            count(self.dtype, &bytes[pixel * element..(pixel + 1) * element], None).sentinel_samples > 0
        };
        match &mut self.always_sentinel {
            Some(pixels) if has_sentinels => pixels.retain(is_sentinel),
            Some(pixels) => pixels.clear(),
            None if has_sentinels => {
                let unmasked = (0..self.pixels).filter(|pixel| self.masked.binary_search(pixel).is_err());
                self.always_sentinel = Some(unmasked.filter(is_sentinel).collect());
            }
            None => self.always_sentinel = Some(Vec::new()),
        }
    }

    /// To be called once all frames were added.
    pub fn finish(&mut self) {
        self.unreadable.sort_by_key(|run| run.start);
        let mut runs: Vec<Range<u32>> = Vec::new();
        for run in self.unreadable.drain(..) {
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
        self.unreadable = runs;
        self.digest = Some(hex(&self.readable.finalize_reset()));
    }

    /// Adds the keys of `--hash` to a report.
    pub fn tell(&self, json: &mut Map<String, Value>) {
        let readable = self.digest.clone().filter(|_| self.frames_readable > 0);
        let whole = readable.clone().filter(|_| self.unreadable.is_empty());
        let tally = &self.tally;
        let told = json!({
            "sha256": whole,
            "sha256_readable": readable,
            "sentinel_samples": tally.sentinel_samples,
            "sentinel_pixels": self.always_sentinel.as_ref().map_or(0, Vec::len),
            "sentinel_frames": super::runs(&self.sentinel_frames),
            "saturated_samples": self.saturation.map(|_| tally.saturated_samples),
            "sum_good": tally.good.value(),
            "sum_unmasked": (!tally.has_nan).then(|| tally.good.plus(&tally.sentinel).value()),
        });
        if let Value::Object(told) = told {
            json.extend(told);
        }
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn extend(runs: &mut Vec<Range<u32>>, frame: u32) {
    match runs.last_mut() {
        Some(last) if last.end == frame => last.end += 1,
        _ => runs.push(frame..frame + 1),
    }
}

/// Counts the samples in `bytes`. Sentinels are, unsigned: the largest value; signed: below 0; floats: not a number.
fn count(dtype: Dtype, bytes: &[u8], saturation: Option<u64>) -> Tally {
    let limit = saturation.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let highest = |value: i64| value == (1 << dtype.bits()) - 1;
    let negative = |value: i64| value < 0;
    match dtype {
        Dtype::U8 => integers(bytes, |[byte]| byte.into(), highest, limit),
        Dtype::U16 => integers(bytes, |bytes| u16::from_le_bytes(bytes).into(), highest, limit),
        Dtype::U32 => integers(bytes, |bytes| u32::from_le_bytes(bytes).into(), highest, limit),
        Dtype::I8 => integers(bytes, |bytes| i8::from_le_bytes(bytes).into(), negative, limit),
        Dtype::I16 => integers(bytes, |bytes| i16::from_le_bytes(bytes).into(), negative, limit),
        Dtype::I32 => integers(bytes, |bytes| i32::from_le_bytes(bytes).into(), negative, limit),
        Dtype::F32 => floats(bytes, |bytes| f32::from_le_bytes(bytes).into(), saturation),
        Dtype::F64 => floats(bytes, f64::from_le_bytes, saturation),
    }
}

/// A frame's sums fit into 64 bits: less than 2^27 pixels of 32 bits.
fn integers<const N: usize>(
    bytes: &[u8],
    value: impl Fn([u8; N]) -> i64,
    is_sentinel: impl Fn(i64) -> bool,
    limit: i64,
) -> Tally {
    let (mut good, mut sentinel, mut sentinels, mut saturated) = (0_i64, 0_i64, 0_u64, 0_u64);
    for element in bytes.as_chunks::<N>().0 {
        let value = value(*element);
        if is_sentinel(value) {
            sentinel += value;
            sentinels += 1;
        } else {
            good += value;
            saturated += u64::from(value >= limit);
        }
    }
    let sum = |whole: i64| Sum { whole: whole.into(), rest: 0.0 };
    Tally {
        good: sum(good),
        sentinel: sum(sentinel),
        has_nan: false,
        sentinel_samples: sentinels,
        saturated_samples: saturated,
    }
}

fn floats<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f64, saturation: Option<u64>) -> Tally {
    let mut tally = Tally::default();
    for element in bytes.as_chunks::<N>().0 {
        let value = value(*element);
        if value.is_nan() {
            tally.sentinel_samples += 1;
        } else {
            tally.good.add(value);
            tally.saturated_samples += u64::from(saturation.is_some_and(|limit| value >= limit as f64));
        }
    }
    tally
}

impl Tally {
    fn plus(&self, other: &Self) -> Self {
        Self {
            good: self.good.plus(&other.good),
            sentinel: self.sentinel.plus(&other.sentinel),
            has_nan: self.has_nan || other.has_nan,
            sentinel_samples: self.sentinel_samples + other.sentinel_samples,
            saturated_samples: self.saturated_samples + other.saturated_samples,
        }
    }
}

/// A sum in two parts: whole numbers, and what floats have beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    whole: i128,
    rest: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        if value.abs() < 2_f64.powi(96) {
            self.whole += value.trunc() as i128;
            self.rest += value.fract();
        } else {
            self.rest += value;
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { whole: self.whole + other.whole, rest: self.rest + other.rest }
    }

    /// An integer where JSON can hold it, else a number near it; null for what is no number.
    fn value(&self) -> Value {
        if !self.rest.is_finite() {
            return Value::Null;
        }
        let sum = self.whole + self.rest as i128;
        match (u64::try_from(sum), i64::try_from(sum)) {
            (Ok(sum), _) => sum.into(),
            (_, Ok(sum)) => sum.into(),
            _ => json!(sum as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_are_the_largest_value_below_zero_or_no_number() {
        let sentinels = |dtype: Dtype, bytes: &[u8]| count(dtype, bytes, None).sentinel_samples;
        assert_eq!(sentinels(Dtype::U8, &[255, 254]), 1);
        assert_eq!(sentinels(Dtype::U32, &[255, 255, 255, 255, 255, 255, 0, 0]), 1);
        assert_eq!(sentinels(Dtype::I16, &[255, 255, 255, 127]), 1);
        assert_eq!(sentinels(Dtype::F32, &[f32::NAN, f32::MAX].map(f32::to_le_bytes).concat()), 1);
    }

    #[test]
    fn sums_and_saturated_samples_leave_sentinels_out() {
        let tally = count(Dtype::U16, &[10, 0, 20, 0, 255, 255, 19, 0], Some(20));
        assert_eq!((tally.good.value(), tally.sentinel.value(), tally.saturated_samples), (json!(49), json!(65535), 1));
    }

    #[test]
    fn sums_of_whole_numbers_are_exact() {
        let mut sum = Sum::default();
        (0..3).for_each(|_| sum.add(9_007_199_254_740_991.0));
        assert_eq!(sum.value(), json!(27_021_597_764_222_973_u64));
    }
}
