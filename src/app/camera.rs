//! Which part of the data a square view shows, and where a pointer lies in the data.
//!
//! Data positions are (x, y) in px from the upper left corner of the first pixel: pixel (row, col) covers
//! x in col .. col + 1. Screen positions are CSS px from the upper left corner of the view.

use super::state::{Turn, Zoom};

/// A square view of `rows` x `cols` data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Side of the square, CSS px.
    pub side: f64,
    /// CSS px per data px.
    pub scale: f64,
    /// Screen position of the upper left corner of the data as they are seen.
    pub origin: [f64; 2],
    /// Width and height of the data, px.
    size: [f64; 2],
    turn: Turn,
}

/// The largest magnification: one data px then fills a quarter of the view at least.
const LARGEST_CELL: f64 = 0.25;

impl Camera {
    pub fn new(side: f64, rows: u32, cols: u32, zoom: Zoom) -> Self {
        let side = side.max(1.0);
        let size = [f64::from(cols.max(1)), f64::from(rows.max(1))];
        let fit = side / size[0].max(size[1]);
        let scale = fit * held(zoom.factor, side, fit);
        let camera = Self { side, scale, origin: [0.0; 2], size, turn: zoom.turn };
        let (seen, centre) = (camera.seen_size(), camera.seen(zoom.centre.unwrap_or(size.map(|side| side / 2.0))));
        let origin = std::array::from_fn(|axis| {
            let extent = seen[axis] * scale;
            let free = side / 2.0 - centre[axis] * scale;
            // Smaller than the view: in the middle. Larger: no gap at either side.
            if extent <= side { (side - extent) / 2.0 } else { free.clamp(side - extent, 0.0) }
        });
        Self { origin, ..camera }
    }

    /// Width and height as they are seen.
    fn seen_size(&self) -> [f64; 2] {
        let [width, height] = self.size;
        if self.turn.quarters % 2 == 1 { [height, width] } else { [width, height] }
    }

    /// A data position as it is seen, from the upper left corner of what is seen.
    fn seen(&self, data: [f64; 2]) -> [f64; 2] {
        let (middle, seen) = (self.size.map(|side| side / 2.0), self.seen_size());
        let turned = self.turn.seen([data[0] - middle[0], data[1] - middle[1]]);
        std::array::from_fn(|axis| turned[axis] + seen[axis] / 2.0)
    }

    fn unseen(&self, at: [f64; 2]) -> [f64; 2] {
        let (middle, seen) = (self.size.map(|side| side / 2.0), self.seen_size());
        let back = self.turn.unseen(std::array::from_fn(|axis| at[axis] - seen[axis] / 2.0));
        std::array::from_fn(|axis| back[axis] + middle[axis])
    }

    pub fn to_screen(&self, data: [f64; 2]) -> [f64; 2] {
        let seen = self.seen(data);
        std::array::from_fn(|axis| self.origin[axis] + seen[axis] * self.scale)
    }

    pub fn to_data(&self, screen: [f64; 2]) -> [f64; 2] {
        self.unseen(std::array::from_fn(|axis| (screen[axis] - self.origin[axis]) / self.scale))
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
            return Zoom { turn: zoom.turn, ..Zoom::default() };
        }
        let (seen, scale) = (self.seen(self.to_data(at)), fit * factor);
        let centre = std::array::from_fn(|axis| seen[axis] + (self.side / 2.0 - at[axis]) / scale);
        Zoom { factor, centre: Some(self.unseen(centre)), turn: zoom.turn }
    }

    /// The zoom after the data was pulled by `by` CSS px.
    pub fn panned(&self, zoom: Zoom, by: [f64; 2]) -> Zoom {
        let middle = self.side / 2.0;
        let centre = self.to_data(std::array::from_fn(|axis| middle - by[axis]));
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
        let camera = Camera::new(500.0, 100, 100, Zoom { factor: 2.0, centre: Some([-40.0, 1e9]), ..Zoom::default() });
        assert_eq!((camera.origin, camera.to_data([500.0, 500.0])), ([0.0, -500.0], [50.0, 100.0]));
    }

    #[test]
    fn zooming_out_all_the_way_is_the_fitted_view() {
        let zoom = Zoom { factor: 1.5, centre: Some([10.0, 10.0]), ..Zoom::default() };
        let camera = Camera::new(500.0, 100, 100, zoom);
        assert_eq!(camera.zoomed(zoom, 0.5, [0.0, 0.0]), Zoom::default());
    }

    #[test]
    fn a_turned_view_leads_to_the_data_and_back() {
        for (quarters, mirrored) in [(0, true), (1, false), (2, true), (3, false), (3, true)] {
            let turn = Turn { quarters, mirrored };
            let zoom = Zoom { factor: 2.0, centre: Some([30.0, 20.0]), turn };
            let camera = Camera::new(500.0, 50, 100, zoom);
            let at = camera.to_data(camera.to_screen([31.0, 18.5]));
            assert!((at[0] - 31.0).abs() < 1e-9 && (at[1] - 18.5).abs() < 1e-9, "{turn:?} {at:?}");
            let closer = Camera::new(500.0, 50, 100, camera.zoomed(zoom, 1.5, [300.0, 250.0]));
            let (before, after) = (camera.to_data([300.0, 250.0]), closer.to_data([300.0, 250.0]));
            assert!((before[0] - after[0]).hypot(before[1] - after[1]) < 1e-9, "{turn:?}");
        }
        let quarter =
            Camera::new(100.0, 50, 100, Zoom { turn: Turn { quarters: 1, mirrored: false }, ..Zoom::default() });
        assert_eq!(quarter.to_screen([0.0, 0.0]), [75.0, 0.0], "the upper left corner goes to the upper right");
    }

    #[test]
    fn four_quarters_and_two_mirrors_are_nothing() {
        let (quarter, mirror) = (Turn { quarters: 1, mirrored: false }, Turn { quarters: 0, mirrored: true });
        let around = quarter.then(quarter).then(quarter).then(quarter);
        assert_eq!((around, quarter.then(mirror).then(mirror)), (Turn::default(), quarter));
        let both = quarter.then(mirror);
        assert_eq!(both.seen([1.0, 2.0]), mirror.seen(quarter.seen([1.0, 2.0])));
    }
}
