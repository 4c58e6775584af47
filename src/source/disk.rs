//! A file on disk, read at any place (native tools).

use std::{fs, io::ErrorKind, os::unix::fs::FileExt, path::Path};

use super::{ByteSource, past_the_end};
use crate::{Error, Kind, Result};

pub struct Disk {
    name: String,
    len_bytes: u64,
    file: fs::File,
}

impl Disk {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// `Io` with the system's own words.
    pub fn open(path: &Path) -> Result<Self> {
        let unreadable = |e: std::io::Error| {
            Error::new(Kind::Io, "unreadable", "The file cannot be read")
                .at(path.display().to_string())
                .found(e.to_string())
        };
        let file = fs::File::open(path).map_err(unreadable)?;
        let len_bytes = file.metadata().map_err(unreadable)?.len();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, len_bytes, file })
    }
}

impl ByteSource for Disk {
    fn name(&self) -> &str {
        &self.name
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buffer, offset).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => past_the_end(&self.name, offset, buffer.len(), self.len_bytes),
            _ => Error::new(Kind::Io, "unreadable", "The file cannot be read").at(&self.name).found(e.to_string()),
        })
    }
}
