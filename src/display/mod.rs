//! Turns numbers into a picture and into text: value range, histogram, scale, colour map, scale bar.
//!
//! Pure and native; bad, missing and unread values never enter a range, a histogram or an average.

mod bar;
mod colour;
mod field;
mod histogram;
mod number;
mod paint;
mod scale;

pub use bar::{ScaleBar, Unit};
pub use colour::{ColourMap, Lut, Wheel};
pub use field::{Cell, Field, Rect};
pub use histogram::{Histogram, Percentiles};
pub use number::{bytes, bytes_of, count, count_signed, duration, length_nm, value};
pub use paint::{Axis, Limits};
pub use scale::Scale;
