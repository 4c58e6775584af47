//! The only place that sees wgpu. One pass is `shaders/x.wgsl`, `gpu/x.rs` and `cpu/x.rs`; a gpu file
//! always reads: its data, its pass, `new`, `record`. Recording only encodes; nothing in it submits,
//! waits or maps.

pub mod census;
mod context;
mod desk;
pub mod engine;
pub mod hash_frames;
mod memory;
pub mod moments;
mod pass;
pub mod pattern;
pub mod planes;
mod readback;
#[cfg(target_arch = "wasm32")]
mod staging;
mod stopwatch;
pub mod sum_pattern;
pub mod virtual_image;

pub use context::{AdapterFacts, Context};
pub use engine::Engine;
pub use memory::{Buffer, Ledger};
pub use pass::{Binding, Pass, PassSpec, Uniform, grid};
pub use readback::Readback;
#[cfg(target_arch = "wasm32")]
pub use staging::{Staging, UploadMode};
pub use stopwatch::Stopwatch;
