//! Time and memory against the number of frames: a table and a plot.

use std::{collections::BTreeMap, fmt::Write};

use super::{measure::Measured, set::Set, table::short};

/// One set and what it came to.
pub struct Point {
    /// Which data: the preset of a benchmark acquisition, else the set's name. Sets of one kind are one line of the
    /// plot.
    pub kind: String,
    pub name: String,
    pub frames: f64,
    pub compressed_gb: f64,
    values: BTreeMap<&'static str, f64>,
}

/// Columns of the table: heading, figure.
const COLUMNS: [(&str, &str); 9] = [
    ("load, ms", "load_ms"),
    ("metadata, ms", "metadata_ms"),
    ("decode passes, ms", "load_decode_ms"),
    ("first image, ms", "first_image_ms"),
    ("resident, GB", "resident_gb"),
    ("mask changed, ms", "mask_change_ms"),
    ("CoM, ms", "com_ms"),
    ("mean pattern, ms", "mean_pattern_ms"),
    ("main-thread block, ms", "main_thread_block_ms"),
];

/// Panels of the plot: heading, the figures drawn in it.
const PANELS: [(&str, &[(&str, &str)]); 2] = [
    ("load and, dashed, virtual image with a changed mask, ms", &[("load_ms", ""), ("mask_change_ms", "4 3")]),
    ("resident, GB", &[("resident_gb", "")]),
];

impl Point {
    /// `None` when no load told how many frames there are.
    pub fn of(set: &Set, measured: &Measured) -> Option<Self> {
        let load = measured.loads.first()?;
        Some(Self {
            kind: set.made_as["preset"].as_str().unwrap_or(&set.name).to_owned(),
            name: set.name.clone(),
            frames: load["frames"].as_f64()?,
            compressed_gb: load["compressedGB"].as_f64()?,
            values: measured.figures.iter().map(|(name, figure)| (*name, figure.median)).collect(),
        })
    }
}

/// One row a set, in Markdown; a figure that was not to be had is a dash.
pub fn table(points: &[Point]) -> String {
    let headings: Vec<&str> = COLUMNS.iter().map(|(heading, _)| *heading).collect();
    let mut text = format!("| data | frames | compressed, GB | {} |\n", headings.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(COLUMNS.len() + 3));
    for point in points {
        let value = |(_, key): &(&str, &str)| point.values.get(key).map_or_else(|| "-".to_owned(), |&v| short(v));
        let values: Vec<String> = COLUMNS.iter().map(value).collect();
        let (kind, frames, gb) = (&point.kind, point.frames, short(point.compressed_gb));
        let _ = writeln!(text, "| {kind} | {frames} | {gb} | {} |", values.join(" | "));
    }
    text
}

/// Size of one panel, and the margins around it, px.
const PANEL: [f64; 2] = [400.0, 300.0];
const MARGIN: [f64; 2] = [70.0, 40.0];
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// The same as SVG: two panels with logarithmic axes, a line for each kind of data. A straight line at 45 degrees
/// is proportional to the number of frames.
pub fn plot(points: &[Point]) -> String {
    let mut kinds: Vec<&str> = points.iter().map(|point| &*point.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let width = PANELS.len() as f64 * (PANEL[0] + MARGIN[0]) + 110.0;
    let height = PANEL[1] + 2.0 * MARGIN[1] + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (i, (heading, series)) in PANELS.iter().enumerate() {
        let left = MARGIN[0] + i as f64 * (PANEL[0] + MARGIN[0]);
        panel(&mut svg, points, &kinds, left, heading, series);
    }
    for (i, (kind, colour)) in kinds.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let (x, y) = (width - 95.0, MARGIN[1] + 15.0 + 18.0 * i as f64);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{}</text>", escaped(kind));
    }
    svg.push_str("</svg>\n");
    svg
}

/// One panel: axes, grid, and a line for each series and kind.
fn panel(svg: &mut String, points: &[Point], kinds: &[&str], left: f64, heading: &str, series: &[(&str, &str)]) {
    let values = series.iter().flat_map(|(key, _)| points.iter().filter_map(|point| point.values.get(key)));
    let (across, up) = (Axis::of(points.iter().map(|point| point.frames)), Axis::of(values.copied()));
    let (bottom, top) = (MARGIN[1] + PANEL[1], MARGIN[1]);
    let x = |value: f64| left + PANEL[0] * across.part(value);
    let y = |value: f64| bottom - PANEL[1] * up.part(value);
    for tick in across.ticks() {
        let x = x(tick);
        let _ = writeln!(svg, "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>", bottom + 16.0);
    }
    for tick in up.ticks() {
        let y = y(tick);
        let _ = writeln!(svg, "<path d=\"M{left} {y:.1}h{}\" stroke=\"#ddd\"/>", PANEL[0]);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>", left - 6.0, y + 4.0);
    }
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"{:.1}\" font-weight=\"bold\">{heading}</text>", top - 10.0);
    let middle = left + PANEL[0] / 2.0;
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">frames</text>", bottom + 34.0);
    for (key, dash) in series {
        for (kind, colour) in kinds.iter().zip(COLOURS.iter().cycle()) {
            let of_kind = points.iter().filter(|point| &*point.kind == *kind);
            let mut places: Vec<(f64, f64)> =
                of_kind.filter_map(|point| Some((point.frames, *point.values.get(key)?))).collect();
            places.sort_by(|a, b| a.0.total_cmp(&b.0));
            let corners: Vec<String> = places.iter().map(|&(a, b)| format!("{:.1},{:.1}", x(a), y(b))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-dasharray=\"{dash}\"/>",
                corners.join(" ")
            );
            for (a, b) in places {
                let (x, y) = (x(a), y(b));
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{} {}: {a} frames, {}</title></circle>",
                    escaped(kind),
                    key,
                    short(b)
                );
            }
        }
    }
}

/// A logarithmic axis over whole decades.
struct Axis {
    low: i32,
    high: i32,
}

impl Axis {
    /// Over these values; those that have no logarithm are left out.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let logarithms: Vec<f64> = values.filter(|&value| value > 0.0).map(f64::log10).collect();
        let low = logarithms.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let high = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil();
        if low > high {
            return Self { low: 0, high: 1 };
        }
        Self { low: low as i32, high: (high as i32).max(low as i32 + 1) }
    }

    /// Where a value lies, 0 to 1.
    fn part(&self, value: f64) -> f64 {
        ((value.max(f64::MIN_POSITIVE).log10() - f64::from(self.low)) / f64::from(self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.low..=self.high).map(|decade| 10f64.powi(decade))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(kind: &str, frames: f64, load_ms: f64) -> Point {
        let values = [("load_ms", load_ms), ("resident_gb", frames / 1e5)].into();
        Point { kind: kind.to_owned(), name: String::new(), frames, compressed_gb: 1.0, values }
    }

    #[test]
    fn time_in_proportion_to_frames_is_a_straight_line() {
        let svg = plot(&[point("seed", 1e4, 10.0), point("seed", 1e6, 1000.0), point("seed", 1e5, 100.0)]);
        // Left edge and bottom to right edge and top, through the middle, in the order of frames.
        assert!(svg.contains("points=\"70.0,340.0 270.0,190.0 470.0,40.0\""), "{svg}");
    }

    #[test]
    fn a_figure_that_was_not_measured_is_a_dash_and_no_point() {
        let text = table(&[point("a<b", 16384.0, 12.5)]);
        assert!(text.contains("| a<b | 16384 | 1.000 | 12.5 | - |"), "{text}");
        let svg = plot(&[point("a<b", 16384.0, 12.5)]);
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert!(svg.contains(">a&lt;b</text>"), "{svg}");
    }
}
