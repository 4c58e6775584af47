//! Which part of the data a square view shows, and where a pointer lies in the data.
//!
//! Data positions are (x, y) in px from the upper left corner of the first pixel: pixel (row, col) covers
//! x in col .. col + 1. Screen positions are CSS px from the upper left corner of the view.

use super::state::Zoom;

/// A square view of `rows` x `cols` data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Side of the square, CSS px.
    pub side: f64,
    /// CSS px per data px.
    pub scale: f64,
    /// Screen position of the data's corner.
    pub origin: [f64; 2],
}

/// The largest magnification: one data px then fills a quarter of the view at least.
const LARGEST_CELL: f64 = 0.25;

impl Camera {
    pub fn new(side: f64, rows: u32, cols: u32, zoom: Zoom) -> Self {
        let side = side.max(1.0);
        let (width, height) = (f64::from(cols.max(1)), f64::from(rows.max(1)));
        let fit = side / width.max(height);
        let scale = fit * held(zoom.factor, side, fit);
        let middle = [width / 2.0, height / 2.0];
        let centre = zoom.centre.unwrap_or(middle);
        let origin = std::array::from_fn(|axis| {
            let extent = 2.0 * middle[axis] * scale;
            let free = side / 2.0 - centre[axis] * scale;
            // Smaller than the view: in the middle. Larger: no gap at either side.
            if extent <= side { (side - extent) / 2.0 } else { free.clamp(side - extent, 0.0) }
        });
        Self { side, scale, origin }
    }

    pub fn to_screen(&self, data: [f64; 2]) -> [f64; 2] {
        std::array::from_fn(|axis| self.origin[axis] + data[axis] * self.scale)
    }

    pub fn to_data(&self, screen: [f64; 2]) -> [f64; 2] {
        std::array::from_fn(|axis| (screen[axis] - self.origin[axis]) / self.scale)
    }

    /// Data px across the view.
    pub fn visible(&self) -> f64 {
        self.side / self.scale
    }

    /// The zoom that shows `factor` times more, with the data under `at` (screen) staying there.
    pub fn zoomed(&self, zoom: Zoom, factor: f64, at: [f64; 2]) -> Zoom {
        let fit = self.scale / zoom.factor;
        let factor = held(zoom.factor * factor, self.side, fit);
        if factor <= 1.0 {
            return Zoom::default();
        }
        let (data, scale) = (self.to_data(at), fit * factor);
        let centre = std::array::from_fn(|axis| data[axis] + (self.side / 2.0 - at[axis]) / scale);
        Zoom { factor, centre: Some(centre) }
    }

    /// The zoom after the data was pulled by `by` CSS px.
    pub fn panned(&self, zoom: Zoom, by: [f64; 2]) -> Zoom {
        let middle = self.to_data([self.side / 2.0; 2]);
        let centre = std::array::from_fn(|axis| middle[axis] - by[axis] / self.scale);
        Zoom { centre: (zoom.factor > 1.0).then_some(centre), ..zoom }
    }
}

fn held(factor: f64, side: f64, fit: f64) -> f64 {
    let largest = (LARGEST_CELL * side / fit).max(1.0);
    if factor.is_finite() { factor.clamp(1.0, largest) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_that_is_no_square_is_letterboxed() {
        let camera = Camera::new(500.0, 50, 100, Zoom::default());
        assert_eq!((camera.scale, camera.origin), (5.0, [0.0, 125.0]));
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let zoom = Zoom::default();
        let camera = Camera::new(500.0, 100, 100, zoom);
        let at = [300.0, 200.0];
        let closer = Camera::new(500.0, 100, 100, camera.zoomed(zoom, 2.0, at));
        assert_eq!(closer.to_data(at), camera.to_data(at));
        assert_eq!(closer.scale, 10.0);
    }

    #[test]
    fn the_view_never_leaves_the_data() {
        let camera = Camera::new(500.0, 100, 100, Zoom { factor: 2.0, centre: Some([-40.0, 1e9]) });
        assert_eq!((camera.origin, camera.to_data([500.0, 500.0])), ([0.0, -500.0], [50.0, 100.0]));
    }

    #[test]
    fn zooming_out_all_the_way_is_the_fitted_view() {
        let zoom = Zoom { factor: 1.5, centre: Some([10.0, 10.0]) };
        let camera = Camera::new(500.0, 100, 100, zoom);
        assert_eq!(camera.zoomed(zoom, 0.5, [0.0, 0.0]), Zoom::default());
    }
}
