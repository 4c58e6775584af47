//! Hostile input for everything of planescope that reads bytes from outside: made by the million, judged one by one.
//!
//! - [`target`]: what is fed, and what must hold of every answer.
//! - [`mutate`]: new inputs from old ones; structures of HDF5 keep their checksums, so that changes get past them.
//! - [`coverage`]: which code an input reached, on stable Rust.
//! - [`corpus`]: the inputs to begin with, and those worth keeping.
//! - [`judge`]: one input: a panic, too much time or too much memory is a finding.
//! - [`memory`]: what was allocated meanwhile.
//! - [`campaign`]: so many executions of one target, with its report.
//! - [`truncation`]: files cut at every byte of their metadata.

pub mod campaign;
pub mod corpus;
pub mod coverage;
pub mod judge;
pub mod memory;
pub mod mutate;
pub mod random;
pub mod target;
pub mod truncation;
