//! Small made-up acquisitions whose every product is known from their pixels.

use planescope::{
    cpu::{pixels_to_planes, planes::Batch},
    engine::{ChunkFault, FrameFault, PixelSet},
    shape::{Detector, Dtype, FrameLayout},
};

pub struct Sample {
    pub layout: FrameLayout,
    /// Frame -> pixels; `None` for a frame that is in no batch, or whose chunk is broken.
    pub frames: Vec<Option<Vec<i64>>>,
    /// In the order in which they come; frames out of order, some slots failed.
    pub batches: Vec<Batch>,
    /// Frames that the census found to be sentinel.
    pub excluded: Vec<u32>,
}

/// Scan positions of a sample.
pub const FRAMES: u32 = 13;
/// Frame that holds nothing but sentinels.
pub const SENTINEL: u32 = 6;
/// Frame whose chunk is broken.
pub const BROKEN: u32 = 3;
/// Frame that never comes.
pub const ABSENT: u32 = 9;

/// Slots of the batches that a sample of 13 frames comes in.
const BATCHES: [&[u32]; 4] = [&[4, 1, 0, 2, BROKEN], &[SENTINEL], &[12, 7, 8, 5], &[10, 11]];

impl Sample {
    pub fn new(rows: u32, cols: u32, dtype: Dtype, block_px: u32) -> Self {
        let layout = FrameLayout { detector: Detector { rows, cols }, dtype, block_px };
        let mut frames: Vec<_> = (0..FRAMES).map(|frame| Some(pixels(&layout, frame))).collect();
        let batches = BATCHES.map(|slots| batch(&layout, slots, &frames)).to_vec();
        (frames[BROKEN as usize], frames[ABSENT as usize]) = (None, None);
        Self { layout, frames, batches, excluded: Vec::new() }
    }

    /// Frames that count.
    pub fn is_valid(&self, frame: u32) -> bool {
        self.frames[frame as usize].is_some() && !self.excluded.contains(&frame)
    }

    /// Every pixel but one column and one more: the pixels outside a mask.
    pub fn good(&self) -> PixelSet {
        let Detector { rows, cols } = self.layout.detector;
        let mask = move |row, col| cols > 1 && col == cols / 3 || rows > 5 && (row, col) == (5, 0);
        PixelSet::of(self.layout.detector, |row, col| !mask(row, col))
    }
}

/// Counts as on a detector: mostly none, some, few large; frame 8 saturated, one frame all sentinel, one
/// pixel stuck.
fn pixels(layout: &FrameLayout, frame: u32) -> Vec<i64> {
    let dtype = layout.dtype;
    let (least, most) = match dtype.is_signed() {
        true => (-1 << (dtype.bits() - 1), (1 << (dtype.bits() - 1)) - 1),
        false => (0, (1i64 << dtype.bits()) - 1),
    };
    let sentinel = if dtype.is_signed() { -1 } else { most };
    let mut state = u64::from(frame) << 32 | 0x9E37;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    let stuck = layout.detector.pixels() / 2;
    (0..layout.detector.pixels())
        .map(|pixel| match random() % 64 {
            _ if frame == SENTINEL || pixel == stuck => sentinel,
            _ if frame == 8 => most,
            0 if frame % 2 == 1 => least + random() % (most - least + 1),
            1..8 => random() % 5,
            8..16 if frame == 4 => least,
            16 if pixel % 5 == 0 => sentinel,
            _ => 0,
        })
        .collect()
}

/// One batch of frames of `frames`.
pub fn batch(layout: &FrameLayout, slots: &[u32], frames: &[Option<Vec<i64>>]) -> Batch {
    let mut batch = Batch::default();
    for &frame in slots {
        let fault = FrameFault { frame, fault: ChunkFault::OffsetZero, block: 2 };
        match &frames[frame as usize] {
            Some(pixels) if frame != BROKEN => {
                batch.push(layout, frame, &pixels_to_planes::planes(layout, &bytes(layout.dtype, pixels)));
            }
            _ => batch.push_failed(layout, frame, fault.status()),
        }
    }
    batch
}

/// Pixels as stored, little-endian.
pub fn bytes(dtype: Dtype, pixels: &[i64]) -> Vec<u8> {
    pixels.iter().flat_map(|value| value.to_le_bytes().into_iter().take(dtype.bytes() as usize)).collect()
}
