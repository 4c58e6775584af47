//! What every load needs and none has to wait for: compiled passes and mapped upload buffers. Made when the page
//! starts and kept from load to load.

use std::{cell::RefCell, rc::Rc};

use futures_util::lock::Mutex;

use super::Tuning;
use crate::{
    Result,
    gpu::{self, Context, Decoder, Method, Staging},
    shape::{Detector, Dtype, FrameLayout},
};

#[derive(Default)]
pub struct Prepared {
    decoder: Mutex<Option<Rc<Decoder>>>,
    staging: Mutex<Option<(Tuning, Rc<Staging>)>>,
    /// Keeps the passes of the products compiled: a browser shares equal pipelines while one of them lives.
    engine: RefCell<Option<gpu::Engine>>,
}

impl Prepared {
    /// Makes all of it. What fails here fails again, and is told, when a set is opened.
    pub async fn make(&self, context: &Rc<Context>, tuning: &Tuning, method: Method) {
        if let Ok(engine) = gpu::Engine::new(context.clone(), USUAL, 0).await {
            *self.engine.borrow_mut() = Some(engine);
        }
        let _ = self.decoder(context, USUAL, 1, method).await;
        let _ = self.staging(context, tuning).await;
    }

    /// Gives all of it back.
    pub async fn let_go(&self) {
        self.engine.take();
        *self.decoder.lock().await = None;
        *self.staging.lock().await = None;
    }

    /// A decoder for batches of up to `batch_frames` frames, by `method` if that decodes the layout.
    ///
    /// # Errors
    /// As [`Decoder::new`].
    pub async fn decoder(
        &self,
        context: &Context,
        layout: FrameLayout,
        batch_frames: u32,
        method: Method,
    ) -> Result<Decoder> {
        let mut kept = self.decoder.lock().await;
        let decoder = match &*kept {
            Some(decoder) => decoder.clone(),
            None => Rc::new(Decoder::new(context, USUAL, 1, method).await?),
        };
        *kept = Some(decoder.clone());
        drop(kept);
        decoder.sibling(context, layout, batch_frames, method).await
    }

    /// The upload buffers; made anew when a knob of theirs was turned, or when they were lost.
    ///
    /// # Errors
    /// As [`Staging::new`].
    pub async fn staging(&self, context: &Context, tuning: &Tuning) -> Result<Rc<Staging>> {
        let mut kept = self.staging.lock().await;
        let knobs = |tuning: &Tuning| (tuning.upload_mode, tuning.ring_buffers, tuning.piece_bytes());
        if let Some((made_for, staging)) = &*kept
            && knobs(made_for) == knobs(tuning)
            && !staging.is_lost()
        {
            return Ok(staging.clone());
        }
        // The old ones go first: both together may be too much.
        *kept = None;
        let (mode, count, bytes) = knobs(tuning);
        let staging = Rc::new(Staging::new(context, mode, count, bytes.into()).await?);
        *kept = Some((tuning.clone(), staging.clone()));
        Ok(staging)
    }
}

/// An ARINA frame; the passes of all layouts are the same.
pub const USUAL: FrameLayout =
    FrameLayout { detector: Detector { rows: 192, cols: 192 }, dtype: Dtype::U16, block_px: 4096 };
