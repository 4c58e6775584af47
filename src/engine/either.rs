//! The engine an app holds: on the GPU, or on the CPU of a machine without WebGPU.

#[cfg(feature = "gpu")]
use crate::gpu;
use crate::{
    cpu,
    engine::{
        Census, FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet,
        Product, ScanSquares, ScanSums,
    },
    error::Result,
    shape::FrameLayout,
};

/// Resident frames and what may be asked of them. Every method takes `&self`, and many questions may be under
/// way: each is answered for the frames that were there when it was asked.
#[cfg_attr(feature = "gpu", expect(clippy::large_enum_variant, reason = "an app holds one engine per open set"))]
pub enum Engine {
    #[cfg(feature = "gpu")]
    Gpu(gpu::Engine),
    Cpu(cpu::Engine),
}

/// Calls the method of the same name of whichever engine is there; `?` marks what only the GPU may refuse.
macro_rules! ask {
    ($self:ident.$method:ident($($argument:expr),*).await?) => {
        match $self {
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => engine.$method($($argument),*).await,
            Self::Cpu(engine) => Ok(engine.$method($($argument),*).await),
        }
    };
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self {
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => engine.$method($($argument),*),
            Self::Cpu(engine) => engine.$method($($argument),*),
        }
    };
}

impl Engine {
    pub fn layout(&self) -> FrameLayout {
        ask!(self.layout())
    }

    /// Packs and keeps frames of little-endian pixels, one after another in `bytes`; `status` is 0 or as
    /// [`FrameFault::status`].
    ///
    /// # Errors
    /// `Internal` for frames that are there already; `Gpu` without memory.
    pub async fn add_pixels(&self, frames: &[u32], status: &[u32], bytes: &[u8]) -> Result<()> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(engine) => engine.add_pixels(frames, status, bytes).await,
            Self::Cpu(engine) => engine.add_pixels(frames, status, bytes).await,
        }
    }

    /// Sums over `pixels`, one per frame.
    ///
    /// # Errors
    /// `Gpu` when memory is short, the device is lost or a result cannot be read; so for all that follow.
    pub async fn virtual_image(&self, pixels: &PixelSet) -> Result<ScanSums> {
        ask!(self.virtual_image(pixels).await?)
    }

    /// First moments over `pixels`, one set per frame.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn moments(&self, pixels: &PixelSet) -> Result<Moments> {
        ask!(self.moments(pixels).await?)
    }

    /// Sums and sums of squares over `pixels`, one each per frame.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn squares(&self, pixels: &PixelSet) -> Result<ScanSquares> {
        ask!(self.squares(pixels).await?)
    }

    /// One pattern, as stored.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn pattern(&self, frame: u32) -> Result<Pattern> {
        ask!(self.pattern(frame).await?)
    }

    /// Sum and maximum of every pixel over the valid frames of `frames`.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn sum_pattern(&self, frames: &Frames) -> Result<PatternSum> {
        ask!(self.sum_pattern(frames).await?)
    }

    /// Sum, maximum and sum of squares of every pixel over the valid frames of `frames`.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn max_pattern(&self, frames: &Frames) -> Result<PatternMax> {
        ask!(self.max_pattern(frames).await?)
    }

    /// See [`gpu::Engine::square_pattern`].
    ///
    /// # Errors
    /// As there.
    pub async fn square_pattern(&self, frames: &Frames) -> Result<PatternSquares> {
        ask!(self.square_pattern(frames).await?)
    }

    /// Sentinels of all decoded frames; `good` are the pixels outside the mask.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn census(&self, good: &PixelSet) -> Result<Census> {
        ask!(self.census(good).await?)
    }

    /// `weighted64` (see [`cpu::hash_frames`]) of each frame of `frames`; `None` without data.
    ///
    /// # Errors
    /// As [`Engine::virtual_image`].
    pub async fn hash_frames(&self, frames: &[u32]) -> Result<Vec<Option<u64>>> {
        ask!(self.hash_frames(frames).await?)
    }

    pub fn frame_states(&self) -> Vec<FrameState> {
        ask!(self.frame_states())
    }

    pub fn faults(&self) -> Vec<FrameFault> {
        ask!(self.faults())
    }

    /// Frames whose chunks never came to a decoder; they count as failed.
    pub fn fail(&self, faults: &[FrameFault]) {
        ask!(self.fail(faults));
    }

    /// Frames that turned out to hold sentinels only; they count as missing from now on.
    pub fn exclude(&self, frames: &[u32]) {
        ask!(self.exclude(frames));
    }

    /// Frames that are in no file.
    pub fn set_missing(&self, frames: &[u32]) {
        ask!(self.set_missing(frames));
    }

    /// Bytes of the resident frames.
    pub fn len_bytes(&self) -> u64 {
        ask!(self.len_bytes())
    }

    /// GPU time of the last answer of this kind, ms; `None` without timestamps, or without an answer.
    pub fn last_gpu_ms(&self, product: Product) -> Option<f64> {
        ask!(self.last_gpu_ms(product))
    }
}
