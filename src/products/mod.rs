//! What is made of the sums: detectors and their pixels, presets, the bright-field disc, the centre of mass,
//! hot pixels. Pure: no GPU, no page.

pub mod centre_of_mass;
pub mod detector;
pub mod disc;
pub mod flip;
mod hot_pixels;
pub mod presets;

pub use centre_of_mass::CentreOfMass;
pub use detector::DetectorShape;
pub use disc::{Disc, find_disc};
pub use flip::Flip;
pub use hot_pixels::hot_pixels;
pub use presets::Preset;
