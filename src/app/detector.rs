//! The virtual detector as it is drawn and dragged: shapes, grips, and what a drag makes of them.
//!
//! Positions are [row, col] in px; pixel (r, c) has its centre at [r, c].

use serde::{Deserialize, Serialize};

use super::state::{BrightDisc, Product};
use crate::{engine::PixelSet, shape::Detector};

/// Which electrons make the image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase", deny_unknown_fields)]
pub enum Shape {
    /// Pixels whose centre lies at most `outer` px from `centre`.
    Disc { centre: [f64; 2], outer: f64 },
    /// Pixels at `inner` <= r <= `outer`.
    Annulus { centre: [f64; 2], inner: f64, outer: f64 },
    /// Pixels within half of `height` and `width` of `centre`.
    Rect { centre: [f64; 2], height: f64, width: f64 },
}

/// What is held while the detector is dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    Body,
    Inner,
    Outer,
    Width,
    Height,
    Corner,
}

impl Shape {
    pub fn centre(&self) -> [f64; 2] {
        match self {
            Self::Disc { centre, .. } | Self::Annulus { centre, .. } | Self::Rect { centre, .. } => *centre,
        }
    }

    /// The knobs: what each one holds and where it is drawn.
    pub fn knobs(&self) -> Vec<(Grip, [f64; 2])> {
        let [row, col] = self.centre();
        match self {
            Self::Disc { outer, .. } => vec![(Grip::Outer, [row, col + outer])],
            Self::Annulus { inner, outer, .. } => {
                vec![(Grip::Outer, [row, col + outer]), (Grip::Inner, [row, col + inner])]
            }
            Self::Rect { height, width, .. } => vec![
                (Grip::Corner, [row + height / 2.0, col + width / 2.0]),
                (Grip::Width, [row, col + width / 2.0]),
                (Grip::Height, [row + height / 2.0, col]),
            ],
        }
    }

    /// What a press at `at` takes hold of: a knob within `reach` px, an edge within half of it, or the body.
    pub fn grip_at(&self, at: [f64; 2], reach: f64) -> Option<Grip> {
        let knob = self.knobs().into_iter().find(|(_, knob)| distance(*knob, at) <= reach);
        if let Some((grip, _)) = knob {
            return Some(grip);
        }
        let near = |edge: f64| edge.abs() <= reach / 2.0;
        let r = distance(self.centre(), at);
        match self {
            Self::Disc { outer, .. } if near(r - outer) => Some(Grip::Outer),
            Self::Annulus { outer, .. } if near(r - outer) => Some(Grip::Outer),
            Self::Annulus { inner, .. } if near(r - inner) => Some(Grip::Inner),
            Self::Disc { outer, .. } | Self::Annulus { outer, .. } => (r < *outer).then_some(Grip::Body),
            Self::Rect { centre, height, width } => {
                let (down, across) =
                    ((at[0] - centre[0]).abs() - height / 2.0, (at[1] - centre[1]).abs() - width / 2.0);
                match (near(down), near(across)) {
                    (true, true) => Some(Grip::Corner),
                    (true, false) if across < 0.0 => Some(Grip::Height),
                    (false, true) if down < 0.0 => Some(Grip::Width),
                    _ => (down < 0.0 && across < 0.0).then_some(Grip::Body),
                }
            }
        }
    }

    /// The shape after its `grip` was dragged from `from` to `to`. `constrained`: the body keeps to an
    /// axis, a radius keeps the ratio of both radii, a corner keeps the ratio of the sides.
    pub fn dragged(&self, grip: Grip, from: [f64; 2], to: [f64; 2], constrained: bool) -> Self {
        let mut shape = self.clone();
        let delta = [to[0] - from[0], to[1] - from[1]];
        let away = distance(self.centre(), to) - distance(self.centre(), from);
        match (&mut shape, grip) {
            (Self::Disc { centre, .. } | Self::Annulus { centre, .. } | Self::Rect { centre, .. }, Grip::Body) => {
                let along_rows = delta[0].abs() >= delta[1].abs();
                centre[0] += if constrained && !along_rows { 0.0 } else { delta[0] };
                centre[1] += if constrained && along_rows { 0.0 } else { delta[1] };
            }
            (Self::Disc { outer, .. }, _) => *outer = (*outer + away).max(0.0),
            (Self::Annulus { inner, outer, .. }, grip) => {
                let held = if grip == Grip::Inner { *inner } else { *outer };
                let ratio = (held + away).max(0.0) / held.max(f64::MIN_POSITIVE);
                match (grip, constrained) {
                    (_, true) if held > 0.0 => (*inner, *outer) = (*inner * ratio, *outer * ratio),
                    (Grip::Inner, _) => *inner = (*inner + away).clamp(0.0, *outer),
                    _ => *outer = (*outer + away).max(*inner),
                }
            }
            (Self::Rect { centre, height, width }, grip) => {
                // The far edge follows the pointer on both sides of the centre.
                let grown = |at: usize, size: f64| {
                    (size + 2.0 * ((to[at] - centre[at]).abs() - (from[at] - centre[at]).abs())).max(0.0)
                };
                let (tall, wide) = (grown(0, *height), grown(1, *width));
                if grip != Grip::Width {
                    *height = tall;
                }
                if grip != Grip::Height {
                    *width = wide;
                }
                if grip == Grip::Corner && constrained {
                    *height = *width;
                }
            }
        }
        shape
    }

    pub fn moved(&self, rows: f64, cols: f64) -> Self {
        self.dragged(Grip::Body, [0.0, 0.0], [rows, cols], false)
    }

    /// Outer radius (or both sides) larger by `px`.
    pub fn grown(&self, px: f64) -> Self {
        let mut shape = self.clone();
        match &mut shape {
            Self::Disc { outer, .. } => *outer = (*outer + px).max(0.0),
            Self::Annulus { inner, outer, .. } => *outer = (*outer + px).max(*inner),
            Self::Rect { height, width, .. } => {
                (*height, *width) = ((*height + 2.0 * px).max(0.0), (*width + 2.0 * px).max(0.0))
            }
        }
        shape
    }

    /// Inner radius larger by `px`; other shapes have none.
    pub fn hollowed(&self, px: f64) -> Self {
        let mut shape = self.clone();
        if let Self::Annulus { inner, outer, .. } = &mut shape {
            *inner = (*inner + px).clamp(0.0, *outer);
        }
        shape
    }

    /// The same place and size with another outline.
    pub fn as_disc(&self) -> Self {
        Self::Disc { centre: self.centre(), outer: self.reach() }
    }

    pub fn as_annulus(&self) -> Self {
        let inner = if let Self::Annulus { inner, .. } = self { *inner } else { self.reach() / 2.0 };
        Self::Annulus { centre: self.centre(), inner, outer: self.reach() }
    }

    pub fn as_rect(&self) -> Self {
        match self {
            Self::Rect { .. } => self.clone(),
            _ => Self::Rect { centre: self.centre(), height: 2.0 * self.reach(), width: 2.0 * self.reach() },
        }
    }

    fn reach(&self) -> f64 {
        match self {
            Self::Disc { outer, .. } | Self::Annulus { outer, .. } => *outer,
            Self::Rect { height, width, .. } => height.min(*width) / 2.0,
        }
    }

    /// Centre held on the detector.
    pub fn held_to(mut self, detector: Detector) -> Self {
        let (Self::Disc { centre, .. } | Self::Annulus { centre, .. } | Self::Rect { centre, .. }) = &mut self;
        centre[0] = centre[0].clamp(0.0, f64::from(detector.rows.max(1) - 1));
        centre[1] = centre[1].clamp(0.0, f64::from(detector.cols.max(1) - 1));
        self
    }

    /// The pixels whose centre lies in the shape, edges in; the others when `inverted`.
    pub fn pixels(&self, detector: Detector, inverted: bool) -> PixelSet {
        PixelSet::of(detector, |row, col| self.holds([f64::from(row), f64::from(col)]) != inverted)
    }

    fn holds(&self, at: [f64; 2]) -> bool {
        let squared = |centre: &[f64; 2]| (at[0] - centre[0]).powi(2) + (at[1] - centre[1]).powi(2);
        match self {
            Self::Disc { centre, outer } => squared(centre) <= outer * outer,
            Self::Annulus { centre, inner, outer } => (inner * inner..=outer * outer).contains(&squared(centre)),
            Self::Rect { centre, height, width } => {
                (at[0] - centre[0]).abs() <= height / 2.0 && (at[1] - centre[1]).abs() <= width / 2.0
            }
        }
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// The detector of a preset; `None` for products that have none, or no fixed one.
pub fn preset(product: Product, disc: BrightDisc, detector: Detector) -> Option<Shape> {
    let BrightDisc { centre, radius } = disc;
    let corner = |row: f64, col: f64| distance(centre, [row, col]);
    let (bottom, right) = (f64::from(detector.rows) - 1.0, f64::from(detector.cols) - 1.0);
    let edge = corner(0.0, 0.0).max(corner(bottom, 0.0)).max(corner(0.0, right)).max(corner(bottom, right)).ceil();
    let annulus = |inner: f64, outer: f64| Shape::Annulus { centre, inner, outer: outer.max(inner) };
    match product {
        Product::Bf => Some(Shape::Disc { centre, outer: radius }),
        Product::Abf => Some(annulus(0.5 * radius, radius)),
        Product::Adf => Some(annulus(1.1 * radius, 2.2 * radius)),
        Product::Haadf => Some(annulus(2.2 * radius, edge)),
        Product::Df => Some(annulus(1.1 * radius, edge)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 16, cols: 16 };

    #[test]
    fn a_pixel_on_the_edge_belongs_to_the_shape() {
        let disc = Shape::Disc { centre: [8.0, 8.0], outer: 1.0 };
        assert_eq!(disc.pixels(DETECTOR, false).count(), 5);
        assert_eq!(disc.pixels(DETECTOR, true).count(), 251);
        let ring = Shape::Annulus { centre: [8.0, 8.0], inner: 1.0, outer: 1.0 };
        assert_eq!(ring.pixels(DETECTOR, false).count(), 4);
    }

    #[test]
    fn knobs_come_before_edges_and_edges_before_the_body() {
        let ring = Shape::Annulus { centre: [8.0, 8.0], inner: 3.0, outer: 6.0 };
        let grip = |row, col| ring.grip_at([row, col], 1.0);
        assert_eq!(grip(8.0, 14.2), Some(Grip::Outer));
        assert_eq!(grip(8.0, 11.5), Some(Grip::Inner));
        assert_eq!(grip(11.2, 8.0), Some(Grip::Inner));
        assert_eq!(grip(12.5, 8.0), Some(Grip::Body));
        assert_eq!(grip(8.0, 8.0), Some(Grip::Body));
        assert_eq!(grip(8.0, 15.9), None);
    }

    #[test]
    fn a_constrained_radius_keeps_the_ratio_and_a_free_one_never_crosses() {
        let ring = Shape::Annulus { centre: [8.0, 8.0], inner: 2.0, outer: 4.0 };
        let kept = ring.dragged(Grip::Outer, [8.0, 12.0], [8.0, 14.0], true);
        assert_eq!(kept, Shape::Annulus { centre: [8.0, 8.0], inner: 3.0, outer: 6.0 });
        let crossed = ring.dragged(Grip::Inner, [8.0, 10.0], [8.0, 20.0], false);
        assert_eq!(crossed, Shape::Annulus { centre: [8.0, 8.0], inner: 4.0, outer: 4.0 });
    }

    #[test]
    fn a_constrained_body_keeps_to_the_longer_axis() {
        let disc = Shape::Disc { centre: [8.0, 8.0], outer: 2.0 };
        assert_eq!(disc.dragged(Grip::Body, [8.0, 8.0], [9.0, 11.0], true).centre(), [8.0, 11.0]);
    }
}
