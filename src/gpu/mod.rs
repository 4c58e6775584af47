//! The only place that sees wgpu. One pass is `shaders/x.wgsl`, `gpu/x.rs` and `cpu/x.rs`; a gpu file
//! always reads: its data, its pass, `new`, `record`. Recording only encodes; nothing in it submits,
//! waits or maps.

pub mod block_pixels;
pub mod block_records;
pub mod census;
pub mod compare_words;
mod context;
pub mod decode;
mod desk;
pub mod engine;
pub mod frame_coop;
pub mod frame_headers;
pub mod hash_frames;
pub mod instrument;
pub mod lz4;
pub mod max_pattern;
pub mod measure_blocks;
mod memory;
pub mod moments;
pub mod pack_blocks;
mod packer;
mod pass;
pub mod pattern;
pub mod pixels_to_planes;
pub mod planes;
mod readback;
mod resident;
pub mod seal_slots;
pub mod shift_table;
pub mod square_pattern;
pub mod squares;
#[cfg(target_arch = "wasm32")]
mod staging;
mod stopwatch;
pub mod sum_pattern;
pub mod virtual_image;

pub use context::{AdapterFacts, Context, Verdict};
pub use decode::{Decoder, Method, PADDING_BYTES, Variant, max_batch_frames};
pub use engine::Engine;
pub use memory::{Buffer, Ledger};
pub use pass::{Binding, Pass, PassSpec, Uniform, grid};
pub use readback::Readback;
#[cfg(target_arch = "wasm32")]
pub use staging::{Staging, UploadMode};
pub use stopwatch::Stopwatch;

/// Every pass, for the test that compares each with its shader.
pub const PASSES: &[PassSpec] = &[
    frame_headers::SPEC,
    block_records::SPEC,
    block_pixels::SPEC,
    frame_coop::SPEC,
    seal_slots::SPEC,
    lz4::SPEC,
    measure_blocks::SPEC,
    pack_blocks::SPEC,
    virtual_image::SPEC,
    moments::SPEC,
    pattern::SPEC,
    sum_pattern::SPEC,
    max_pattern::SPEC,
    squares::SPEC,
    square_pattern::SPEC,
    census::SPEC,
    hash_frames::SPEC,
    pixels_to_planes::SPEC,
    shift_table::SPEC,
    compare_words::SPEC,
];
