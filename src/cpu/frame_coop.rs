//! The baseline kernel makes what `block_pixels` makes, in another way: it has the same twin.

pub use super::block_pixels::pixels;
