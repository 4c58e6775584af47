//! The twin of every GPU pass, same names, and the engine of a machine without WebGPU.

pub mod decode;
pub mod frame_headers;
pub mod lz4;
pub mod measure_blocks;
pub mod pack_blocks;
