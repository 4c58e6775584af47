//! Hashes and exact sums over a set's frames, on the CPU.

use std::ops::Range;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::super::{Acquisition, frames::Frame};
use crate::shape::Dtype;

/// What is counted while the frames come in order.
pub struct Numbers {
    dtype: Dtype,
    saturation: Option<u64>,
    /// Per pixel: not masked.
    unmasked: Vec<bool>,
    readable: Sha256,
    pub frames_readable: u64,
    pub unreadable: Vec<Range<u32>>,
    good: Sum,
    sentinel_sum: Sum,
    has_nan: bool,
    sentinel_samples: u64,
    /// Per pixel: sentinel in every frame that is not sentinel as a whole.
    always_sentinel: Vec<bool>,
    live_frames: u64,
    sentinel_frames: Vec<Range<u32>>,
    saturated_samples: u64,
    digest: Option<String>,
}

/// One pixel value: for integers its value, for floats the value where it is a number.
#[derive(Clone, Copy)]
enum Sample {
    Integer(i64),
    Real(f64),
}

impl Numbers {
    pub fn of(set: &Acquisition) -> Self {
        let bits = set.bad_pixels.bits(set.detector);
        let unmasked: Vec<bool> =
            (0..set.detector.pixels() as usize).map(|pixel| bits[pixel / 32] >> (pixel % 32) & 1 == 0).collect();
        Self {
            dtype: set.dtype,
            saturation: set.saturation,
            always_sentinel: unmasked.clone(),
            unmasked,
            readable: Sha256::new(),
            frames_readable: 0,
            unreadable: Vec::new(),
            good: Sum::default(),
            sentinel_sum: Sum::default(),
            has_nan: false,
            sentinel_samples: 0,
            live_frames: 0,
            sentinel_frames: Vec::new(),
            saturated_samples: 0,
            digest: None,
        }
    }

    /// Frames that were never written.
    pub fn add_gap(&mut self, frames: Range<u32>) {
        self.unreadable.push(frames);
    }

    pub fn add(&mut self, frame: u32, outcome: Frame<'_>) {
        let Frame::Pixels(pixels) = outcome else { return extend(&mut self.unreadable, frame) };
        self.readable.update(pixels);
        self.frames_readable += 1;
        let samples = pixels.chunks_exact(self.dtype.bytes() as usize);
        let mut is_live = false;
        let mut sentinels = Vec::new();
        for (pixel, bytes) in samples.enumerate().filter(|(pixel, _)| self.unmasked[*pixel]) {
            let sample = sample(self.dtype, bytes);
            if is_sentinel(self.dtype, sample) {
                sentinels.push(pixel);
                self.sentinel_samples += 1;
                self.has_nan |= matches!(sample, Sample::Real(_));
                self.sentinel_sum.add(sample);
            } else {
                is_live = true;
                self.good.add(sample);
                self.saturated_samples += u64::from(self.saturation.is_some_and(|limit| is_at_least(sample, limit)));
            }
        }
        // Without any unmasked pixel all of them, none, are sentinel.
        if !is_live {
            return extend(&mut self.sentinel_frames, frame);
        }
        self.live_frames += 1;
        let mut sentinels = sentinels.into_iter().peekable();
        for (pixel, always) in self.always_sentinel.iter_mut().enumerate() {
            let is_sentinel = sentinels.next_if_eq(&pixel).is_some();
            *always &= is_sentinel;
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
        let pixels = self.always_sentinel.iter().filter(|always| **always).count();
        let told = json!({
            "sha256": whole,
            "sha256_readable": readable,
            "sentinel_samples": self.sentinel_samples,
            "sentinel_pixels": if self.live_frames > 0 { pixels } else { 0 },
            "sentinel_frames": super::runs(&self.sentinel_frames),
            "saturated_samples": self.saturation.map(|_| self.saturated_samples),
            "sum_good": self.good.value(),
            "sum_unmasked": (!self.has_nan).then(|| self.good.and(&self.sentinel_sum).value()),
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

fn sample(dtype: Dtype, bytes: &[u8]) -> Sample {
    let bits = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    match dtype {
        Dtype::U8 | Dtype::U16 | Dtype::U32 => Sample::Integer(bits as i64),
        Dtype::I8 => Sample::Integer((bits as i8).into()),
        Dtype::I16 => Sample::Integer((bits as i16).into()),
        Dtype::I32 => Sample::Integer((bits as i32).into()),
        Dtype::F32 => Sample::Real(f32::from_bits(bits as u32).into()),
        Dtype::F64 => Sample::Real(f64::from_bits(bits)),
    }
}

/// Unsigned: the largest value; signed: below 0; floats: not a number.
fn is_sentinel(dtype: Dtype, sample: Sample) -> bool {
    match sample {
        Sample::Integer(value) if dtype.is_signed() => value < 0,
        Sample::Integer(value) => value == (1 << dtype.bits()) - 1,
        Sample::Real(value) => value.is_nan(),
    }
}

fn is_at_least(sample: Sample, limit: u64) -> bool {
    match sample {
        Sample::Integer(value) => u64::try_from(value).is_ok_and(|value| value >= limit),
        Sample::Real(value) => value >= limit as f64,
    }
}

/// A sum that is exact for integers and for floats that are whole numbers below 2^96.
#[derive(Clone, Copy, Default)]
struct Sum {
    whole: i128,
    rest: f64,
}

impl Sum {
    fn add(&mut self, sample: Sample) {
        match sample {
            Sample::Integer(value) => self.whole += i128::from(value),
            Sample::Real(value) if value.abs() < 2_f64.powi(96) => {
                self.whole += value.trunc() as i128;
                self.rest += value.fract();
            }
            Sample::Real(value) if value.is_finite() || value.is_infinite() => self.rest += value,
            Sample::Real(_) => {}
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self { whole: self.whole + other.whole, rest: self.rest + other.rest }
    }

    /// An integer where JSON can hold it, else a number near it.
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
        let is = |dtype: Dtype, bytes: &[u8]| is_sentinel(dtype, sample(dtype, bytes));
        assert!(is(Dtype::U8, &[255]) && !is(Dtype::U8, &[254]));
        assert!(is(Dtype::U32, &[255; 4]) && !is(Dtype::U32, &[255, 255, 0, 0]));
        assert!(is(Dtype::I16, &[255; 2]) && !is(Dtype::I16, &[255, 127]));
        assert!(is(Dtype::F32, &f32::NAN.to_le_bytes()) && !is(Dtype::F32, &f32::MAX.to_le_bytes()));
    }

    #[test]
    fn sums_of_whole_numbers_are_exact() {
        let mut sum = Sum::default();
        (0..3).for_each(|_| sum.add(Sample::Real(9_007_199_254_740_991.0)));
        sum.add(Sample::Integer(-1));
        assert_eq!(sum.value(), json!(27_021_597_764_222_972_u64));
    }
}
