//! One request's place on the GPU: its input, a zeroed output, the buffer that is read back, and a stopwatch.
//! Desks are used again, with what is bound to them, so that a drag makes no object on the GPU.

use std::cell::RefCell;

use super::{context::Context, planes::Place, readback::Readback, stopwatch::Stopwatch};
use crate::error::Result;

/// Desks that wait for the next request.
#[derive(Debug, Default)]
pub struct Desks(RefCell<Vec<Desk>>);

/// Idle desks kept at most.
const KEPT: usize = 8;

#[derive(Debug)]
struct Desk {
    label: &'static str,
    place: Place,
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
    /// Records passes that read `input` and write an output of `words` zeroed words (at least one), submits, and reads the output
    /// back. Requests of one `label` run the same pass. Several requests may
    /// be under way at the same time; each has a desk of its own.
    ///
    /// # Errors
    /// `Gpu` when memory is short, the work is refused or the result cannot be read.
    pub async fn ask(
        &self,
        context: &Context,
        label: &'static str,
        input: &[u32],
        words: u64,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>, &Place),
    ) -> Result<Answer> {
        let words = words.max(1);
        let desk = self.take(context, label, 4 * input.len().max(1) as u64, 4 * words).await?;
        let (requested, verdict) = context.watched(label, || {
            context.queue.write_buffer(&desk.place.input, 0, bytemuck::cast_slice(input));
            context.queue.submit([desk.record(context, record)]);
            Ok(desk.readback.request(4 * words + LAP_BYTES))
        });
        let answer = requested?.words(context).await;
        // What was refused explains an answer that does not come.
        verdict.await?;
        let mut all = answer?;
        let lap = all.split_off(words as usize);
        let laps = desk.watch.as_ref().map(|watch| watch.ms_of(bytemuck::cast_slice(&lap)));
        let gpu_ms = laps.and_then(|laps| laps.first().map(|[begin, end]| end - begin));
        self.put_back(desk);
        Ok(Answer { words: all, gpu_ms })
    }

    /// Lets go of what is bound to idle desks, and of the desks.
    pub fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    async fn take(&self, context: &Context, label: &'static str, input_bytes: u64, output_bytes: u64) -> Result<Desk> {
        let idle = self.idle(label, input_bytes, output_bytes);
        match idle {
            Some(desk) => Ok(desk),
            None => context.guarded("desk", || Desk::new(context, label, input_bytes, output_bytes)).await,
        }
    }

    fn idle(&self, label: &str, input_bytes: u64, output_bytes: u64) -> Option<Desk> {
        let mut idle = self.0.borrow_mut();
        let index = idle.iter().position(|desk| {
            let Place { input, output, .. } = &desk.place;
            desk.label == label && input.size() == input_bytes && output.size() == output_bytes
        })?;
        Some(idle.swap_remove(index))
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
    fn new(context: &Context, label: &'static str, input_bytes: u64, output_bytes: u64) -> Result<Self> {
        Ok(Self {
            label,
            place: Place::new(context, input_bytes, output_bytes)?,
            readback: Readback::new(context, "desk.readback", output_bytes + LAP_BYTES)?,
            watch: Stopwatch::new(context, 1)?,
        })
    }

    fn record(
        &self,
        context: &Context,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>, &Place),
    ) -> wgpu::CommandBuffer {
        let label = Some(self.label);
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        encoder.clear_buffer(&self.place.output, 0, None);
        let timestamp_writes = self.watch.as_ref().map(|watch| watch.notes(0));
        let descriptor = wgpu::ComputePassDescriptor { label, timestamp_writes };
        record(&mut encoder.begin_compute_pass(&descriptor), &self.place);
        let bytes = self.place.output.size();
        self.readback.record(&mut encoder, &self.place.output, 0, 0, bytes);
        if let Some(watch) = &self.watch {
            watch.record(&mut encoder);
            self.readback.record(&mut encoder, watch.resolved(), 0, bytes, LAP_BYTES);
        }
        encoder.finish()
    }
}

/// Bytes of the two timestamps of a lap.
const LAP_BYTES: u64 = 16;
