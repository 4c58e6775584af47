//! Sets and patterns for tests of the page's state.

use planescope::{
    acquisition::{Acquisition, BadPixels, Calibration, ScanChoice, ScanFrom, Storage, Stored},
    engine::PatternSum,
    products::DetectorShape,
    shape::{Detector, Dtype, Scan},
};

/// A complete set of u16 with a pattern for every position of `scan`, without files and facts.
pub fn acquisition(name: &str, detector: Detector, scan: Scan) -> Acquisition {
    Acquisition {
        name: name.into(),
        dataset: "/entry/data/data".into(),
        files: vec![],
        files_missing: vec![],
        parts: vec![],
        files_linked: 0,
        dtype: Dtype::U16,
        stored: Stored::default(),
        channels: vec![],
        channel: 0,
        detector,
        frames: scan.rows * scan.cols,
        frames_announced: None,
        scan: ScanChoice { shape: scan, from: ScanFrom::Sidecar, alternatives: vec![] },
        storage: Storage::BitshuffleLz4 { block_px: detector.pixels(), chunks: vec![], sections: vec![] },
        bad_pixels: BadPixels::default(),
        saturation: None,
        calibration: Calibration::default(),
        facts: vec![],
        notices: vec![],
    }
}

/// The sum of `frames` patterns with a bright disc about `centre` [row, column], px.
pub fn bright_disc(detector: Detector, centre: [f64; 2], outer: f64, frames: u32) -> PatternSum {
    let inside = DetectorShape::Disc { centre, inner: 0.0, outer }.pixels(detector);
    let sum = (0..detector.pixels()).map(|pixel| if inside.contains(pixel) { 1000 } else { 3 }).collect();
    PatternSum { sum, frames }
}
