//! What leaves the page: pictures and numbers as files, the view with its files, and a script that makes the same
//! picture again. Pure: bytes in memory; `view` hands them to the browser.

pub mod csv;
pub mod gif;
pub mod npy;
pub mod png;
pub mod python;
pub mod session;
pub mod tiff;

use crate::display::{Cell, Field};

/// A file to be saved.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub name: String,
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

/// A picture of numbers, with what its sides measure.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    pub field: &'a Field,
    /// What it shows: "ADF, sum of 20.5 – 80.5 px".
    pub title: &'a str,
    /// Length of a side of a cell, and its unit ("nm", "mrad"); 1 and "px" without calibration.
    pub cell: (f64, &'static str),
}

impl Numbers<'_> {
    /// Values row-major, NaN where there is none.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let field = self.field;
        field.values.iter().zip(&field.cells).map(|(value, cell)| if *cell == Cell::Value { *value } else { f64::NAN })
    }

    /// Whether every value is a whole count.
    pub fn is_whole(&self) -> bool {
        self.field.counts && self.field.cells.iter().all(|cell| *cell == Cell::Value)
    }
}
