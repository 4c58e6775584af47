//! What is made of the sums: detectors and their pixels, presets, the bright-field disc, the centre of mass and what
//! follows from it, hot pixels. Pure: no GPU, no page.

pub mod centre_of_mass;
pub mod deflection;
pub mod detector;
pub mod disc;
pub mod fft;
pub mod flip;
mod hot_pixels;
pub mod integral;
pub mod presets;
pub mod profile;
mod scan_order;
pub mod segments;
pub mod spread;

pub use centre_of_mass::CentreOfMass;
pub use deflection::{Deflection, Orientation, find_orientation};
pub use detector::DetectorShape;
pub use disc::{Disc, find_disc};
pub use fft::spectrum;
pub use flip::Flip;
pub use hot_pixels::hot_pixels;
pub use integral::{Edges, Integration, integrate};
pub use presets::Preset;
pub use scan_order::ScanOrder;
