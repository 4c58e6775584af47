//! The virtual detector as it is drawn and dragged: grips, and what a drag makes of a shape.
//!
//! Positions are [row, col] in px; pixel (r, c) has its centre at [r, c]. Shapes that this page does not draw
//! itself (wedge, polygon, mask: they come from automation) can be moved as a whole, where they have a place.

use super::state::Product;
use crate::{
    engine::PixelSet,
    products::{DetectorShape, Disc, Preset},
    shape::Detector,
};

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

/// The middle of a shape; `None` for a mask.
pub fn centre_of(shape: &DetectorShape) -> Option<[f64; 2]> {
    match shape {
        DetectorShape::Disc { centre, .. }
        | DetectorShape::Annulus { centre, .. }
        | DetectorShape::Rect { centre, .. }
        | DetectorShape::Point { centre }
        | DetectorShape::Wedge { centre, .. }
        | DetectorShape::Ellipse { centre, .. } => Some(*centre),
        DetectorShape::Polygon { points } => {
            let n = points.len().max(1) as f64;
            let mean = |axis: usize| points.iter().map(|point| point[axis]).sum::<f64>() / n;
            (!points.is_empty()).then(|| [mean(0), mean(1)])
        }
        DetectorShape::Mask { .. } => None,
    }
}

/// The knobs: what each one holds and where it is drawn.
pub fn knobs(shape: &DetectorShape) -> Vec<(Grip, [f64; 2])> {
    match shape {
        DetectorShape::Disc { centre: [row, col], outer, .. } => vec![(Grip::Outer, [*row, col + outer])],
        DetectorShape::Annulus { centre: [row, col], inner, outer } => {
            vec![(Grip::Outer, [*row, col + outer]), (Grip::Inner, [*row, col + inner])]
        }
        DetectorShape::Rect { centre: [row, col], height, width } => vec![
            (Grip::Corner, [row + height / 2.0, col + width / 2.0]),
            (Grip::Width, [*row, col + width / 2.0]),
            (Grip::Height, [row + height / 2.0, *col]),
        ],
        _ => Vec::new(),
    }
}

/// What a press at `at` takes hold of: a knob within `reach` px, an edge within half of it, or the body.
pub fn grip_at(shape: &DetectorShape, at: [f64; 2], reach: f64) -> Option<Grip> {
    let knob = knobs(shape).into_iter().find(|(_, knob)| distance(*knob, at) <= reach);
    if let Some((grip, _)) = knob {
        return Some(grip);
    }
    let near = |edge: f64| edge.abs() <= reach / 2.0;
    let r = distance(centre_of(shape)?, at);
    match shape {
        DetectorShape::Disc { outer, .. } | DetectorShape::Annulus { outer, .. } if near(r - outer) => {
            Some(Grip::Outer)
        }
        DetectorShape::Annulus { inner, .. } if near(r - inner) => Some(Grip::Inner),
        DetectorShape::Disc { outer, .. }
        | DetectorShape::Annulus { outer, .. }
        | DetectorShape::Wedge { outer, .. } => (r < *outer).then_some(Grip::Body),
        DetectorShape::Rect { centre, height, width } => {
            let (down, across) = ((at[0] - centre[0]).abs() - height / 2.0, (at[1] - centre[1]).abs() - width / 2.0);
            match (near(down), near(across)) {
                (true, true) => Some(Grip::Corner),
                (true, false) if across < 0.0 => Some(Grip::Height),
                (false, true) if down < 0.0 => Some(Grip::Width),
                _ => (down < 0.0 && across < 0.0).then_some(Grip::Body),
            }
        }
        DetectorShape::Ellipse { half_rows, half_cols, .. } => (r < half_rows.max(*half_cols)).then_some(Grip::Body),
        DetectorShape::Point { .. } => (r <= reach).then_some(Grip::Body),
        DetectorShape::Polygon { points } => {
            let farthest = points.iter().map(|point| distance(*point, centre_of(shape).unwrap_or(*point)));
            (r <= farthest.fold(reach, f64::max)).then_some(Grip::Body)
        }
        DetectorShape::Mask { .. } => None,
    }
}

/// The shape after its `grip` was dragged from `from` to `to`. `constrained`: the body keeps to an axis, a
/// radius keeps the ratio of both radii, a corner makes a square.
pub fn dragged(shape: &DetectorShape, grip: Grip, from: [f64; 2], to: [f64; 2], constrained: bool) -> DetectorShape {
    let delta = [to[0] - from[0], to[1] - from[1]];
    if grip == Grip::Body {
        let along_rows = delta[0].abs() >= delta[1].abs();
        let kept = |is_free: bool, by: f64| if constrained && !is_free { 0.0 } else { by };
        return shape.moved([kept(along_rows, delta[0]), kept(!along_rows, delta[1])]);
    }
    let mut shape = shape.clone();
    match &mut shape {
        DetectorShape::Disc { centre, outer, .. } => *outer = (*outer + away(*centre, from, to)).max(0.0),
        DetectorShape::Annulus { centre, inner, outer } => {
            let away = away(*centre, from, to);
            let held = if grip == Grip::Inner { *inner } else { *outer };
            let ratio = (held + away).max(0.0) / held.max(f64::MIN_POSITIVE);
            match (grip, constrained) {
                (_, true) if held > 0.0 => (*inner, *outer) = (*inner * ratio, *outer * ratio),
                (Grip::Inner, _) => *inner = (*inner + away).clamp(0.0, *outer),
                _ => *outer = (*outer + away).max(*inner),
            }
        }
        DetectorShape::Rect { centre, height, width } => {
            // The far edge follows the pointer on both sides of the centre.
            let grown = |axis: usize, size: f64| {
                (size + 2.0 * ((to[axis] - centre[axis]).abs() - (from[axis] - centre[axis]).abs())).max(0.0)
            };
            let (tall, wide) = (grown(0, *height), grown(1, *width));
            if grip != Grip::Width {
                *height = tall;
            }
            if grip != Grip::Height {
                *width = if grip == Grip::Corner && constrained { tall } else { wide };
            }
        }
        _ => {}
    }
    shape
}

fn away(centre: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    distance(centre, to) - distance(centre, from)
}

/// Outer radius (or both sides) larger by `px`.
pub fn grown(shape: &DetectorShape, px: f64) -> DetectorShape {
    let mut shape = shape.clone();
    match &mut shape {
        DetectorShape::Disc { outer, .. } => *outer = (*outer + px).max(0.0),
        DetectorShape::Annulus { inner, outer, .. } | DetectorShape::Wedge { inner, outer, .. } => {
            *outer = (*outer + px).max(*inner);
        }
        DetectorShape::Rect { height, width, .. } => {
            (*height, *width) = ((*height + 2.0 * px).max(0.0), (*width + 2.0 * px).max(0.0));
        }
        _ => {}
    }
    shape
}

/// Inner radius larger by `px`; other shapes have none.
pub fn hollowed(shape: &DetectorShape, px: f64) -> DetectorShape {
    let mut shape = shape.clone();
    if let DetectorShape::Annulus { inner, outer, .. } | DetectorShape::Wedge { inner, outer, .. } = &mut shape {
        *inner = (*inner + px).clamp(0.0, *outer);
    }
    shape
}

/// A disc in the place and of the size of `shape`.
pub fn as_disc(shape: &DetectorShape) -> DetectorShape {
    let (centre, outer) = place(shape);
    DetectorShape::Disc { centre, inner: 0.0, outer }
}

pub fn as_annulus(shape: &DetectorShape) -> DetectorShape {
    let (centre, outer) = place(shape);
    let inner = if let DetectorShape::Annulus { inner, .. } = shape { *inner } else { outer / 2.0 };
    DetectorShape::Annulus { centre, inner, outer }
}

pub fn as_rect(shape: &DetectorShape) -> DetectorShape {
    let (centre, outer) = place(shape);
    match shape {
        DetectorShape::Rect { .. } => shape.clone(),
        _ => DetectorShape::Rect { centre, height: 2.0 * outer, width: 2.0 * outer },
    }
}

/// Centre and reach.
fn place(shape: &DetectorShape) -> ([f64; 2], f64) {
    let reach = match shape {
        DetectorShape::Disc { outer, .. }
        | DetectorShape::Annulus { outer, .. }
        | DetectorShape::Wedge { outer, .. } => *outer,
        DetectorShape::Rect { height, width, .. } => height.min(*width) / 2.0,
        DetectorShape::Ellipse { half_rows, half_cols, .. } => half_rows.min(*half_cols),
        DetectorShape::Point { .. } | DetectorShape::Polygon { .. } | DetectorShape::Mask { .. } => 8.0,
    };
    (centre_of(shape).unwrap_or_default(), reach)
}

/// The same shape with its centre on the detector.
pub fn held_to(shape: DetectorShape, detector: Detector) -> DetectorShape {
    let Some([row, col]) = centre_of(&shape) else { return shape };
    let held = |at: f64, size: u32| at.clamp(0.0, f64::from(size.max(1) - 1));
    let by = [held(row, detector.rows) - row, held(col, detector.cols) - col];
    if by == [0.0, 0.0] { shape } else { shape.moved(by) }
}

/// The pixels of `shape`, or all others.
pub fn pixels(shape: &DetectorShape, detector: Detector, inverted: bool) -> PixelSet {
    let inside = shape.pixels(detector);
    if inverted { PixelSet::of(detector, |_, _| true).without(&inside) } else { inside }
}

/// The outline of a preset and whether it takes what lies outside; `None` for products that have none.
pub fn preset(product: Product, disc: Disc, detector: Detector) -> Option<(DetectorShape, bool)> {
    let preset = match product {
        Product::Bf => Preset::Bf,
        Product::Abf => Preset::Abf,
        Product::Adf => Preset::Adf,
        Product::Haadf => Preset::Haadf,
        Product::Df => Preset::Df,
        _ => return None,
    };
    Some((preset.shape(disc, detector), preset == Preset::Df))
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: DetectorShape = DetectorShape::Annulus { centre: [8.0, 8.0], inner: 3.0, outer: 6.0 };

    #[test]
    fn knobs_come_before_edges_and_edges_before_the_body() {
        let grip = |row, col| grip_at(&RING, [row, col], 1.0);
        assert_eq!(grip(8.0, 14.2), Some(Grip::Outer));
        assert_eq!(grip(8.0, 11.5), Some(Grip::Inner));
        assert_eq!(grip(11.2, 8.0), Some(Grip::Inner));
        assert_eq!(grip(12.5, 8.0), Some(Grip::Body));
        assert_eq!(grip(8.0, 8.0), Some(Grip::Body));
        assert_eq!(grip(8.0, 15.9), None);
    }

    #[test]
    fn a_constrained_radius_keeps_the_ratio_and_a_free_one_never_crosses() {
        let kept = dragged(&RING, Grip::Outer, [8.0, 14.0], [8.0, 18.0], true);
        assert_eq!(kept, DetectorShape::Annulus { centre: [8.0, 8.0], inner: 5.0, outer: 10.0 });
        let crossed = dragged(&RING, Grip::Inner, [8.0, 11.0], [8.0, 20.0], false);
        assert_eq!(crossed, DetectorShape::Annulus { centre: [8.0, 8.0], inner: 6.0, outer: 6.0 });
    }

    #[test]
    fn a_constrained_body_keeps_to_the_longer_axis() {
        let moved = dragged(&RING, Grip::Body, [8.0, 8.0], [9.0, 11.0], true);
        assert_eq!(centre_of(&moved), Some([8.0, 11.0]));
    }

    #[test]
    fn a_rectangle_grows_on_both_sides_of_its_centre() {
        let rect = DetectorShape::Rect { centre: [8.0, 8.0], height: 4.0, width: 6.0 };
        let wide = dragged(&rect, Grip::Width, [8.0, 11.0], [9.0, 12.0], false);
        assert_eq!(wide, DetectorShape::Rect { centre: [8.0, 8.0], height: 4.0, width: 8.0 });
    }

    #[test]
    fn a_shape_never_leaves_the_detector() {
        let detector = Detector { rows: 16, cols: 16 };
        let moved = RING.moved([100.0, -100.0]);
        assert_eq!(centre_of(&held_to(moved, detector)), Some([15.0, 0.0]));
    }
}
