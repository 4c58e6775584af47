//! Times of passes, by the GPU's own clock.

use super::{context::Context, memory::Buffer};
use crate::error::Result;

/// Two timestamps per lap, where the adapter has them. A lap is one pass.
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

    /// What the pass of a lap notes.
    pub fn notes(&self, lap: u32) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * lap),
            end_of_pass_write_index: Some(2 * lap + 1),
        }
    }

    /// Records that the laps noted so far are made readable; all laps must have been noted.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..2 * self.laps, &self.resolved, 0);
    }

    /// Begin and end of each lap in milliseconds after the begin of the first.
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn laps_ms(&self, context: &Context) -> Result<Vec<[f64; 2]>> {
        Ok(self.ms_of(&context.read_bytes(&self.resolved, 0, 16 * u64::from(self.laps)).await?))
    }

    /// The resolved timestamps, for a caller who reads them along with something else: 16 bytes a lap.
    pub fn resolved(&self) -> &wgpu::Buffer {
        &self.resolved
    }

    /// What [`Stopwatch::laps_ms`] gives, from the bytes of [`Stopwatch::resolved`].
    pub fn ms_of(&self, bytes: &[u8]) -> Vec<[f64; 2]> {
        let ticks = bytes.as_chunks().0.iter().map(|&tick| u64::from_le_bytes(tick)).collect::<Vec<_>>();
        let first = ticks.first().copied().unwrap_or_default();
        let ms = |tick: u64| tick.saturating_sub(first) as f64 * self.period_ns * 1e-6;
        ticks.as_chunks().0.iter().map(|lap: &[u64; 2]| lap.map(ms)).collect()
    }
}
