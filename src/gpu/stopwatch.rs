//! Times of passes, by the GPU's own clock.

use super::{context::Context, memory::Buffer};
use crate::error::Result;

/// Two timestamps per lap, where the adapter has them. A lap is one or more passes of one submission.
#[derive(Debug)]
pub struct Stopwatch {
    queries: wgpu::QuerySet,
    resolved: Buffer,
    period_ns: f64,
    laps: u32,
}

impl Stopwatch {
    /// `None` without timestamp queries.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn new(context: &Context, laps: u32) -> Result<Option<Self>> {
        if !context.adapter.has_timestamps {
            return Ok(None);
        }
        let queries = context.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("stopwatch.queries"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * laps,
        });
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let resolved = context.buffer("stopwatch.resolved", 16 * u64::from(laps), usage)?;
        Ok(Some(Self { queries, resolved, period_ns: f64::from(context.queue.get_timestamp_period()), laps }))
    }

    /// What the first and the last pass of a lap (often the same one) note.
    pub fn notes(&self, lap: u32, starts: bool, ends: bool) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: starts.then_some(2 * lap),
            end_of_pass_write_index: ends.then_some(2 * lap + 1),
        }
    }

    /// Records that the laps noted so far are made readable; all laps must have been noted.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2 * self.laps, &self.resolved, 0);
    }

    /// Milliseconds of each lap.
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn laps_ms(&self, context: &Context) -> Result<Vec<f64>> {
        let bytes = context.read_bytes(&self.resolved, 0, 16 * u64::from(self.laps)).await?;
        Ok(self.ms_of(&bytes))
    }

    /// The resolved timestamps, for a caller who reads them along with something else: 16 bytes a lap.
    pub fn resolved(&self) -> &wgpu::Buffer {
        &self.resolved
    }

    /// Milliseconds of each lap from the bytes of [`Stopwatch::resolved`].
    pub fn ms_of(&self, bytes: &[u8]) -> Vec<f64> {
        let ticks = bytes.as_chunks().0.iter().map(|&tick| u64::from_le_bytes(tick)).collect::<Vec<_>>();
        let ticks_ms = |lap: &[u64]| lap[1].saturating_sub(lap[0]) as f64 * self.period_ns * 1e-6;
        ticks.chunks_exact(2).map(ticks_ms).collect()
    }
}
