//! What is fed with hostile input, and what must hold of every answer.

mod filters;
mod view;
mod walker;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{corpus, mutate::Form};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// From the superblock of a file to groups, links, attributes, datasets and each list of chunks
    Walker,
    /// Every filter and every pipeline of filters, on one chunk; bitshuffle LZ4 also by the twin of the GPU
    Filters,
    /// What a set of files means: from picked files to frames, with all that is said of them
    Meaning,
    /// A session file, up to the view that it asks for
    Session,
    /// The view in the address of the page
    Address,
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Self::Walker => "walker",
            Self::Filters => "filters",
            Self::Meaning => "meaning",
            Self::Session => "session",
            Self::Address => "address",
        }
    }

    pub fn form(self) -> Form {
        match self {
            Self::Walker | Self::Meaning => Form::Hdf5,
            Self::Filters => Form::Binary,
            Self::Session | Self::Address => Form::Text,
        }
    }

    /// Feeds it with one input; "accepted", or the key of the error. Panics where something does not hold.
    pub fn feed(self, input: &[u8]) -> String {
        match self {
            Self::Walker => walker::walk(input),
            Self::Filters => filters::decode(input),
            Self::Meaning => walker::mean(input),
            Self::Session => view::session(input),
            Self::Address => view::address(input),
        }
    }

    /// The inputs to begin with: those of the repository, and what is made of the HDF5 files in `folders`.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn seeds(self, folders: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
        // Cargo says at run time where the package lies, so that the program can be carried elsewhere.
        let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let own = Path::new(&own);
        let mut paths = corpus::files(&own.join("corpus").join(self.name()), LONGEST_SEED)?;
        let mut seeds = paths.iter().map(std::fs::read).collect::<std::io::Result<Vec<_>>>()?;
        let mut files = vec![own.join("../tests/data/robustness")];
        files.extend_from_slice(folders);
        paths.clear();
        for folder in &files {
            paths.extend(corpus::files(folder, LONGEST_SEED)?);
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
        let files = paths.iter().map(std::fs::read).collect::<std::io::Result<Vec<_>>>()?;
        match self {
            Self::Walker | Self::Meaning => seeds.extend(files),
            Self::Filters => seeds.extend(files.iter().flat_map(|file| filters::inputs(file))),
            Self::Session => seeds.extend(view::sessions()),
            Self::Address => seeds.extend(view::addresses()),
        }
        Ok(seeds)
    }
}

/// Larger files are left to the tests that read them as they are.
const LONGEST_SEED: u64 = 1 << 14;
