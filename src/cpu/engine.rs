//! The engine of a machine without WebGPU: the same questions and answers as `gpu::Engine`, from planes in
//! main memory. It works in slices of some milliseconds and lets the page breathe between them.

use std::{cell::RefCell, future::Future, pin::Pin, rc::Rc};

use super::{
    census, hash_frames, max_pattern, moments, pattern, pixels_to_planes,
    planes::{Batch, FramePlanes, mask_pixels, mask_words},
    square_pattern, squares, sum_pattern, virtual_image,
};
use crate::{
    engine::{
        Census, FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet,
        Product, ScanSquares, ScanSums,
        frames::{FrameTable, check_layout},
    },
    error::Result,
    shape::FrameLayout,
};

/// Gives the thread back to the page; called between slices.
pub type Breathe = Box<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>;

/// Work of one slice, in words of planes looked at: a few milliseconds in a page.
const SLICE_WORDS: u32 = 1 << 20;

pub struct Engine {
    layout: FrameLayout,
    frames: RefCell<FrameTable>,
    batches: RefCell<Vec<Rc<Batch>>>,
    breathe: Breathe,
}

impl Engine {
    /// An engine for `frames` frames, none of them read.
    ///
    /// # Errors
    /// `Unsupported` for an element type or detector without bit planes, see [`check_layout`].
    pub fn new(layout: FrameLayout, frames: u32, breathe: Breathe) -> Result<Self> {
        check_layout(&layout)?;
        let frames = RefCell::new(FrameTable::new(frames));
        Ok(Self { layout, frames, batches: RefCell::default(), breathe })
    }

    pub fn layout(&self) -> FrameLayout {
        self.layout
    }

    /// Keeps a batch.
    ///
    /// # Errors
    /// As [`FrameTable::add`].
    pub fn add(&self, batch: Batch) -> Result<()> {
        self.frames.borrow_mut().add(&batch.frames, &batch.status)?;
        self.batches.borrow_mut().push(Rc::new(batch));
        Ok(())
    }

    /// Packs and keeps frames of little-endian pixels, one after another in `bytes`; status as in [`Batch`].
    ///
    /// # Errors
    /// As [`FrameTable::add`].
    pub async fn add_pixels(&self, frames: &[u32], status: &[u32], bytes: &[u8]) -> Result<()> {
        let frame_bytes = (self.layout.detector.pixels() * self.layout.dtype.bytes()) as usize;
        let mut batch = Batch::default();
        let mut work = 0;
        for ((&frame, &status), bytes) in frames.iter().zip(status).zip(bytes.chunks_exact(frame_bytes)) {
            if status == 0 {
                batch.push(&self.layout, frame, &pixels_to_planes::planes(&self.layout, bytes));
            } else {
                batch.push_failed(&self.layout, frame, status);
            }
            self.pace(&mut work, frame_bytes as u32).await;
        }
        self.add(batch)
    }

    /// Sums over `pixels`, one per frame.
    pub async fn virtual_image(&self, pixels: &PixelSet) -> ScanSums {
        let mask = mask_words(&self.layout, pixels);
        let valid = self.frames.borrow().valid();
        let mut sum = vec![0; valid.len()];
        self.walk(&self.select(&Frames::All), 0, |frame, planes| {
            sum[frame as usize] = virtual_image::sum(&planes, &mask);
        })
        .await;
        ScanSums { sum, valid }
    }

    /// First moments over `pixels`, one set per frame.
    pub async fn moments(&self, pixels: &PixelSet) -> Moments {
        let mask = mask_words(&self.layout, pixels);
        let valid = self.frames.borrow().valid();
        let zero = || vec![0; valid.len()];
        let mut moments = Moments { sum: zero(), sum_row: zero(), sum_col: zero(), valid };
        self.walk(&self.select(&Frames::All), pixels.detector.pixels() / 4, |frame, planes| {
            let sums = moments::sums(&planes, &mask);
            let at = frame as usize;
            [moments.sum[at], moments.sum_row[at], moments.sum_col[at]] = sums;
        })
        .await;
        moments
    }

    /// Sums and sums of squares over `pixels`, one each per frame.
    pub async fn squares(&self, pixels: &PixelSet) -> ScanSquares {
        let valid = self.frames.borrow().valid();
        let mut found = ScanSquares { sum: vec![0; valid.len()], square: vec![0; valid.len()], valid };
        self.walk(&self.select(&Frames::All), 2 * pixels.detector.pixels(), |frame, planes| {
            let at = frame as usize;
            (found.sum[at], found.square[at]) = squares::sums(&planes, pixels);
        })
        .await;
        found
    }

    /// One pattern, as stored.
    pub async fn pattern(&self, frame: u32) -> Pattern {
        let (state, place) = (self.frames.borrow().state(frame), self.frames.borrow().place(frame));
        let batch = place.map(|place| (self.batches.borrow()[place.batch as usize].clone(), place.slot));
        let planes = batch.as_ref().and_then(|(batch, slot)| batch.planes(&self.layout, *slot));
        Pattern { pixels: planes.map(|planes| pattern::pixels(&planes)).unwrap_or_default(), state }
    }

    /// Sum and maximum of every pixel over the valid frames of `frames`.
    pub async fn sum_pattern(&self, frames: &Frames) -> PatternSum {
        let pixels = self.layout.detector.pixels();
        let mut total = PatternSum { sum: vec![0; pixels as usize], frames: 0 };
        self.walk(&self.select(frames), pixels, |_, planes| {
            sum_pattern::add(&mut total.sum, &planes);
            total.frames += 1;
        })
        .await;
        total
    }

    /// Maximum of every pixel over the valid frames of `frames`.
    pub async fn max_pattern(&self, frames: &Frames) -> PatternMax {
        let pixels = self.layout.detector.pixels();
        let mut most = PatternMax { max: vec![max_pattern::least(self.layout.dtype); pixels as usize], frames: 0 };
        self.walk(&self.select(frames), pixels, |_, planes| {
            max_pattern::raise(&mut most.max, &planes);
            most.frames += 1;
        })
        .await;
        most
    }

    /// Sum and sum of squares of every pixel over the valid frames of `frames`.
    pub async fn square_pattern(&self, frames: &Frames) -> PatternSquares {
        let total = self.sum_pattern(frames).await;
        let mut square = vec![0; total.sum.len()];
        self.walk(&self.select(frames), self.layout.detector.pixels(), |_, planes| {
            square_pattern::add(&mut square, &planes);
        })
        .await;
        PatternSquares { total, square }
    }

    /// Sentinels of all decoded frames; `good` are the pixels outside the mask.
    pub async fn census(&self, good: &PixelSet) -> Census {
        let good = mask_words(&self.layout, good);
        let mut tally = census::Tally::new(&good);
        let all: Vec<u32> = (0..self.frames.borrow().len()).collect();
        let decoded = self.frames.borrow().decoded(&all);
        self.walk(&decoded, self.layout.detector.pixels() / 2, |frame, planes| {
            census::add(&mut tally, frame, &planes, &good)
        })
        .await;
        tally.census(|words| mask_pixels(&self.layout, words).words)
    }

    /// `weighted64` of each frame of `frames`; `None` without data.
    pub async fn hash_frames(&self, frames: &[u32]) -> Vec<Option<u64>> {
        let decoded = self.frames.borrow().decoded(frames);
        let mut hashes = vec![None; self.frames.borrow().len() as usize];
        self.walk(&decoded, 2 * self.layout.detector.pixels(), |frame, planes| {
            hashes[frame as usize] = Some(hash_frames::weighted64(&planes))
        })
        .await;
        frames.iter().map(|&frame| hashes.get(frame as usize).copied().flatten()).collect()
    }

    pub fn frame_states(&self) -> Vec<FrameState> {
        self.frames.borrow().states().to_vec()
    }

    pub fn faults(&self) -> Vec<FrameFault> {
        self.frames.borrow().faults().to_vec()
    }

    /// See [`FrameTable::fail`].
    pub fn fail(&self, faults: &[FrameFault]) {
        self.frames.borrow_mut().fail(faults);
    }

    /// See [`FrameTable::exclude`].
    pub fn exclude(&self, frames: &[u32]) {
        self.frames.borrow_mut().exclude(frames);
    }

    /// See [`FrameTable::set_missing`].
    pub fn set_missing(&self, frames: &[u32]) {
        self.frames.borrow_mut().set_missing(frames);
    }

    /// Bytes of the resident frames.
    pub fn len_bytes(&self) -> u64 {
        self.batches.borrow().iter().map(|batch| batch.len_bytes()).sum()
    }

    /// There is no GPU.
    pub fn last_gpu_ms(&self, _: Product) -> Option<f64> {
        None
    }

    fn select(&self, frames: &Frames) -> Vec<u32> {
        self.frames.borrow().select(frames)
    }

    /// Visits the frames of the bit set `wanted` that are here now, in the order they came. A visit costs
    /// `frame_work` besides the words of the frame's records.
    async fn walk(&self, wanted: &[u32], frame_work: u32, mut visit: impl FnMut(u32, FramePlanes<'_>)) {
        let batches = self.batches.borrow().clone();
        let mut work = 0;
        for batch in &batches {
            for (slot, &frame) in (0..).zip(&batch.frames) {
                let is_wanted = wanted[frame as usize / 32] >> (frame % 32) & 1 == 1;
                let planes = if is_wanted { batch.planes(&self.layout, slot) } else { None };
                if let Some(planes) = planes {
                    visit(frame, planes);
                    self.pace(&mut work, planes.len_words().saturating_add(frame_work)).await;
                }
            }
        }
    }

    async fn pace(&self, work: &mut u32, more: u32) {
        *work = work.saturating_add(more);
        if *work >= SLICE_WORDS {
            *work = 0;
            (self.breathe)().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::shape::{Detector, Dtype};

    /// An engine that counts its breaths, with `frames` frames of one value each.
    fn engine(frames: u32) -> (Engine, Rc<Cell<u32>>) {
        let layout = FrameLayout { detector: Detector { rows: 64, cols: 64 }, dtype: Dtype::U8, block_px: 4096 };
        let breaths = Rc::new(Cell::new(0));
        let counted = breaths.clone();
        let breathe: Breathe = Box::new(move || {
            counted.set(counted.get() + 1);
            Box::pin(async {})
        });
        let engine = Engine::new(layout, frames, breathe).expect("a layout with planes");
        let bytes: Vec<u8> = (0..frames).flat_map(|frame| [frame as u8; 4096]).collect();
        let all: Vec<u32> = (0..frames).collect();
        pollster::block_on(engine.add_pixels(&all, &vec![0; all.len()], &bytes)).expect("new frames");
        (engine, breaths)
    }

    #[test]
    fn a_long_answer_comes_in_slices() {
        let (engine, breaths) = engine(1200);
        let before = breaths.replace(0);
        let total = pollster::block_on(engine.sum_pattern(&Frames::All));
        assert_eq!((total.frames, total.sum[77]), (1200, (0..1200).map(|f| f % 256).sum()));
        // Records have some 500 words.
        assert_eq!((before, breaths.get()), (4, 1200 * (4096 + 500) / SLICE_WORDS));
    }

    #[test]
    fn a_short_answer_comes_at_once() {
        let (engine, breaths) = engine(3);
        let sums = pollster::block_on(engine.virtual_image(&PixelSet::of(engine.layout().detector, |row, _| row < 2)));
        assert_eq!(sums, ScanSums { sum: vec![0, 128, 256], valid: vec![1; 3] });
        assert_eq!(breaths.get(), 0);
    }
}
