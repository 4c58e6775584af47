//! The only place that sees wgpu. One pass is `shaders/x.wgsl`, `gpu/x.rs` and `cpu/x.rs`; a gpu file
//! always reads: its data, its pass, `new`, `record`. Recording only encodes; nothing in it submits,
//! waits or maps.

mod context;
pub mod decode;
pub mod frame_headers;
pub mod lz4;
pub mod measure_blocks;
mod memory;
pub mod pack_blocks;
mod pass;
mod readback;
mod stopwatch;

pub use context::{AdapterFacts, Context};
pub use memory::{Buffer, Ledger};
pub use pass::{Binding, Pass, PassSpec, Uniform, grid};
pub use readback::Readback;
pub use stopwatch::Stopwatch;

/// Every pass, for the test that compares each with its shader.
pub const PASSES: &[PassSpec] = &[frame_headers::SPEC, lz4::SPEC, measure_blocks::SPEC, pack_blocks::SPEC];
