//! What is made of the sums: detectors and their pixels, presets, the bright-field disc, the centre of mass.
//! Pure: no GPU, no page.

pub mod centre_of_mass;
pub mod detector;
pub mod disc;
pub mod presets;

pub use centre_of_mass::CentreOfMass;
pub use detector::DetectorShape;
pub use disc::{Disc, find_disc};
pub use presets::Preset;
