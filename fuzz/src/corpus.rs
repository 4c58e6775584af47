//! The inputs to begin with, and those worth keeping.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::mutate::{Form, Seal, seals};

/// One input, and what a change of it has to know.
pub struct Input {
    pub bytes: Vec<u8>,
    pub seals: Vec<Seal>,
    /// Places of bytes that are not 0.
    pub marks: Vec<u32>,
}

impl Input {
    pub fn of(bytes: Vec<u8>, form: Form) -> Self {
        let seals = if form == Form::Hdf5 { seals(&bytes) } else { Vec::new() };
        Self::sealed(bytes, seals)
    }

    /// Of an input whose seals are known: those of what it was made of.
    pub fn sealed(bytes: Vec<u8>, seals: Vec<Seal>) -> Self {
        let marks = bytes.iter().zip(0..).filter(|(byte, _)| **byte != 0).map(|(_, at)| at).collect();
        Self { bytes, seals, marks }
    }
}

/// The files of a folder and of those in it, by name, none longer than `longest` bytes.
///
/// # Errors
/// Where it cannot be read.
pub fn files(folder: &Path, longest: u64) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            match entry.metadata()? {
                about if about.is_dir() => folders.push(entry.path()),
                about if about.len() <= longest => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A name for an input that is kept: of its content (FNV-1a).
pub fn name_of(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}
