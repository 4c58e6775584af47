//! One request's place on the GPU: a zeroed output, the buffer it is read back through, and a stopwatch.
//! Desks are used again, so that a drag does not allocate.

use std::cell::RefCell;

use super::{context::Context, memory::Buffer, readback::Readback, stopwatch::Stopwatch};
use crate::error::Result;

/// Desks that wait for the next request.
#[derive(Debug, Default)]
pub struct Desks(RefCell<Vec<Desk>>);

/// Idle desks kept at most.
const KEPT: usize = 8;

#[derive(Debug)]
struct Desk {
    output: Buffer,
    readback: Readback,
    watch: Option<Stopwatch>,
}

/// What the GPU answered: the output's words, and how long its passes took (`None` without timestamps).
#[derive(Debug)]
pub struct Answer {
    pub words: Vec<u32>,
    pub gpu_ms: Option<f64>,
}

impl Desks {
    /// Records passes on an output of `words` zeroed words, submits, and reads the output back. Several
    /// requests may be under way at the same time; each has a desk of its own.
    ///
    /// # Errors
    /// `Gpu` when memory is short, the work is refused or the result cannot be read.
    pub async fn ask(
        &self,
        context: &Context,
        label: &str,
        words: u64,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>, &wgpu::Buffer),
    ) -> Result<Answer> {
        let desk = self.take(context, 4 * words)?;
        let (recorded, verdict) = context.submit_watched(label, |encoder| {
            desk.record(encoder, label, record);
            Ok(())
        });
        recorded?;
        let answer = desk.answer(context, 4 * words).await;
        verdict.await?;
        let answer = answer?;
        self.put_back(desk);
        Ok(answer)
    }

    fn take(&self, context: &Context, bytes: u64) -> Result<Desk> {
        let mut idle = self.0.borrow_mut();
        match idle.iter().position(|desk| desk.output.size() == bytes) {
            Some(index) => Ok(idle.swap_remove(index)),
            None => Desk::new(context, bytes),
        }
    }

    fn put_back(&self, desk: Desk) {
        let mut idle = self.0.borrow_mut();
        if idle.len() == KEPT {
            idle.remove(0);
        }
        idle.push(desk);
    }
}

impl Desk {
    fn new(context: &Context, bytes: u64) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        Ok(Self {
            output: context.buffer("desk.output", bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)?,
            readback: Readback::new(context, "desk.readback", bytes + LAP_BYTES)?,
            watch: Stopwatch::new(context, 1)?,
        })
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        label: &str,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>, &wgpu::Buffer),
    ) {
        encoder.clear_buffer(&self.output, 0, None);
        let timestamp_writes = self.watch.as_ref().map(|watch| watch.notes(0));
        let descriptor = wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes };
        record(&mut encoder.begin_compute_pass(&descriptor), &self.output);
        let bytes = self.output.size();
        self.readback.record(encoder, &self.output, 0, 0, bytes);
        if let Some(watch) = &self.watch {
            watch.record(encoder);
            self.readback.record(encoder, watch.resolved(), 0, bytes, LAP_BYTES);
        }
    }

    async fn answer(&self, context: &Context, bytes: u64) -> Result<Answer> {
        let all = self.readback.bytes(context, bytes + LAP_BYTES).await?;
        let (output, lap) = all.split_at(bytes as usize);
        let words = output.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let gpu_ms = self.watch.as_ref().and_then(|watch| watch.ms_of(lap).first().map(|[begin, end]| end - begin));
        Ok(Answer { words, gpu_ms })
    }
}

/// Bytes of the two timestamps of a lap.
const LAP_BYTES: u64 = 16;
