//! Cursor and detector over the pictures, as SVG in CSS px: each line has a dark halo, so that it holds on
//! any colour map.

use std::fmt::Write;

use crate::{
    app::{
        App, Camera, Panel,
        detector::{centre_of, knobs},
        user::Held,
    },
    products::DetectorShape,
};

/// Width of a line and of its halo, CSS px.
const LINE: f64 = 1.5;
const HALO: f64 = 2.6 * LINE;

/// What is drawn over a panel.
pub fn svg(app: &App, panel: Panel) -> String {
    let Some(camera) = app.camera(panel).filter(|_| app.state.overlays.0) else { return String::new() };
    match panel {
        Panel::Image => cursor(app, &camera),
        Panel::Pattern => detector(app, &camera),
    }
}

/// A square round the position, and four arms.
fn cursor(app: &App, camera: &Camera) -> String {
    let Some(set) = &app.set else { return String::new() };
    let [row, col] = set.cursor(&app.state);
    let [x, y] = camera.to_screen([f64::from(col) + 0.5, f64::from(row) + 0.5]);
    let half = (camera.scale / 2.0).max(4.0);
    let (near, far) = (half + 3.5, half + 22.0);
    let mut path = format!("M{} {}h{s}v{s}h-{s}z", x - half, y - half, s = 2.0 * half);
    for [dx, dy] in [[0.0, -1.0], [0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]] {
        let _ = write!(path, "M{} {}L{} {}", x + dx * near, y + dy * near, x + dx * far, y + dy * far);
    }
    twice(&path, "scan", LINE)
}

fn detector(app: &App, camera: &Camera) -> String {
    let Some((shape, inverted)) = app.detector_shape() else { return String::new() };
    let at = |[row, col]: [f64; 2]| camera.to_screen([col + 0.5, row + 0.5]);
    let outline = outline(&shape, camera);
    let mut svg = String::new();
    if app.hold.as_ref().is_some_and(|hold| matches!(hold.what, Held::Detector { .. })) {
        let frame = if inverted { format!("M0 0H{s}V{s}H0z", s = camera.side) } else { String::new() };
        let _ = write!(svg, "<path class=\"fill\" fill-rule=\"evenodd\" d=\"{outline}{frame}\"/>");
    }
    svg += &twice(&outline, "det", if inverted { LINE * 1.6 } else { LINE });
    if let Some(centre) = centre_of(&shape) {
        let [x, y] = at(centre);
        svg += &twice(&format!("M{} {y}h13M{x} {}v13", x - 6.5, y - 6.5), "det", LINE);
    }
    for (_, knob) in knobs(&shape) {
        let [x, y] = at(knob);
        let _ = write!(
            svg,
            "<circle class=\"halo\" cx=\"{x}\" cy=\"{y}\" r=\"5\" stroke-width=\"3\"/>\
             <circle class=\"det knob\" cx=\"{x}\" cy=\"{y}\" r=\"4\" stroke-width=\"3\"/>"
        );
    }
    svg
}

/// The shape's edges as a path in CSS px.
fn outline(shape: &DetectorShape, camera: &Camera) -> String {
    let at = |[row, col]: [f64; 2]| camera.to_screen([col + 0.5, row + 0.5]);
    let circle = |centre: [f64; 2], px: f64| {
        let ([x, y], r) = (at(centre), px * camera.scale);
        format!("M{} {y}a{r} {r} 0 1 1 {} 0a{r} {r} 0 1 1 {} 0z", x - r, 2.0 * r, -2.0 * r)
    };
    match shape {
        DetectorShape::Disc { centre, outer, .. } => circle(*centre, *outer),
        DetectorShape::Annulus { centre, inner, outer } => circle(*centre, *outer) + &circle(*centre, *inner),
        DetectorShape::Rect { centre: [row, col], height, width } => {
            let [x, y] = at([row - height / 2.0, col - width / 2.0]);
            let (w, h) = (width * camera.scale, height * camera.scale);
            format!("M{x} {y}h{w}v{h}h-{w}z")
        }
        DetectorShape::Point { centre } => circle([centre[0].round(), centre[1].round()], 0.5),
        DetectorShape::Wedge { centre, inner, outer, from, to } => {
            let span = (to - from).rem_euclid(360.0);
            let span = if span == 0.0 { 360.0 } else { span };
            let along = |r: f64, start: f64, span: f64| {
                (0..=72).map(move |step| polar(*centre, r, start + span * f64::from(step) / 72.0)).map(at)
            };
            polygon(along(*outer, *from, span).chain(along(*inner, from + span, -span)))
        }
        DetectorShape::Ellipse { centre, half_rows, half_cols, angle } => {
            let (sin, cos) = angle.to_radians().sin_cos();
            polygon((0..72).map(|step| {
                let (s, c) = (f64::from(step) * 5.0).to_radians().sin_cos();
                let (down, right) = (half_rows * s, half_cols * c);
                at([centre[0] + down * cos + right * sin, centre[1] + right * cos - down * sin])
            }))
        }
        DetectorShape::Polygon { points } => polygon(points.iter().map(|point| at(*point))),
        DetectorShape::Mask { .. } => String::new(),
    }
}

fn polar(centre: [f64; 2], r: f64, degrees: f64) -> [f64; 2] {
    let (sin, cos) = degrees.to_radians().sin_cos();
    [centre[0] + r * sin, centre[1] + r * cos]
}

fn polygon(points: impl Iterator<Item = [f64; 2]>) -> String {
    let mut path = String::new();
    for (place, [x, y]) in points.enumerate() {
        let _ = write!(path, "{}{x} {y}", if place == 0 { 'M' } else { 'L' });
    }
    if !path.is_empty() {
        path.push('z');
    }
    path
}

/// A path with its halo under it.
fn twice(path: &str, class: &str, width: f64) -> String {
    format!(
        "<path class=\"halo\" d=\"{path}\" stroke-width=\"{}\"/><path class=\"{class}\" d=\"{path}\" stroke-width=\"{width}\"/>",
        HALO * width / LINE
    )
}
