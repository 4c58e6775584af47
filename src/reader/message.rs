//! What the page and a reader tell each other.

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    acquisition::{Opened, Options, Section, contents::Contents},
    engine::FrameFault,
    plan::{Located, Slice},
};

/// From the page to a reader.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Open a port and post it with this ticket.
    Connect { ticket: u32 },
    /// Work for the files of `generation`.
    Job { job: u32, generation: u32, task: Task },
    /// Jobs of this and of older generations are no longer wanted.
    Forget { generation: u32 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Read the metadata of all files: what acquisitions are they, with what the user has chosen?
    /// The chunks of large datasets are left to [`Task::Read`] where `is_outlined`.
    Walk { options: Options, is_outlined: bool },
    /// Tell one content of the files from another; of a copy, that of the files it was made of.
    Probe,
    /// Make the file of this name in a folder of the browser's storage, as long as it will be.
    Reserve { folder: String, name: String, len_bytes: u64 },
    /// Copy bytes `offset .. offset + len_bytes` of picked file `picked` into the file of its name in a folder of the
    /// browser's storage.
    Copy { picked: u32, folder: String, offset: u64, len_bytes: u64 },
    /// List all groups and datasets of all files.
    List,
    /// Read one slice of picked file `picked`, in pieces of at most `piece_bytes` (a multiple of 4), and find the
    /// frames of `sections` in it.
    Read { picked: u32, slice: Slice, sections: Vec<Section>, piece_bytes: u32 },
    /// Decode frames `first .. first + count` of acquisition `set` (place in the answer of the walk with these
    /// options) into little-endian pixels; one piece.
    Decode { options: Options, set: u32, first: u32, count: u32 },
}

/// From a reader to the page.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The port of this ticket was posted just before.
    Connected {
        ticket: u32,
    },
    Done {
        job: u32,
        outcome: Outcome,
        /// Bytes that were posted in pieces for this job.
        bytes: f64,
        /// Time spent reading, ms.
        read_ms: f64,
    },
    Failed {
        job: u32,
        error: Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Outcome {
    Walked(Opened),
    Listed(Vec<Contents>),
    Read(Located),
    /// A probe of each file.
    Probed(Vec<String>),
    /// Bytes that there was room for; all that were asked for, or as many as were found to fit.
    Reserved(u64),
    Copied,
    /// Frames of the piece without valid pixels: failed ones with their fault, and missing ones.
    Decoded {
        failed: Vec<FrameFault>,
        missing: Vec<u32>,
    },
}
