//! Copies of sets in the browser's own storage, from which they open faster.
//!
//! A copy holds the picked files as they are. It is read in place of them only while name, size and time of every file
//! are those that it was made of, and a digest of some of their bytes agrees. Nothing is kept unless the user asks.

pub use catalogue::{Catalogue, Copied, Entry, Room};
pub use probe::probe;

mod catalogue;
mod probe;
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub use storage::{Recalled, Storage, described};
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
mod storage;
