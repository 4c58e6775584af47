//! The virtual detector as it is drawn and dragged: grips, and what a drag makes of a shape.
//!
//! Positions are [row, col] in px; pixel (r, c) has its centre at [r, c]. A mask comes from automation and has neither
//! place nor handles.

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
    /// The end of an ellipse's own column axis: its length and its direction.
    Axis,
    /// The edges of a wedge.
    From,
    To,
    /// A corner of a polygon.
    Vertex(usize),
    /// Its edge from this corner to the next: a corner is put there.
    Edge(usize),
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
        DetectorShape::Ellipse { centre, half_rows, half_cols, angle } => vec![
            (Grip::Axis, polar(*centre, *half_cols, *angle)),
            (Grip::Height, polar(*centre, *half_rows, angle + 90.0)),
        ],
        DetectorShape::Wedge { centre, inner, outer, from, to } => {
            let middle = from + span(*from, *to) / 2.0;
            let half = (inner + outer) / 2.0;
            vec![
                (Grip::Outer, polar(*centre, *outer, middle)),
                (Grip::Inner, polar(*centre, *inner, middle)),
                (Grip::From, polar(*centre, half, *from)),
                (Grip::To, polar(*centre, half, *to)),
            ]
        }
        DetectorShape::Polygon { points } => {
            points.iter().enumerate().map(|(at, point)| (Grip::Vertex(at), *point)).collect()
        }
        DetectorShape::Point { .. } | DetectorShape::Mask { .. } => Vec::new(),
    }
}

/// The position `r` px from `centre` in a direction, degrees from +column towards +row.
fn polar(centre: [f64; 2], r: f64, degrees: f64) -> [f64; 2] {
    let (sin, cos) = degrees.to_radians().sin_cos();
    [centre[0] + r * sin, centre[1] + r * cos]
}

/// Degrees from one direction to another, above 0.
fn span(from: f64, to: f64) -> f64 {
    let span = (to - from).rem_euclid(360.0);
    if span == 0.0 { 360.0 } else { span }
}

fn direction(centre: [f64; 2], to: [f64; 2]) -> f64 {
    (to[0] - centre[0]).atan2(to[1] - centre[1]).to_degrees()
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
            let ends = || points.iter().zip(points.iter().cycle().skip(1));
            let edge = ends().position(|(a, b)| from_line(*a, *b, at) <= reach / 2.0);
            let is_inside = || ends().filter(|(a, b)| crosses(**a, **b, at)).count() % 2 == 1;
            edge.map(Grip::Edge).or_else(|| is_inside().then_some(Grip::Body))
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
        DetectorShape::Ellipse { centre, half_rows, half_cols, angle } => match grip {
            Grip::Axis => {
                *half_cols = distance(*centre, to).max(0.5);
                let turned = direction(*centre, to);
                *angle = if constrained { (turned / 15.0).round() * 15.0 } else { turned };
            }
            _ => {
                let (sin, cos) = angle.to_radians().sin_cos();
                *half_rows = ((to[0] - centre[0]) * cos - (to[1] - centre[1]) * sin).abs().max(0.5);
            }
        },
        DetectorShape::Wedge { centre, inner, outer, from, to: until } => {
            let turned = direction(*centre, to);
            let turned = if constrained { (turned / 15.0).round() * 15.0 } else { turned };
            let r = distance(*centre, to);
            match grip {
                Grip::Outer => *outer = r.max(*inner),
                Grip::Inner => *inner = r.min(*outer),
                Grip::From => *from = turned,
                _ => *until = turned,
            }
        }
        DetectorShape::Polygon { points } => match grip {
            Grip::Vertex(at) => points.get_mut(at).into_iter().for_each(|point| *point = to),
            Grip::Edge(at) => points.insert((at + 1).min(points.len()), to),
            _ => {}
        },
        DetectorShape::Point { .. } | DetectorShape::Mask { .. } => {}
    }
    shape
}

/// Distance of `at` from the line between two corners.
fn from_line(a: [f64; 2], b: [f64; 2], at: [f64; 2]) -> f64 {
    let (along, to) = ([b[0] - a[0], b[1] - a[1]], [at[0] - a[0], at[1] - a[1]]);
    let square = along[0] * along[0] + along[1] * along[1];
    let part = if square > 0.0 { ((to[0] * along[0] + to[1] * along[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    distance(at, [a[0] + part * along[0], a[1] + part * along[1]])
}

/// Whether an edge crosses the ray from `at` towards +column.
fn crosses(a: [f64; 2], b: [f64; 2], at: [f64; 2]) -> bool {
    (a[0] > at[0]) != (b[0] > at[0]) && at[1] < (b[1] - a[1]) * (at[0] - a[0]) / (b[0] - a[0]) + a[1]
}

/// Without a corner; a polygon keeps three.
pub fn without_vertex(shape: &DetectorShape, at: usize) -> DetectorShape {
    let mut shape = shape.clone();
    if let DetectorShape::Polygon { points } = &mut shape
        && points.len() > 3
        && at < points.len()
    {
        points.remove(at);
    }
    shape
}

/// Turned about its centre by so many degrees; discs and rectangles stay as they are.
pub fn turned(shape: &DetectorShape, degrees: f64) -> DetectorShape {
    let (centre, mut shape) = (centre_of(shape).unwrap_or_default(), shape.clone());
    match &mut shape {
        DetectorShape::Ellipse { angle, .. } => *angle = half_turn(*angle + degrees),
        DetectorShape::Wedge { from, to, .. } => {
            (*from, *to) = ((*from + degrees).rem_euclid(360.0), (*to + degrees).rem_euclid(360.0));
        }
        DetectorShape::Polygon { points } => {
            for point in points {
                *point = polar(centre, distance(centre, *point), direction(centre, *point) + degrees);
            }
        }
        _ => {}
    }
    shape
}

/// An ellipse is the same after half a turn.
fn half_turn(angle: f64) -> f64 {
    90.0 - (90.0 - angle).rem_euclid(180.0)
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
        DetectorShape::Ellipse { half_rows, half_cols, .. } => {
            (*half_rows, *half_cols) = ((*half_rows + px).max(0.5), (*half_cols + px).max(0.5));
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

/// The one pixel at the place of `shape`.
pub fn as_point(shape: &DetectorShape) -> DetectorShape {
    DetectorShape::Point { centre: place(shape).0 }
}

pub fn as_ellipse(shape: &DetectorShape) -> DetectorShape {
    let (centre, outer) = place(shape);
    match shape {
        DetectorShape::Ellipse { .. } => shape.clone(),
        _ => DetectorShape::Ellipse { centre, half_rows: 0.7 * outer, half_cols: outer, angle: 0.0 },
    }
}

/// A quarter of the ring towards +column.
pub fn as_wedge(shape: &DetectorShape) -> DetectorShape {
    match (shape, as_annulus(shape)) {
        (DetectorShape::Wedge { .. }, _) => shape.clone(),
        (_, DetectorShape::Annulus { centre, inner, outer }) => {
            DetectorShape::Wedge { centre, inner, outer, from: -45.0, to: 45.0 }
        }
        (_, other) => other,
    }
}

/// A hexagon.
pub fn as_polygon(shape: &DetectorShape) -> DetectorShape {
    let (centre, outer) = place(shape);
    match shape {
        DetectorShape::Polygon { .. } => shape.clone(),
        _ => {
            let points = (0..6).map(|corner| polar(centre, outer, 60.0 * f64::from(corner))).collect();
            DetectorShape::Polygon { points }
        }
    }
}

/// Makes one shape of another, in its place.
pub type Make = fn(&DetectorShape) -> DetectorShape;

/// Shapes in the order of their buttons: what makes one of another, and its name.
pub const SHAPES: [(&str, Make); 7] = [
    ("point", as_point),
    ("disc", as_disc),
    ("annulus", as_annulus),
    ("rect", as_rect),
    ("ellipse", as_ellipse),
    ("wedge", as_wedge),
    ("polygon", as_polygon),
];

/// The place of a shape in [`SHAPES`]; a mask has none.
pub fn kind(shape: &DetectorShape) -> Option<usize> {
    Some(match shape {
        DetectorShape::Point { .. } => 0,
        DetectorShape::Disc { .. } => 1,
        DetectorShape::Annulus { .. } => 2,
        DetectorShape::Rect { .. } => 3,
        DetectorShape::Ellipse { .. } => 4,
        DetectorShape::Wedge { .. } => 5,
        DetectorShape::Polygon { .. } => 6,
        DetectorShape::Mask { .. } => return None,
    })
}

/// Centre and reach.
fn place(shape: &DetectorShape) -> ([f64; 2], f64) {
    let reach = match shape {
        DetectorShape::Disc { outer, .. }
        | DetectorShape::Annulus { outer, .. }
        | DetectorShape::Wedge { outer, .. } => *outer,
        DetectorShape::Rect { height, width, .. } => height.min(*width) / 2.0,
        DetectorShape::Ellipse { half_rows, half_cols, .. } => half_rows.min(*half_cols),
        DetectorShape::Polygon { points } => {
            let centre = centre_of(shape).unwrap_or_default();
            points.iter().map(|point| distance(*point, centre)).fold(0.0, f64::max)
        }
        DetectorShape::Point { .. } | DetectorShape::Mask { .. } => 8.0,
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
    fn an_ellipse_is_turned_and_stretched_by_the_end_of_its_axis() {
        let ellipse = as_ellipse(&RING);
        let at = knobs(&ellipse).into_iter().find(|(grip, _)| *grip == Grip::Axis).map(|(_, at)| at);
        assert_eq!(at, Some([8.0, 14.0]));
        let turned = dragged(&ellipse, Grip::Axis, [8.0, 14.0], [16.0, 8.1], true);
        let DetectorShape::Ellipse { half_cols, angle, .. } = turned else { panic!("{turned:?}") };
        assert!((half_cols - 8.0).abs() < 0.01 && angle == 90.0);
        let wide = dragged(&ellipse, Grip::Height, [12.0, 8.0], [13.0, 8.0], false);
        assert!(matches!(wide, DetectorShape::Ellipse { half_rows, .. } if (half_rows - 5.0).abs() < 1e-12));
    }

    #[test]
    fn the_edges_of_a_wedge_are_turned_and_its_radii_never_cross() {
        let wedge = as_wedge(&RING);
        let turned = dragged(&wedge, Grip::To, [0.0; 2], [14.0, 8.0], false);
        assert!(matches!(turned, DetectorShape::Wedge { from: -45.0, to, .. } if (to - 90.0).abs() < 1e-12));
        let crossed = dragged(&wedge, Grip::Inner, [0.0; 2], [8.0, 30.0], false);
        assert!(matches!(crossed, DetectorShape::Wedge { inner: 6.0, outer: 6.0, .. }));
        assert!(matches!(super::turned(&wedge, 100.0), DetectorShape::Wedge { from: 55.0, to: 145.0, .. }));
    }

    #[test]
    fn a_polygon_takes_new_corners_on_its_edges_and_keeps_three() {
        let triangle = DetectorShape::Polygon { points: vec![[0.0, 0.0], [0.0, 10.0], [10.0, 0.0]] };
        assert_eq!(grip_at(&triangle, [0.3, 5.0], 2.0), Some(Grip::Edge(0)));
        assert_eq!(grip_at(&triangle, [3.0, 3.0], 2.0), Some(Grip::Body));
        assert_eq!(
            (grip_at(&triangle, [9.0, 9.0], 2.0), grip_at(&triangle, [0.5, 9.5], 2.0)),
            (None, Some(Grip::Vertex(1)))
        );
        let four = dragged(&triangle, Grip::Edge(0), [0.0, 5.0], [-2.0, 5.0], false);
        let DetectorShape::Polygon { points } = &four else { panic!("{four:?}") };
        assert_eq!(points[1], [-2.0, 5.0]);
        assert_eq!(without_vertex(&without_vertex(&four, 1), 0), triangle);
    }

    #[test]
    fn every_shape_can_be_made_of_every_other_and_stays_in_place() {
        for (_, make) in SHAPES {
            let shape = make(&RING);
            for (place, (_, other)) in SHAPES.into_iter().enumerate() {
                let made = other(&shape);
                let [row, col] = centre_of(&made).expect("a place");
                assert!((row - 8.0).hypot(col - 8.0) < 1e-9, "{made:?}");
                assert_eq!(kind(&made), Some(place));
            }
        }
    }

    #[test]
    fn a_shape_never_leaves_the_detector() {
        let detector = Detector { rows: 16, cols: 16 };
        let moved = RING.moved([100.0, -100.0]);
        assert_eq!(centre_of(&held_to(moved, detector)), Some([15.0, 0.0]));
    }
}
