//! Marks of a plot in SVG, on a scale of its own.

use std::fmt::Write;

/// A plot of values against places; grows by marks.
pub struct Plot {
    body: String,
    height: f64,
    low: f64,
    high: f64,
}

const WIDTH: f64 = 720.0;
const LEFT: f64 = 70.0;
const EDGE: f64 = 22.0;

impl Plot {
    /// For values between those that `values` has.
    pub fn new(height: f64, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let margin = ((high - low) * 0.08).max(high.abs() * 1e-4).max(1e-9);
        Self { body: String::new(), height, low: low - margin, high: high + margin }
    }

    fn y(&self, value: f64) -> f64 {
        EDGE + (self.high - value) / (self.high - self.low) * (self.height - 2.0 * EDGE)
    }

    /// `at` from 0 to 1.
    fn x(at: f64) -> f64 {
        LEFT + at * (WIDTH - LEFT - 10.0)
    }

    /// One reading.
    pub fn dot(&mut self, at: f64, value: f64, class: &str) {
        let _ =
            write!(self.body, r#"<circle class="{class}" cx="{:.1}" cy="{:.1}" r="2.4"/>"#, Self::x(at), self.y(value));
    }

    /// A median: a bar around `at`.
    pub fn bar(&mut self, at: f64, half: f64, value: f64, class: &str) {
        let y = self.y(value);
        let (from, to) = (Self::x(at - half), Self::x(at + half));
        let _ = write!(self.body, r#"<line class="{class}" x1="{from:.1}" x2="{to:.1}" y1="{y:.1}" y2="{y:.1}"/>"#);
    }

    /// What lies between two values.
    pub fn band(&mut self, low: f64, high: f64) {
        let (top, bottom) = (self.y(high), self.y(low));
        let _ = write!(
            self.body,
            r#"<rect class="band" x="{LEFT}" width="{:.1}" y="{top:.1}" height="{:.1}"/>"#,
            WIDTH - LEFT - 10.0,
            (bottom - top).max(0.5)
        );
    }

    /// Words under `at`.
    pub fn label(&mut self, at: f64, text: &str) {
        let (x, y) = (Self::x(at), self.height - 5.0);
        let _ = write!(self.body, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#, escaped(text));
    }

    /// The drawing; `unit` stands at the scale's values.
    pub fn svg(mut self, title: &str, unit: &str) -> String {
        for part in [0.0, 0.5, 1.0] {
            let value = self.low + part * (self.high - self.low);
            let y = self.y(value);
            let _ = write!(
                self.body,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{value:.4} {unit}</text><line class="grid" x1="{LEFT}" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/>"#,
                LEFT - 4.0,
                y + 3.5
            );
        }
        format!(
            r#"<svg viewBox="0 0 {WIDTH} {}" role="img" aria-label="{}">{}</svg>"#,
            self.height,
            escaped(title),
            self.body
        )
    }
}

/// Text inside HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_values_stand_higher_and_words_are_escaped() {
        let mut plot = Plot::new(200.0, [1.0, 3.0].into_iter());
        assert!(plot.y(3.0) < plot.y(1.0) && plot.y(1.0) < 200.0);
        plot.label(0.5, "a<b");
        assert!(plot.svg("t", "ms").contains("a&lt;b"));
    }
}
