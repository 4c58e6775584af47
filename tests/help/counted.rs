//! Files that count how often they are read.

use std::{cell::Cell, ops::Range, path::Path};

use planescope::source::{ByteSource, Disk};

/// A file that counts how often it is read.
pub struct Counted {
    disk: Disk,
    pub reads: Cell<usize>,
}

impl Counted {
    /// # Errors
    /// As [`Disk::open`].
    pub fn open(path: &Path) -> planescope::Result<Self> {
        Ok(Self { disk: Disk::open(path)?, reads: Cell::new(0) })
    }
}

impl ByteSource for Counted {
    fn name(&self) -> &str {
        self.disk.name()
    }

    fn len_bytes(&self) -> u64 {
        self.disk.len_bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> planescope::Result<()> {
        self.reads.set(self.reads.get() + 1);
        self.disk.read_at(offset, buffer)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> planescope::Result<Vec<Vec<u8>>> {
        self.reads.set(self.reads.get() + 1);
        self.disk.read_many(ranges)
    }
}
