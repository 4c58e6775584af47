//! Virtual images and patterns as files, without a browser: the page's own line, native.
//!
//! - [`load`]: files to resident frames, on the GPU or by the CPU twins.
//! - [`product`]: what can be rendered, by name, and its numbers.
//! - [`save`]: numbers as TIFF, NPY and PNG.
//! - [`progress`]: how far it is, and what it took.
//! - [`run()`]: all of it, for one set after the other.

pub mod load;
pub mod product;
pub mod progress;
pub mod run;
pub mod save;

pub use run::{Options, Outcome, run};
