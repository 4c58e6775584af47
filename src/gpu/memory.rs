//! The books of graphics memory: every buffer is entered here, with its bytes, until it is dropped.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::error::{Error, Kind, Result};

/// Bytes of all living buffers, and the most they may be.
#[derive(Debug)]
pub struct Ledger {
    used_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    budget_bytes: AtomicU64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { used_bytes: 0.into(), peak_bytes: 0.into(), budget_bytes: u64::MAX.into() }
    }
}

impl Ledger {
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// The most that was used at one time.
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes.load(Ordering::Relaxed)
    }

    /// No limit until one is set.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_bytes.load(Ordering::Relaxed)
    }

    pub fn set_budget_bytes(&self, bytes: u64) {
        self.budget_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Bytes that may still be allocated.
    pub fn free_bytes(&self) -> u64 {
        self.budget_bytes().saturating_sub(self.used_bytes())
    }

    /// Enters `bytes` until the entry is dropped.
    ///
    /// # Errors
    /// `Gpu` when the budget would be exceeded; nothing is entered then.
    pub(super) fn enter(self: &Arc<Self>, label: &str, bytes: u64) -> Result<Entry> {
        if bytes > self.free_bytes() {
            return Err(Error::new(Kind::Gpu, "gpu_memory", "The graphics memory set aside for this program is full")
                .at(label)
                .expected(format!("at most {} bytes", self.free_bytes()))
                .found(bytes.to_string())
                .action("Close a set, or open fewer frames"));
        }
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(used, Ordering::Relaxed);
        Ok(Entry { ledger: self.clone(), bytes })
    }
}

/// One line of the ledger.
#[derive(Debug)]
pub(super) struct Entry {
    ledger: Arc<Ledger>,
    bytes: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.used_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A buffer whose memory goes back when it is dropped, once the work already submitted with it is done.
#[derive(Debug)]
pub struct Buffer {
    buffer: wgpu::Buffer,
    _entry: Entry,
}

impl Buffer {
    pub(super) fn new(buffer: wgpu::Buffer, entry: Entry) -> Self {
        Self { buffer, _entry: entry }
    }
}

impl Deref for Buffer {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // In a browser a forgotten buffer lives on until its handle is collected, which may be never.
        self.buffer.destroy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_refuses_what_exceeds_the_budget_and_takes_back_what_is_dropped() {
        let ledger = Arc::new(Ledger::default());
        ledger.set_budget_bytes(100);
        let first = ledger.enter("first", 60).expect("60 of 100");
        assert_eq!(ledger.enter("second", 41).expect_err("101 of 100").key, "gpu_memory");
        drop(first);
        assert!(ledger.enter("third", 100).is_ok());
        assert_eq!((ledger.used_bytes(), ledger.peak_bytes()), (0, 100));
    }
}
