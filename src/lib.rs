//! planescope: a 4D-STEM viewer in a page. The line, from file to pixels:
//!
//! ```text
//! picked files ─> source ─> hdf5 ─> acquisition ─> plan ─> reader ─> gpu::staging ─> gpu::decode ─> planes ─> products ─> display ─> view
//!                 byte      where   scan, detector which   workers   ring of         LZ4 to bit     resident  sums, CoM,  range,     DOM,
//!                 ranges    chunks  mask, what is  bytes   read and  mapped          planes, a      bit       mean, disc  colour,    canvas,
//!                           lie     missing        when    transfer  buffers         status a frame planes                scale bar  input
//! ```
//!
//! Every arrow is one call or one message and none points back, except user events. `app` owns the
//! state: one `update(event)`, one `frame()`. The rooms:
//!
//! - [`error`]: what went wrong, in words: what, where, found, expected, what to do.
//! - [`shape`]: scan, detector, element type, and the bit-plane layout of one frame.
//! - [`source`]: byte ranges of a file, whatever it is stored on.
//! - [`hdf5`]: the metadata walker; finds datasets, links and chunks without decoding anything.
//! - [`filter`]: the CPU codecs; they decode what the GPU does not, and are its oracle.
//! - [`acquisition`]: what a set of files *means*.
//! - [`plan`]: which byte ranges and frame batches are read, in which order.
//! - `reader`: the pool of worker threads and its messages.
//! - `gpu`: the only place that sees wgpu; one file a pass, each with a shader and a CPU twin.
//! - [`cpu`]: the twin of every pass, same names; also the engine of a machine without WebGPU.
//! - [`engine`]: what a viewer may ask of the resident frames; answered by `gpu` or `cpu` alike.
//! - [`products`]: detectors, presets, disc finding, centre of mass.
//! - [`ab`]: what makes a measurement of GPU work honest, and what its readings say.
//! - [`display`]: value range, histogram, colour maps, scale bar, numbers as text.
//! - [`export`]: pictures, numbers, sessions and scripts as files.
//! - `load`: one load: walk, read, upload and decode, overlapped; its knobs and its profile.
//! - [`kept`]: copies of sets in the browser's own storage, made on request.
//! - `session`: the open sets, and the one way to open another.
//! - `app`, `view`, `probe`: state, what is seen of it, and the hooks for automation.
//! - `page`: puts them together when the page starts.
// The twin tests name the crate as a user of it does, inside it and outside.
#[cfg(feature = "twins")]
extern crate self as planescope;

pub mod ab;
pub mod acquisition;
pub mod app;
pub mod cpu;
pub mod display;
pub mod engine;
pub mod error;
pub mod export;
pub mod filter;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod hdf5;
pub mod kept;
pub mod plan;
pub mod products;
pub mod shape;
pub mod source;

#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub mod load;
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub mod page;
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub mod probe;
#[cfg(target_arch = "wasm32")]
pub mod reader;
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub mod session;
#[cfg(all(target_arch = "wasm32", feature = "gpu"))]
pub mod view;

#[cfg(feature = "twins")]
#[path = "../tests/twins/mod.rs"]
pub mod twins;

pub use error::{Error, Kind, Result};
