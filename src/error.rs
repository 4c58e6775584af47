//! What went wrong, in words a microscopist can act on.
//!
//! An error is handled once: passed on, or shown. It crosses workers, so it is plain data.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The disk, the browser's file access, or the network.
    Io,
    /// The content of a file is not what its format allows.
    File,
    /// A correct file that this program does not read.
    Unsupported,
    /// The adapter, its driver or its memory.
    Gpu,
    /// This program.
    Internal,
}

/// What, where, found, expected, what to do. Empty parts are left out of the sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    pub kind: Kind,
    /// Short stable key for scripts, e.g. `not_hdf5`, `corrupt_chunk`, `unsupported_filter:32001`.
    pub key: Cow<'static, str>,
    /// What happened, as a title: "The file is cut short". No full stop.
    pub what: String,
    /// Where: file, dataset, pattern, offset.
    pub place: String,
    pub found: String,
    pub expected: String,
    /// What the user can do.
    pub action: String,
}

impl Error {
    pub fn new(kind: Kind, key: impl Into<Cow<'static, str>>, what: impl Into<String>) -> Self {
        let (place, found, expected, action) = Default::default();
        Self { kind, key: key.into(), what: what.into(), place, found, expected, action }
    }

    pub fn at(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }

    pub fn found(self, found: impl Into<String>) -> Self {
        Self { found: found.into(), ..self }
    }

    pub fn expected(self, expected: impl Into<String>) -> Self {
        Self { expected: expected.into(), ..self }
    }

    pub fn action(self, action: impl Into<String>) -> Self {
        Self { action: action.into(), ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.place.is_empty() {
            write!(f, ": {}", self.place)?;
        }
        f.write_str(".")?;
        match (self.expected.is_empty(), self.found.is_empty()) {
            (false, false) => write!(f, " Expected {}, found {}.", self.expected, self.found)?,
            (false, true) => write!(f, " Expected {}.", self.expected)?,
            (true, false) => write!(f, " Found {}.", self.found)?,
            (true, true) => {}
        }
        if !self.action.is_empty() {
            write!(f, " {}.", self.action)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_what_where_expected_found_and_what_to_do() {
        let error = Error::new(Kind::File, "truncated", "The file is cut short")
            .at("au_07_data_000027.h5")
            .expected("62,441,880 bytes")
            .found("58,720,256")
            .action("Copy the file again");
        assert_eq!(
            error.to_string(),
            "The file is cut short: au_07_data_000027.h5. Expected 62,441,880 bytes, found 58,720,256. Copy the file again."
        );
    }
}
