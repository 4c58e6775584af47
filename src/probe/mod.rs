//! `window.__planescope` and `window.__loadprof`: automation drives the page through these and through
//! the file input. Names are stable. Every promise rejects with the message that the user sees.

pub use hooks::{Hooks, View};
pub use js::{error, json, set_global};

mod experiment;
mod hash;
mod hooks;
mod js;
