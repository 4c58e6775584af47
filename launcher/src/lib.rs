//! What serves the page to this machine's own browser, and what opens a bundle: `cargo xtask` and the bundle's launcher
//! share it. No framework: a bundle carries one small program.
//!
//! - [`http`]: files over HTTP on the loopback, with byte ranges, to the page alone.
//! - [`chrome`]: where Chrome, Edge or Chromium is, and the flags with which it has WebGPU.
//! - [`manifest`]: what a bundle holds, and whether it is all there.
//! - [`bundle`]: a bundle on show, from its check to its closed window.

pub mod bundle;
pub mod chrome;
pub mod http;
pub mod manifest;
