//! Parts of the scan and lines over it, and what is told of them: figures, profiles, the transform of the image.

use std::rc::Rc;

use super::{
    App,
    detector::{self, Grip},
    entry,
    event::{Ask, Effect, Entry, Lane},
    open_set::Want,
    state::{Analysis, FftOf, Line, PatternOf, Product, ScanTool},
    user::{Held, LineEnd},
    words::Row,
};
use crate::{
    display::{Cell, Field, count, count_signed, value},
    export::csv,
    products::{
        DetectorShape,
        profile::{Ring, along, figures, radial},
    },
    shape::Detector,
};

/// A curve over a length.
pub struct Curve {
    /// Length of one step, and its unit.
    pub step: f64,
    pub unit: &'static str,
    pub values: Vec<f64>,
    pub value_unit: String,
    pub is_log: bool,
    /// A part of the axis, from and to, in steps: the detector.
    pub band: Option<[f64; 2]>,
}

impl App {
    /// A tool that was chosen brings its part or line with it, in the middle, where there is none yet.
    pub(super) fn start_tool(&mut self) {
        let Some(set) = &self.set else { return };
        let scan = set.shape();
        let centre = [f64::from(scan.rows.max(1) - 1) / 2.0, f64::from(scan.cols.max(1) - 1) / 2.0];
        let reach = f64::from(scan.rows.min(scan.cols)) / 6.0;
        let disc = DetectorShape::Disc { centre, inner: 0.0, outer: reach };
        let of = self.state.region.clone().unwrap_or(disc);
        match self.state.tool {
            ScanTool::Cursor => {}
            ScanTool::Disc => self.set_region(detector::as_disc(&of)),
            ScanTool::Rect => self.set_region(detector::as_rect(&of)),
            ScanTool::Polygon => self.set_region(detector::as_polygon(&of)),
            ScanTool::Line => {
                let line = Line {
                    from: [centre[0], centre[1] - 2.0 * reach],
                    to: [centre[0], centre[1] + 2.0 * reach],
                    width: 1,
                };
                self.state.line = self.state.line.or(Some(line));
                self.state.analysis = Analysis::Line;
            }
        }
        if matches!(self.state.tool, ScanTool::Disc | ScanTool::Rect | ScanTool::Polygon) {
            if self.state.pattern == PatternOf::Cursor {
                self.state.pattern = PatternOf::Mean;
            }
            self.state.analysis = Analysis::Figures;
        }
        self.stale.pattern = true;
    }

    pub(super) fn set_region(&mut self, shape: DetectorShape) {
        let Some(set) = &self.set else { return };
        let scan = set.shape();
        self.state.region = Some(detector::held_to(shape, Detector { rows: scan.rows, cols: scan.cols }));
        self.stale.pattern = true;
    }

    /// What a press in the image takes hold of, by its tool; `reach` in positions.
    pub(super) fn press_in_image(&self, at: [f64; 2], reach: f64) -> Option<Held> {
        match (self.state.tool, &self.state.region, self.state.line) {
            (ScanTool::Cursor, ..) => Some(Held::Cursor),
            (ScanTool::Line, _, Some(line)) => {
                let apart = |end: [f64; 2]| (end[0] - at[0]).hypot(end[1] - at[1]);
                let end = match () {
                    () if apart(line.from) <= reach => LineEnd::From,
                    () if apart(line.to) <= reach => LineEnd::To,
                    () => LineEnd::Whole,
                };
                Some(Held::Line { line, end, from: at })
            }
            (_, Some(shape), _) => {
                let grip = detector::grip_at(shape, at, reach).unwrap_or(Grip::Body);
                // A press beside the part brings it there.
                let is_beside = grip == Grip::Body && detector::grip_at(shape, at, reach).is_none();
                let shape = match detector::centre_of(shape).filter(|_| is_beside) {
                    Some(centre) => shape.moved([at[0] - centre[0], at[1] - centre[1]]),
                    None => shape.clone(),
                };
                Some(Held::Region { grip, shape, from: at })
            }
            _ => Some(Held::Cursor),
        }
    }

    /// `constrained`: in steps of 45 degrees.
    pub(super) fn drag_line(&mut self, line: Line, end: LineEnd, from: [f64; 2], to: [f64; 2], constrained: bool) {
        let by = [to[0] - from[0], to[1] - from[1]];
        let moved = |at: [f64; 2]| [at[0] + by[0], at[1] + by[1]];
        let straight = |fixed: [f64; 2], free: [f64; 2]| {
            if !constrained {
                return free;
            }
            let (down, right) = (free[0] - fixed[0], free[1] - fixed[1]);
            let eighth = std::f64::consts::FRAC_PI_4;
            let turn = (down.atan2(right) / eighth).round() * eighth;
            let length = down.hypot(right);
            [fixed[0] + length * turn.sin(), fixed[1] + length * turn.cos()]
        };
        self.state.line = Some(match end {
            LineEnd::From => Line { from: straight(line.to, moved(line.from)), ..line },
            LineEnd::To => Line { to: straight(line.from, moved(line.to)), ..line },
            LineEnd::Whole => Line { from: moved(line.from), to: moved(line.to), ..line },
        });
    }

    /// A number of the part or of the line, as typed.
    pub(super) fn enter_region(&mut self, field: Entry, text: &str) -> Result<(), String> {
        if let Some(line) = &mut self.state.line {
            match field {
                Entry::LineFrom => line.from = entry::place(text)?,
                Entry::LineTo => line.to = entry::place(text)?,
                Entry::LineWidth => {
                    let width = entry::position_px(text)?.round();
                    if !(1.0..=1e4).contains(&width) {
                        return Err("a width is 1 or more positions".into());
                    }
                    line.width = width as u32;
                }
                _ => {}
            }
        }
        let Some(mut shape) = self.state.region.clone() else { return Ok(()) };
        let centre = detector::centre_of(&shape).unwrap_or_default();
        match field {
            Entry::RegionX => shape = shape.moved([0.0, entry::position_px(text)? - centre[1]]),
            Entry::RegionY => shape = shape.moved([entry::position_px(text)? - centre[0], 0.0]),
            Entry::RegionWidth | Entry::RegionHeight => {
                let size = entry::position_px(text)?;
                if size < 0.0 {
                    return Err("a size is not negative".into());
                }
                match &mut shape {
                    DetectorShape::Disc { outer, .. } => *outer = size / 2.0,
                    DetectorShape::Rect { width, .. } if field == Entry::RegionWidth => *width = size,
                    DetectorShape::Rect { height, .. } => *height = size,
                    _ => {}
                }
            }
            Entry::RegionCorners => {
                let corners = entry::corners(text)?;
                if let DetectorShape::Polygon { points } = &mut shape {
                    *points = corners;
                }
            }
            _ => return Ok(()),
        }
        self.set_region(shape);
        Ok(())
    }

    // ---- what is told ----

    /// Means over rings of the pattern that is shown, about the disc's centre.
    pub fn radial(&self) -> Option<(Curve, Vec<Ring>)> {
        let (shown, disc) = (self.pattern.as_ref()?, self.state.disc?);
        let known = self.rings.take().filter(|known| (known.0, known.1) == (shown.serial, disc.centre));
        let rings = known.map_or_else(|| radial(&shown.field, disc.centre), |known| known.2);
        self.rings.replace(Some((shown.serial, disc.centre, rings.clone())));
        let (step, unit) = self.measures().mrad_per_px.map_or((1.0, "px"), |mrad| (mrad, "mrad"));
        let band = match self.detector_shape() {
            Some((DetectorShape::Disc { outer, .. }, false)) => Some([0.0, outer]),
            Some((DetectorShape::Annulus { inner, outer, .. } | DetectorShape::Wedge { inner, outer, .. }, false)) => {
                Some([inner, outer])
            }
            _ => None,
        };
        let values = rings.iter().map(|ring| ring.mean).collect();
        Some((Curve { step, unit, values, value_unit: "counts per px".into(), is_log: true, band }, rings))
    }

    /// Values of the image along the line.
    pub fn line_curve(&self) -> Option<Curve> {
        let (shown, line) = (self.image.as_ref()?, self.state.line?);
        let values = along(&shown.field, line.from, line.to, line.width);
        let (step, unit) = self.measures().step_nm.map_or((1.0, "px"), |nm| (nm, "nm"));
        let value_unit = if shown.field.counts { "counts".to_owned() } else { shown.field.unit.clone() };
        Some(Curve { step, unit, values, value_unit, is_log: false, band: None })
    }

    /// Figures of the image within the part; of all of it without one.
    pub fn figure_rows(&self) -> Vec<Row> {
        let (Some(shown), Some(set)) = (&self.image, &self.set) else { return Vec::new() };
        let field = &shown.field;
        let region = &self.state.region;
        let mut kept = self.figures_of_now.borrow_mut();
        if !kept.as_ref().is_some_and(|(serial, of, _)| *serial == shown.serial && of == region) {
            let part = region.as_ref().map(|shape| set.region_set(shape));
            *kept = Some((shown.serial, region.clone(), figures(field, part.as_ref())));
        }
        let of = if region.is_some() { "of the region" } else { "of all" };
        let Some(found) = kept.as_ref().and_then(|(.., found)| *found) else { return vec![Row::new("Values", "none")] };
        let unit = if field.counts { "counts" } else { field.unit.as_str() };
        let whole = |v: f64| if field.counts { count_signed(v as i64) } else { value(v) };
        vec![
            Row::new("Values", count(found.values.into())).remark(of),
            Row::new("Sum", whole(found.sum)).remark(unit),
            Row::new("Mean", value(found.mean)).remark(unit),
            Row::new("Deviation", value(found.deviation)).remark(unit),
            Row::new("Least", whole(found.least)).remark(unit),
            Row::new("Most", whole(found.most)).remark(unit),
        ]
    }

    /// Asks for the transform while it is shown.
    pub(super) fn ask_spectrum(&mut self, effects: &mut Vec<Effect>) {
        let of = self.state.fft_of;
        let is_of_colours = of == FftOf::Image && self.state.product == Product::Com;
        if self.state.analysis != Analysis::Fft || is_of_colours || self.hold.is_some() {
            return;
        }
        let shown = if of == FftOf::Image { &self.image } else { &self.pattern };
        let (Some(shown), Some(set)) = (shown, &mut self.set) else { return };
        if !set.ask_spectrum(shown.serial, of, self.now_ms) {
            return;
        }
        let value = |value: f64| if of == FftOf::Cepstrum { value.max(0.0).ln_1p() } else { value };
        let known = |(number, cell): (&f64, &Cell)| if *cell == Cell::Value { value(*number) } else { f64::NAN };
        let values = shown.field.values.iter().zip(&shown.field.cells).map(known).collect();
        let ask = Ask::Spectrum { values: Rc::new(values), rows: shown.field.rows, cols: shown.field.cols };
        effects.push(Effect::Ask { set_id: set.id, lane: Lane::Analysis, ask });
    }

    /// The number of the picture of which there is a transform, and what was transformed.
    pub fn spectrum_serial(&self) -> Option<(u32, FftOf)> {
        match self.set.as_ref()?.spectrum.as_ref()? {
            (Want::Spectrum(serial, of), _) => Some((*serial, *of)),
            _ => None,
        }
    }

    /// Rows and columns of what is transformed.
    pub fn fft_size(&self) -> Option<[u32; 2]> {
        let field = &self.shown(self.state.fft_of.panel())?.field;
        Some([field.rows, field.cols])
    }

    /// The transform, logarithmic.
    pub fn spectrum(&self) -> Option<Field> {
        let (set, shown) = (self.set.as_ref()?, self.shown(self.state.fft_of.panel())?);
        let (Want::Spectrum(_, of), sizes) = set.spectrum.as_ref()? else { return None };
        if *of != self.state.fft_of {
            return None;
        }
        let (rows, cols) = (shown.field.rows, shown.field.cols);
        if sizes.len() != (rows * cols) as usize {
            return None;
        }
        let values: Vec<f64> = sizes.iter().map(|size| size.ln_1p()).collect();
        Some(Field { rows, cols, cells: vec![Cell::Value; values.len()], values, ..Field::default() })
    }

    /// What a place of the transform stands for, [row, column] from its middle: spacing and direction.
    pub fn spacing(&self, [row, col]: [f64; 2]) -> Option<String> {
        let [rows, cols] = self.fft_size()?;
        let (fy, fx) = (row / f64::from(rows), col / f64::from(cols));
        let frequency = fy.hypot(fx);
        if frequency == 0.0 {
            return None;
        }
        let (steps, direction) = (1.0 / frequency, super::deflection::degrees(fy.atan2(fx).to_degrees()));
        if self.state.fft_of != FftOf::Image {
            // Periods in the pattern are inverse lengths: what is this far apart in the sample makes them.
            let length = self.measures().per_nm_per_px().map(|per_nm| super::words::step_words(frequency / per_nm));
            let length = length.map_or(String::new(), |length| format!("d {length}, "));
            return Some(format!("{length}period {} at {direction}", self.detector_length(steps)));
        }
        let spacing = match self.measures().step_nm {
            Some(nm) => super::words::step_words(steps * nm),
            None => format!("{}\u{202f}px", value(steps)),
        };
        Some(format!("d {spacing} at {direction}"))
    }

    /// What the analysis shows, as a table; `None` where that is no curve.
    pub fn table(&self) -> Option<crate::export::File> {
        let stem = self.export_stem(super::Panel::Image);
        let (name, text) = match self.state.analysis {
            Analysis::Radial => {
                let (curve, rings) = self.radial()?;
                let head = [format!("r/{}", curve.unit), "mean counts per px".into(), "pixels".into()];
                let per_nm = self.measures().per_nm_per_px();
                let mut head: Vec<&str> = head.iter().map(String::as_str).collect();
                head.extend(per_nm.map(|_| "k/(1/A)"));
                let lines = rings.iter().enumerate().map(|(n, ring)| {
                    let mut line = vec![n as f64 * curve.step, ring.mean, ring.pixels.into()];
                    line.extend(per_nm.map(|per_nm| n as f64 * per_nm / 10.0));
                    line
                });
                ("radial", csv::table(&head, lines))
            }
            Analysis::Line => {
                let curve = self.line_curve()?;
                let (place, of) = (format!("s/{}", curve.unit), format!("value/{}", curve.value_unit));
                let lines = curve.values.iter().enumerate().map(|(n, value)| vec![n as f64 * curve.step, *value]);
                ("line", csv::table(&[&place, &of], lines))
            }
            Analysis::Fft | Analysis::Figures => return None,
        };
        let name = format!("{stem}_{name}.csv");
        Some(crate::export::File { name, mime: "text/csv", bytes: text.into_bytes() })
    }
}
