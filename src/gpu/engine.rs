//! The engine: resident frames on the GPU and the passes that answer questions about them.
//!
//! Every method takes `&self`, and many requests may be under way: each works on the frames that were there
//! when it was asked.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use super::{
    census::SentinelCensus,
    context::Context,
    decode::Decoded,
    desk::Desks,
    hash_frames::HashFrames,
    max_pattern::MaxPattern,
    memory::Buffer,
    moments::FirstMoments,
    packer::Packer,
    pattern::SinglePattern,
    planes::{Batch, FrameShape, Request, detector_words, pixel_places},
    resident::Resident,
    square_pattern::SquarePattern,
    squares::{self, Squares},
    sum_pattern::SumPattern,
    virtual_image::VirtualImage,
};
use crate::{
    cpu::{
        census::Tally,
        planes::{mask_pixels, mask_words},
    },
    engine::{
        Census, FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet,
        Product, ScanSquares, ScanSums,
        frames::{FrameTable, check_layout},
    },
    error::Result,
    shape::FrameLayout,
};

pub struct Engine {
    context: Rc<Context>,
    layout: FrameLayout,
    shape: Buffer,
    passes: Passes,
    desks: Desks,
    frames: RefCell<FrameTable>,
    resident: Resident,
    census: RefCell<CensusSoFar>,
    times_ms: RefCell<BTreeMap<Product, f64>>,
    packer: Packer,
}

struct Passes {
    virtual_image: VirtualImage,
    moments: FirstMoments,
    pattern: SinglePattern,
    sum_pattern: SumPattern,
    max_pattern: MaxPattern,
    squares: Squares,
    square_pattern: SquarePattern,
    census: SentinelCensus,
    hash_frames: HashFrames,
}

/// The census of the first `batches` batches that were added, for one set of good pixels.
#[derive(Clone, Debug, Default)]
struct CensusSoFar {
    good: Vec<u32>,
    batches: usize,
    tally: Tally,
}

impl Engine {
    /// An engine for `frames` frames, none of them read.
    ///
    /// # Errors
    /// `Unsupported` for an element type or detector without bit planes, see [`check_layout`]; `Gpu` when a
    /// pipeline is refused.
    pub async fn new(context: Rc<Context>, layout: FrameLayout, frames: u32) -> Result<Self> {
        check_layout(&layout)?;
        let (shape, passes, resident) = context
            .guarded("engine.passes", || {
                let shape = context.uniform_of("planes.shape", &FrameShape::of(&layout))?;
                Ok((shape, Passes::new(&context), Resident::new(&context)))
            })
            .await?;
        Ok(Self {
            context,
            layout,
            shape,
            passes,
            desks: Desks::default(),
            frames: RefCell::new(FrameTable::new(frames)),
            resident,
            census: RefCell::default(),
            times_ms: RefCell::default(),
            packer: Packer::new(layout),
        })
    }

    pub fn context(&self) -> &Rc<Context> {
        &self.context
    }

    pub fn layout(&self) -> FrameLayout {
        self.layout
    }

    /// Keeps frames that were decoded; their numbers and status as in [`Batch`].
    ///
    /// # Errors
    /// As [`FrameTable::add`]; `Gpu` without memory.
    pub fn add(&self, decoded: &Decoded, frames: &[u32], status: &[u32]) -> Result<()> {
        self.frames.borrow_mut().add(frames, status)?;
        self.resident.add(decoded, frames, status)
    }

    /// Packs and keeps frames of little-endian pixels, one after another in `bytes`; status as in [`Batch`].
    ///
    /// # Errors
    /// As [`FrameTable::add`]; `Gpu` without memory.
    pub async fn add_pixels(&self, frames: &[u32], status: &[u32], bytes: &[u8]) -> Result<()> {
        let packed = self.packer.pack(&self.context, frames, status, bytes).await?;
        packed.iter().try_for_each(|(decoded, frames, status)| self.add(decoded, frames, status))
    }

    /// Sums over `pixels`, one per frame.
    ///
    /// # Errors
    /// `Gpu`, as every question to the GPU.
    pub async fn virtual_image(&self, pixels: &PixelSet) -> Result<ScanSums> {
        let valid = self.frames.borrow().valid();
        let input = detector_words(&self.layout, pixels);
        let words = self
            .ask(Product::VirtualImage, 2 * valid.len(), &input, None, |pass, request| {
                self.passes.virtual_image.record(&self.context, pass, request);
            })
            .await?;
        Ok(ScanSums { sum: sums(&words, &valid, 1, 0), valid })
    }

    /// First moments over `pixels`, one set per frame.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn moments(&self, pixels: &PixelSet) -> Result<Moments> {
        let valid = self.frames.borrow().valid();
        let input = detector_words(&self.layout, pixels);
        let words = self
            .ask(Product::Moments, 6 * valid.len(), &input, None, |pass, request| {
                self.passes.moments.record(&self.context, pass, request);
            })
            .await?;
        let [sum, sum_row, sum_col] = [0, 1, 2].map(|part| sums(&words, &valid, 3, part));
        Ok(Moments { sum, sum_row, sum_col, valid })
    }

    /// Sums and sums of squares over `pixels`, one each per frame.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn squares(&self, pixels: &PixelSet) -> Result<ScanSquares> {
        let valid = self.frames.borrow().valid();
        let input = detector_words(&self.layout, pixels);
        let words = self
            .ask(Product::Squares, squares::WORDS * valid.len(), &input, None, |pass, request| {
                self.passes.squares.record(&self.context, pass, request);
            })
            .await?;
        let (frames, _) = words.as_chunks::<{ squares::WORDS }>();
        let of = |(&[low, high, squares @ ..], &valid): (&[u32; squares::WORDS], &u8)| match valid {
            0 => (0, 0),
            _ => (wide(low, high), widest(squares)),
        };
        let (sum, square) = frames.iter().zip(&valid).map(of).unzip();
        Ok(ScanSquares { sum, square, valid })
    }

    /// One pattern, as stored.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn pattern(&self, frame: u32) -> Result<Pattern> {
        let (state, place) = (self.frames.borrow().state(frame), self.frames.borrow().place(frame));
        let Some((batch, slot)) = place.and_then(|place| self.resident.find(place)) else {
            return Ok(Pattern { pixels: Vec::new(), state });
        };
        let pixels = self.layout.detector.pixels();
        let answer = self
            .desks
            .ask(&self.context, "pattern", &[slot], pixels.into(), |pass, place| {
                let request = Request { shape: &self.shape, batch: &batch, place };
                self.passes.pattern.record(&self.context, pass, request, pixels);
            })
            .await?;
        self.note_time(Product::Pattern, answer.gpu_ms);
        Ok(Pattern { pixels: answer.words, state })
    }

    /// Sum of every pixel over the valid frames of `frames`.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn sum_pattern(&self, frames: &Frames) -> Result<PatternSum> {
        let chosen = self.frames.borrow().select(frames);
        let (_, places) = pixel_places(&self.layout);
        let words = self
            .ask(Product::SumPattern, 2 * places, &chosen, Some(&chosen), |pass, request| {
                self.passes.sum_pattern.record(&self.context, pass, request, &self.layout);
            })
            .await?;
        Ok(self.total(&words, &chosen))
    }

    /// Maximum of every pixel over the valid frames of `frames`.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn max_pattern(&self, frames: &Frames) -> Result<PatternMax> {
        let chosen = self.frames.borrow().select(frames);
        let (pixels, places) = pixel_places(&self.layout);
        let words = self
            .ask(Product::MaxPattern, places, &chosen, Some(&chosen), |pass, request| {
                self.passes.max_pattern.record(&self.context, pass, request, &self.layout);
            })
            .await?;
        // Signed values were counted from the least one.
        let least = if self.layout.dtype.is_signed() { 1 << (self.layout.dtype.bits() - 1) } else { 0 };
        let max = pixels.map(|at| words[at].wrapping_sub(least)).collect();
        Ok(PatternMax { max, frames: chosen.iter().map(|word| word.count_ones()).sum() })
    }

    /// Sum and sum of squares of every pixel over the valid frames of `frames`.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn square_pattern(&self, frames: &Frames) -> Result<PatternSquares> {
        let chosen = self.frames.borrow().select(frames);
        let (pixels, places) = pixel_places(&self.layout);
        let words = self
            .ask(Product::SquarePattern, 5 * places, &chosen, Some(&chosen), |pass, request| {
                self.passes.sum_pattern.record(&self.context, pass, request, &self.layout);
                self.passes.square_pattern.record(&self.context, pass, request, &self.layout);
            })
            .await?;
        let square = pixels.map(|at| widest([2, 3, 4].map(|part| words[part * places + at]))).collect();
        Ok(PatternSquares { total: self.total(&words, &chosen), square })
    }

    /// The sums at the beginning of an answer.
    fn total(&self, words: &[u32], chosen: &[u32]) -> PatternSum {
        let (pixels, places) = pixel_places(&self.layout);
        let sum = pixels.map(|at| wide(words[at], words[places + at])).collect();
        PatternSum { sum, frames: chosen.iter().map(|word| word.count_ones()).sum() }
    }

    /// Sentinels of all decoded frames; `good` are the pixels outside the mask. With the same `good` as before
    /// only batches that came since are looked at.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn census(&self, good: &PixelSet) -> Result<Census> {
        let mask = mask_words(&self.layout, good);
        let mut so_far = self.census.borrow().clone();
        if so_far.good != mask {
            so_far = CensusSoFar { tally: Tally::new(&mask), good: mask, batches: 0 };
        }
        let batches = self.resident.since(so_far.batches).unwrap_or_else(|| {
            so_far =
                CensusSoFar { tally: Tally::new(&so_far.good), batches: 0, good: std::mem::take(&mut so_far.good) };
            self.resident.all()
        });
        if !batches.is_empty() {
            self.count_sentinels(&mut so_far, &batches).await?;
            let mut kept = self.census.borrow_mut();
            if kept.good != so_far.good || kept.batches < so_far.batches {
                kept.clone_from(&so_far);
            }
        }
        Ok(so_far.tally.census(|words| mask_pixels(&self.layout, words).words))
    }

    async fn count_sentinels(&self, so_far: &mut CensusSoFar, batches: &[Rc<Batch>]) -> Result<()> {
        let good: u32 = so_far.good.iter().map(|word| word.count_ones()).sum();
        let frames = self.frames.borrow().len() as usize;
        let answer = self
            .desks
            .ask(&self.context, "census", &so_far.good, (so_far.good.len() + frames) as u64, |pass, place| {
                for batch in batches {
                    let request = Request { shape: &self.shape, batch, place };
                    self.passes.census.record(&self.context, pass, request);
                }
            })
            .await?;
        self.note_time(Product::Census, answer.gpu_ms);
        let (counted, samples) = answer.words.split_at(so_far.good.len());
        so_far.tally.always.iter_mut().zip(counted).for_each(|(always, counted)| *always &= !counted);
        for (&frame, &status) in batches.iter().flat_map(|batch| batch.frames.iter().zip(&batch.status)) {
            if status == 0 {
                so_far.tally.count(frame, samples[frame as usize], good);
            }
        }
        so_far.batches += batches.iter().map(|batch| batch.firsts.len()).sum::<usize>();
        Ok(())
    }

    /// `weighted64` (see [`crate::cpu::hash_frames`]) of each frame of `frames`; `None` without data.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn hash_frames(&self, frames: &[u32]) -> Result<Vec<Option<u64>>> {
        let (chosen, len) = (self.frames.borrow().decoded(frames), self.frames.borrow().len() as usize);
        let words = self
            .ask(Product::HashFrames, 2 * len, &chosen, Some(&chosen), |pass, request| {
                self.passes.hash_frames.record(&self.context, pass, request);
            })
            .await?;
        let hash = |&frame: &u32| {
            let at = frame as usize;
            let has_data = chosen.get(at / 32).is_some_and(|word| word >> (at % 32) & 1 == 1);
            has_data.then(|| wide(words[2 * at], words[2 * at + 1]))
        };
        Ok(frames.iter().map(hash).collect())
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
        self.resident.all().iter().map(|batch| batch.len_bytes()).sum()
    }

    /// GPU time of the last answer of this kind, ms; `None` without timestamps or without an answer.
    pub fn last_gpu_ms(&self, product: Product) -> Option<f64> {
        self.times_ms.borrow().get(&product).copied()
    }

    /// Runs `record` for every batch (those that hold one of the `chosen` frames) on one output.
    async fn ask(
        &self,
        product: Product,
        words: usize,
        input: &[u32],
        chosen: Option<&[u32]>,
        record: impl Fn(&mut wgpu::ComputePass<'_>, Request<'_>),
    ) -> Result<Vec<u32>> {
        self.merge().await;
        let batches = self.resident.all();
        let answer = self
            .desks
            .ask(&self.context, product.name(), input, words as u64, |pass, place| {
                for batch in batches.iter().filter(|batch| chosen.is_none_or(|chosen| batch.holds_any(chosen))) {
                    record(pass, Request { shape: &self.shape, batch, place });
                }
            })
            .await?;
        self.note_time(product, answer.gpu_ms);
        Ok(answer.words)
    }

    /// Merges batches where that is due.
    async fn merge(&self) {
        let is_complete = !self.frames.borrow().states().contains(&FrameState::Unread);
        if self.resident.merge(&self.context, is_complete).await {
            self.desks.forget();
        }
    }

    fn note_time(&self, product: Product, gpu_ms: Option<f64>) {
        if let Some(gpu_ms) = gpu_ms {
            self.times_ms.borrow_mut().insert(product, gpu_ms);
        }
    }
}

impl Passes {
    fn new(context: &Context) -> Self {
        Self {
            virtual_image: VirtualImage::new(context),
            moments: FirstMoments::new(context),
            pattern: SinglePattern::new(context),
            sum_pattern: SumPattern::new(context),
            max_pattern: MaxPattern::new(context),
            squares: Squares::new(context),
            square_pattern: SquarePattern::new(context),
            census: SentinelCensus::new(context),
            hash_frames: HashFrames::new(context),
        }
    }
}

/// Sum `part` of `parts` of every frame, 0 where the frame is not valid.
fn sums(words: &[u32], valid: &[u8], parts: usize, part: usize) -> Vec<u64> {
    let frames = words.chunks_exact(2 * parts).zip(valid);
    frames.map(|(sums, &valid)| u64::from(valid) * wide(sums[2 * part], sums[2 * part + 1])).collect()
}

fn widest([low, middle, high]: [u32; 3]) -> u128 {
    u128::from(wide(middle, high)) << 32 | u128::from(low)
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
