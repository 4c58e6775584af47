//! Sentinels: values that are no counts. Unsigned: the maximum of the element type; signed: below 0.

use super::planes::{FramePlanes, mask_stride};
use crate::engine::Census;

/// What the census has seen of the frames so far; `always` and `good` in the order of
/// [`super::planes::mask_words`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Good pixels that are sentinel in every frame.
    pub always: Vec<u32>,
    pub sentinel_frames: Vec<u32>,
    pub samples: u64,
    /// Frames that are not all sentinel.
    pub live_frames: u32,
}

impl Tally {
    /// `good`: the pixels outside the mask.
    pub fn new(good: &[u32]) -> Self {
        Self { always: good.to_vec(), ..Self::default() }
    }

    /// Takes in frame `frame`, which has `samples` sentinels in its `good` good pixels.
    pub fn count(&mut self, frame: u32, samples: u32, good: u32) {
        self.samples += u64::from(samples);
        if samples == good && good > 0 {
            self.sentinel_frames.push(frame);
        } else {
            self.live_frames += 1;
        }
    }

    /// The census; `pixels` brings words from plane order into that of [`crate::engine::PixelSet`].
    pub fn census(self, pixels: impl Fn(&[u32]) -> Vec<u32>) -> Census {
        let Self { mut always, mut sentinel_frames, samples, live_frames } = self;
        if live_frames == 0 {
            always.fill(0);
        }
        sentinel_frames.sort_unstable();
        Census { sentinel_pixels: pixels(&always), sentinel_frames, sentinel_samples: samples }
    }
}

/// Adds frame `index` to the tally.
pub fn add(tally: &mut Tally, index: u32, frame: &FramePlanes, good: &[u32]) {
    let found = sentinels(frame);
    let samples = found.iter().zip(good).map(|(found, good)| (found & good).count_ones()).sum();
    tally.count(index, samples, good.iter().map(|word| word.count_ones()).sum());
    // A frame whose good pixels are all sentinel changes nothing here.
    tally.always.iter_mut().zip(found).for_each(|(always, found)| *always &= found);
}

/// The sentinel pixels of one frame, in the order of [`super::planes::mask_words`].
fn sentinels(frame: &FramePlanes) -> Vec<u32> {
    let layout = frame.layout;
    let stride = mask_stride(layout);
    let top = layout.dtype.bits() - 1;
    let mut found = vec![0; (layout.blocks() * stride) as usize];
    for (block, record) in frame.blocks() {
        let found = &mut found[(block * stride) as usize..];
        record.plane(top).for_each(|(i, word)| found[i as usize] = word);
        if layout.dtype.is_signed() {
            continue;
        }
        let mut plane_word = vec![0; layout.plane_words(block) as usize];
        for plane in 0..top {
            plane_word.fill(0);
            record.plane(plane).for_each(|(i, word)| plane_word[i as usize] = word);
            found.iter_mut().zip(&plane_word).for_each(|(found, word)| *found &= word);
        }
    }
    found
}
