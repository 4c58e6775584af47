//! The twin of every GPU pass, same names, and the engine of a machine without WebGPU.
//!
//! A twin of a product works on the resident bit planes of [`planes`], frame by frame, and never needs a clock
//! or a thread; [`Engine`] runs them in slices so that a page stays responsive.

pub mod block_pixels;
pub mod block_records;
pub mod census;
pub mod compare_words;
pub mod decode;
pub mod engine;
pub mod frame_coop;
pub mod frame_headers;
pub mod hash_frames;
pub mod lz4;
pub mod max_pattern;
pub mod measure_blocks;
pub mod moments;
pub mod pack_blocks;
pub mod pattern;
pub mod pixels_to_planes;
pub mod planes;
pub mod seal_slots;
pub mod shift_table;
pub mod square_pattern;
pub mod squares;
pub mod sum_pattern;
pub mod virtual_image;

pub use engine::Engine;
