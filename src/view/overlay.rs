//! Cursor and detector over the pictures, as SVG in CSS px: each line has a dark halo, so that it holds on
//! any colour map.

use std::fmt::Write;

use crate::{
    app::{
        App, Camera, Panel,
        detector::{centre_of, knobs},
        state::ScanTool,
        user::Held,
    },
    display::Cell,
    products::DetectorShape,
};

/// Width of a line and of its halo, CSS px.
const LINE: f64 = 1.5;
const HALO: f64 = 2.6 * LINE;

/// What is drawn over a panel.
pub fn svg(app: &App, panel: Panel) -> String {
    let Some(camera) = app.camera(panel).filter(|_| app.state.overlays.0) else { return String::new() };
    match panel {
        Panel::Image => arrows(app, &camera) + &region(app, &camera) + &cursor(app, &camera),
        Panel::Pattern => detector(app, &camera) + &deflection(app, &camera),
    }
}

/// A square round the position, and four arms.
fn cursor(app: &App, camera: &Camera) -> String {
    let Some(set) = &app.set else { return String::new() };
    cross(set.cursor(&app.state), camera)
}

/// The cursor of a set of a series that is not looked at.
pub fn tile_svg(app: &App, place: usize, camera: &Camera) -> String {
    let cursor = app.tile_cursor(place).filter(|_| app.state.overlays.0);
    cursor.map_or(String::new(), |cursor| cross(cursor, camera))
}

fn cross([row, col]: [u32; 2], camera: &Camera) -> String {
    let [x, y] = camera.to_screen([f64::from(col) + 0.5, f64::from(row) + 0.5]);
    let half = (camera.scale / 2.0).max(4.0);
    let (near, far) = (half + 3.5, half + 22.0);
    let mut path = format!("M{} {}h{s}v{s}h-{s}z", x - half, y - half, s = 2.0 * half);
    for [dx, dy] in [[0.0, -1.0], [0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]] {
        let _ = write!(path, "M{} {}L{} {}", x + dx * near, y + dy * near, x + dx * far, y + dy * far);
    }
    twice(&path, "scan", LINE)
}

/// The part of the scan, and the line.
fn region(app: &App, camera: &Camera) -> String {
    let at = |[row, col]: [f64; 2]| camera.to_screen([col + 0.5, row + 0.5]);
    let knob = |place: [f64; 2]| {
        let [x, y] = at(place);
        format!(
            "<circle class=\"halo\" cx=\"{x}\" cy=\"{y}\" r=\"5\" stroke-width=\"3\"/>\
             <circle class=\"scan knob\" cx=\"{x}\" cy=\"{y}\" r=\"4\" stroke-width=\"3\"/>"
        )
    };
    let mut svg = String::new();
    if let Some(shape) = &app.state.region {
        svg += &twice(&outline(shape, camera), "scan", LINE);
        if !matches!(app.state.tool, ScanTool::Cursor | ScanTool::Line) {
            svg += &knobs(shape).into_iter().map(|(_, place)| knob(place)).collect::<String>();
        }
    }
    if let Some(line) = app.state.line {
        let ([x, y], [to_x, to_y]) = (at(line.from), at(line.to));
        let mut path = format!("M{x} {y}L{to_x} {to_y}");
        let length = (to_x - x).hypot(to_y - y);
        if line.width > 1 && length > 0.0 {
            let half = f64::from(line.width) * camera.scale / 2.0 / length;
            let (dx, dy) = ((to_y - y) * half, (x - to_x) * half);
            let _ = write!(
                path,
                "M{} {}L{} {}L{} {}L{} {}z",
                x + dx,
                y + dy,
                to_x + dx,
                to_y + dy,
                to_x - dx,
                to_y - dy,
                x - dx,
                y - dy
            );
        }
        svg += &twice(&path, "scan", LINE);
        if app.state.tool == ScanTool::Line {
            svg += &(knob(line.from) + &knob(line.to));
        }
    }
    svg
}

/// How many arrows lie along the longer side.
const ARROWS: u32 = 24;

/// The mean deflection of each box as an arrow; the longest fill their boxes.
fn arrows(app: &App, camera: &Camera) -> String {
    let shown = app.image.as_ref().filter(|shown| app.state.com.arrows && !shown.field.direction.is_empty());
    let Some(shown) = shown else { return String::new() };
    let boxes = shown.field.box_averaged(ARROWS);
    let step = f64::from(shown.field.cols.max(shown.field.rows)) / f64::from(boxes.cols.max(boxes.rows)).max(1.0);
    let longest = boxes.known().fold(f64::MIN_POSITIVE, f64::max);
    let mut path = String::new();
    for (at, (length, cell)) in boxes.values.iter().zip(&boxes.cells).enumerate() {
        let (row, col) = (at as u32 / boxes.cols, at as u32 % boxes.cols);
        let direction = boxes.direction.get(at).map_or(0.0, |angle| f64::from(*angle));
        let [x, y] = camera.to_screen([(f64::from(col) + 0.5) * step, (f64::from(row) + 0.5) * step]);
        let size = 0.9 * step * camera.scale * length / longest;
        if *cell != Cell::Value || size < 1.5 {
            continue;
        }
        let [from, to] = [[0.0; 2], [direction.cos(), direction.sin()]].map(|at| camera.to_screen(at));
        let direction = (to[1] - from[1]).atan2(to[0] - from[0]);
        let (sin, cos) = direction.sin_cos();
        let tip = [x + cos * size / 2.0, y + sin * size / 2.0];
        let _ = write!(path, "M{} {}L{} {}", x - cos * size / 2.0, y - sin * size / 2.0, tip[0], tip[1]);
        let head = (size * 0.35).min(5.0);
        for turn in [2.6, -2.6] {
            let (sin, cos) = (direction + turn).sin_cos();
            let _ = write!(path, "M{} {}L{} {}", tip[0], tip[1], tip[0] + cos * head, tip[1] + sin * head);
        }
    }
    twice(&path, "later", 1.0)
}

/// Where pixels count for the deflection, the segments, and the shift under the cursor.
fn deflection(app: &App, camera: &Camera) -> String {
    let at = |[row, col]: [f64; 2]| camera.to_screen([col + 0.5, row + 0.5]);
    let mut svg = String::new();
    if let Some((centre, radius, segments)) = app.com_circle() {
        let mut path = outline(&DetectorShape::Disc { centre, inner: 0.0, outer: radius }, camera);
        for segment in 0..segments {
            let degrees = 360.0 / f64::from(segments) * (f64::from(segment) + 0.5);
            let ([x, y], [to_x, to_y]) = (at(centre), at(polar(centre, radius, degrees)));
            let _ = write!(path, "M{x} {y}L{to_x} {to_y}");
        }
        svg += &twice(&path, "det", LINE);
    }
    if let Some((from, to, _)) = app.com_shift() {
        let ([x, y], [to_x, to_y]) = (at(from), at(to));
        svg += &twice(&format!("M{x} {y}L{to_x} {to_y}M{} {y}h9M{x} {}v9", x - 4.5, y - 4.5), "det", LINE);
        let _ = write!(
            svg,
            "<circle class=\"halo\" cx=\"{to_x}\" cy=\"{to_y}\" r=\"4\" stroke-width=\"3\"/>\
             <circle class=\"det knob\" cx=\"{to_x}\" cy=\"{to_y}\" r=\"3\" stroke-width=\"2\"/>"
        );
    }
    svg
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
            let (h, w) = (height / 2.0, width / 2.0);
            polygon([[-h, -w], [-h, w], [h, w], [h, -w]].into_iter().map(|[down, right]| at([row + down, col + right])))
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
