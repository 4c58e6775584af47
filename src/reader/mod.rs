//! Worker threads that walk metadata, read byte ranges and decode what the GPU does not.
//!
//! Control messages are typed and go through `gloo-worker`. It hides the `Worker` object, so bulk bytes
//! go over a port that each worker opens itself: buffers travel by transfer and come back for reuse.
//! A worker that panics says so on its port; one that falls silent is noticed by a deadline. Either way
//! its job fails with a message, it is ended, and another worker takes its place.

pub use codec::Ported;
pub use copy::{FOLDER, uncopied};
pub use message::{Answer, Outcome, Request, Task};
pub use pool::{Done, Piece, Pool, Script, cancelled};
pub use worker::Reader;

mod buffers;
mod capture;
mod codec;
mod copy;
mod leaves;
mod message;
mod pool;
mod port;
mod stream;
mod worker;
