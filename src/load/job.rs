//! What goes with one load from its beginning to its end.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use super::{BlockWatch, Event, LoadProfile, Path, Stage, now_ms};
use crate::{
    Error,
    acquisition::{Acquisition, Options, Storage},
    engine::{Engine, FrameState},
    gpu::Context,
};

/// What one load carries from step to step.
#[derive(Clone)]
pub struct Job {
    pub generation: u32,
    pub path: Path,
    /// What the user has chosen of the files.
    pub options: Options,
    /// The user has stopped it, or a newer one has begun.
    pub is_stopped: Rc<Cell<bool>>,
    pub sink: Rc<dyn Fn(Event)>,
    pub started_ms: f64,
    pub profile: Rc<RefCell<LoadProfile>>,
    pub blocked: Rc<BlockWatch>,
    /// GPU errors that were there before.
    pub errors_before: usize,
}

impl Job {
    pub fn elapsed_ms(&self) -> f64 {
        now_ms() - self.started_ms
    }

    pub fn stage(&self, name: &str, start_ms: f64, end_ms: f64) {
        self.profile.borrow_mut().stages.push(Stage { name: name.to_owned(), start_ms, end_ms });
    }

    pub fn describe(&self, set: &Acquisition) {
        let mut profile = self.profile.borrow_mut();
        // Those of an outlined set are counted as they come.
        (profile.compressed_gb, profile.chunks) = match &set.storage {
            Storage::BitshuffleLz4 { chunks, sections, .. } if sections.is_empty() => {
                (chunks.iter().map(|chunk| f64::from(chunk.len_bytes)).sum::<f64>() / 1e9, chunks.len() as u32)
            }
            _ => (0.0, 0),
        };
        profile.file_gb = set.files.iter().map(|file| file.len_bytes as f64).sum::<f64>() / 1e9;
        profile.source_dtype = set.dtype.name().to_owned();
        profile.dataset.clone_from(&set.dataset);
        profile.axes = set.stored.axes.order.code();
        profile.channel = set.channels.get(set.channel as usize).cloned();
        profile.frames = set.frames;
        profile.files = set.files.len() as u32;
        profile.files_missing = set.files_missing.len() as u32;
        profile.scan_rows = set.scan.shape.rows;
        profile.scan_cols = set.scan.shape.cols;
        profile.scan_shape_from = serde_json::to_value(set.scan.from)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default();
        profile.det_rows = set.detector.rows;
        profile.det_cols = set.detector.cols;
        profile.bad_pixels = set.bad_pixels.bits(set.detector).iter().map(|word| word.count_ones()).sum();
        profile.resident = if self.path == Path::Gpu { "planes" } else { "cpu planes" }.to_owned();
    }

    pub fn count_states(&self, engine: &Engine) {
        let mut profile = self.profile.borrow_mut();
        let states = engine.frame_states();
        let count = |wanted: &[FrameState]| states.iter().filter(|state| wanted.contains(state)).count();
        profile.frames_missing = count(&[FrameState::Missing, FrameState::Sentinel]) as u32;
        profile.frames_failed = count(&[FrameState::Failed]) as u32;
        let decoded = count(&[FrameState::Valid, FrameState::Sentinel]) as f64;
        let layout = engine.layout();
        let frame_bytes = f64::from(layout.detector.pixels() * layout.dtype.bytes());
        profile.decoded_gb = decoded * frame_bytes / 1e9;
        profile.resident_gb = engine.len_bytes() as f64 / 1e9;
    }

    pub fn finish(&self, context: Option<&Rc<Context>>, error: Option<Error>) {
        {
            let mut profile = self.profile.borrow_mut();
            profile.total_ms = self.elapsed_ms();
            profile.main_block_ms = self.blocked.longest_ms();
            if let Some(context) = context {
                profile.gpu_errors = context.errors().split_off(self.errors_before);
            }
            profile.cancelled = error.as_ref().is_some_and(|error| error.key == "cancelled");
            profile.error = error.as_ref().map(ToString::to_string);
        }
        let profile = Rc::new(self.profile.borrow().clone());
        (self.sink)(Event::Finished { profile, error });
    }
}
