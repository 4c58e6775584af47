//! The deflection of the beam: which questions make it, its pictures, its rotation against the scan, and what is said
//! of it.

use std::rc::Rc;

use super::{
    App,
    entry::{self, Length},
    event::{Ask, Entry},
    open_set::{OpenSet, Want},
    state::{About, ComSource, OrientationFrom, Product, ViewState},
    words::{Row, Tone},
};
use crate::{
    Error, Kind,
    acquisition::counted,
    display::{Field, value},
    products::{
        Deflection, DetectorShape, Integration, Orientation,
        deflection::{AngleCurve, Found, folded_whole},
        find_orientation, segments,
    },
};

impl OpenSet {
    /// The question from which the deflection is made; `None` while the disc that it needs is not known.
    pub(super) fn want_source(&self, state: &ViewState) -> Option<Want> {
        let within = state.com.within;
        let circle = |times: f64| {
            state.disc.map(|disc| DetectorShape::Disc { centre: disc.centre, inner: 0.0, outer: times * disc.radius })
        };
        match (state.com.source, within) {
            (ComSource::Pixels, None) => Some(Want::Moments { within: None, version: self.version }),
            (ComSource::Pixels, Some(times)) => {
                Some(Want::Moments { within: Some(circle(times)?), version: self.version })
            }
            (ComSource::Segments(n), times) => {
                Some(Want::Segments { ring: circle(times.unwrap_or(1.0))?, n, version: self.version })
            }
        }
    }

    /// The question for the phase, once its source is answered.
    pub(super) fn want_phase(&self, source: Want, state: &ViewState) -> Want {
        let (orientation, how) = (state.com.orientation, state.com.integration);
        let about = self.about(state).unwrap_or_default();
        Want::Phase { source: Box::new(source), scan: self.shape(), about, orientation, how }
    }

    pub(super) fn ask_phase(&self, about: [f64; 2], orientation: Orientation, how: Integration) -> Option<Ask> {
        let field = Deflection::of(self.centres.as_ref()?, self.shape(), about).turned(orientation);
        Some(Ask::Phase(Rc::new(field), how))
    }

    /// The pixels of a segment question, as shown.
    pub(super) fn segments(&self, ring: &DetectorShape, n: u8) -> Vec<crate::engine::PixelSet> {
        let DetectorShape::Disc { centre, outer, .. } = ring else { return Vec::new() };
        segments::segments(*centre, *outer, n, self.detector())
    }

    /// What counts as no deflection, [row, column].
    pub fn about(&self, state: &ViewState) -> Option<[f64; 2]> {
        if state.com.source != ComSource::Pixels && state.com.about != About::Scan {
            return Some([0.0; 2]);
        }
        match state.com.about {
            About::Scan => self.scan_mean,
            About::Disc => Some(state.disc?.centre),
            About::Centre(centre) => Some(centre),
        }
    }

    /// The deflection along the scan's axes, detector px.
    pub fn deflection(&self, state: &ViewState) -> Option<Deflection> {
        let about = self.about(state).unwrap_or_default();
        Some(Deflection::of(self.centres.as_ref()?, self.shape(), about).turned(state.com.orientation))
    }

    /// The picture of a product of the deflection.
    pub(super) fn deflection_field(&self, product: Product, state: &ViewState) -> Option<Field> {
        let (factor, unit) = self.measures(state).deflection(product, state.com.source);
        let mut direction = Vec::new();
        let values = match product {
            Product::Phase => self.phase.as_ref()?.1.clone(),
            _ => {
                let deflection = self.deflection(state)?;
                match product {
                    Product::ComX => deflection.x,
                    Product::ComY => deflection.y,
                    Product::Divergence => deflection.divergence(),
                    Product::Curl => deflection.curl(),
                    Product::Com => {
                        let angle = |angle: f64| if angle.is_nan() { 0.0 } else { angle as f32 };
                        direction = deflection.direction().into_iter().map(angle).collect();
                        deflection.magnitude()
                    }
                    _ => deflection.magnitude(),
                }
            }
        };
        let valid = self.deflection_valid();
        let known = |frame: usize| valid.get(frame) == Some(&1);
        let field = super::pictures::scan_field(self.shape(), self.states(), false, |frame| {
            known(frame).then(|| values.get(frame).map_or(f64::NAN, |value| factor * value))
        });
        Some(Field { unit: unit.to_owned(), direction, ..field })
    }

    fn deflection_valid(&self) -> &[u8] {
        let of_segments = self.segments.as_ref().and_then(|(_, sums)| sums.first()).map(|first| first.valid.as_slice());
        let of_moments = self.moments.as_ref().map(|(_, moments)| moments.valid.as_slice());
        (if self.deflection_is_of_segments { of_segments } else { of_moments }).unwrap_or_default()
    }
}

impl App {
    /// Everything made of the deflection is to be made anew.
    pub(super) fn deflection_has_changed(&mut self) {
        self.stale.image |= self.state.product.is_com();
        self.stale.thumbs.extend(Product::DEFLECTION);
    }

    pub(super) fn set_source(&mut self, source: ComSource) {
        self.state.com.source = source;
        self.deflection_has_changed();
    }

    pub(super) fn set_about(&mut self, place: u32) {
        let Some(set) = &self.set else { return };
        let disc = self.state.disc.map(|disc| disc.centre);
        let mean = set.scan_mean.filter(|_| self.state.com.source == ComSource::Pixels);
        self.state.com.about = match place {
            0 => About::Scan,
            1 => About::Disc,
            _ => About::Centre(mean.or(disc).unwrap_or_default()),
        };
        self.deflection_has_changed();
    }

    pub(super) fn set_angle(&mut self, angle: f64) {
        self.state.com.orientation.angle = folded_whole(angle);
        self.state.com.orientation_from = OrientationFrom::Entered;
        self.deflection_has_changed();
    }

    pub(super) fn transpose(&mut self, transposed: bool) {
        self.state.com.orientation.transposed = transposed;
        self.state.com.orientation_from = OrientationFrom::Entered;
        self.deflection_has_changed();
    }

    /// Takes the rotation that leaves least curl.
    pub(super) fn find_rotation(&mut self) {
        self.rotation_is_due = self.set.as_ref().is_some_and(|set| set.centres.is_none());
        if self.rotation_is_due {
            // Asked for with the shelf; the answer brings it about.
            return;
        }
        match self.found_orientation() {
            Some(found) => {
                self.state.com.orientation = found.orientation;
                self.state.com.orientation_from = OrientationFrom::LeastCurl;
                self.deflection_has_changed();
            }
            None => self.tell(
                Error::new(Kind::File, "no_rotation", "No rotation can be told")
                    .at("the deflection map")
                    .expected("deflections that differ from place to place")
                    .found("every angle leaves as much curl")
                    .action("Type the angle"),
            ),
        }
    }

    /// What the deflection of now says of the rotation.
    fn found_orientation(&self) -> Option<Found> {
        let set = self.set.as_ref()?;
        find_orientation(&Deflection::of(set.centres.as_ref()?, set.shape(), [0.0; 2]))
    }

    /// How curl and divergence depend on the angle, for the handedness of now.
    pub fn angle_curve(&self) -> Option<AngleCurve> {
        let set = self.set.as_ref()?;
        let centres = set.centres.as_ref()?;
        let transposed = self.state.com.orientation.transposed;
        let of = (set.id, set.deflection_serial, set.shape(), transposed);
        if let Some((_, curve)) = self.curve_of_now.get().filter(|(known, _)| *known == of) {
            return Some(curve);
        }
        let field = Deflection::of(centres, set.shape(), [0.0; 2]);
        let curve = AngleCurve::of(&field.turned(Orientation { angle: 0.0, transposed }));
        self.curve_of_now.set(Some((of, curve)));
        Some(curve)
    }

    /// The sentence under the curve.
    pub fn rotation_words(&self, curve: &AngleCurve) -> String {
        let Some(least) = curve.least() else { return "Every angle leaves as much curl.".into() };
        let other = folded_whole(least + 180.0);
        let (a, b) = (degrees(least), degrees(other));
        let with_sign = match self.state.com.orientation_from {
            OrientationFrom::LeastCurl => {
                format!(" The divergence is most negative at atoms for {}.", degrees(self.state.com.orientation.angle))
            }
            _ => String::new(),
        };
        format!("Curl is least at {a} or {b}.{with_sign}")
    }

    /// The grey line beside a product of the deflection.
    pub(super) fn deflection_line(&self) -> String {
        let com = self.state.com;
        let about = match com.about {
            About::Scan => "about the scan mean",
            About::Disc => "about the disc’s centre",
            About::Centre(_) => "about the set centre",
        };
        let turned = match com.orientation {
            Orientation { angle: 0.0, transposed: false } => String::new(),
            Orientation { angle, transposed: false } => format!(", turned {}", degrees(angle)),
            Orientation { angle, transposed: true } => format!(", transposed, turned {}", degrees(angle)),
        };
        let unit = self.measures().deflection(self.state.product, com.source).1;
        let unit = if unit.is_empty() { String::new() } else { format!("{unit}, ") };
        format!("{unit}{about}{turned}")
    }

    pub fn com_rows(&self) -> Vec<Row> {
        let Some(set) = &self.set else { return Vec::new() };
        let Some(centres) = &set.centres else { return Vec::new() };
        let mut rows = Vec::new();
        let is_com = self.state.com.source == ComSource::Pixels;
        match set.scan_mean {
            Some([row, col]) if is_com => {
                rows.push(Row::new("Scan mean", format!("{}, {}\u{202f}px", value(col), value(row))));
            }
            Some([row, col]) => rows.push(Row::new("Scan mean", format!("{}, {}", value(col), value(row)))),
            None => rows.push(Row::new("Scan mean", "no counts")),
        }
        let valid = set.deflection_valid();
        let empty = centres.row.iter().zip(valid).filter(|(row, valid)| **valid == 1 && row.is_nan()).count();
        if empty > 0 {
            rows.push(Row::new("No counts in", counted(empty as u64, "pattern")).tone(Tone::Warning));
        }
        rows
    }

    /// On the pattern: from what counts as no deflection to the centre of mass under the cursor, and how many times
    /// longer than it is the line is drawn.
    pub fn com_shift(&self) -> Option<([f64; 2], [f64; 2], f64)> {
        let set = self.set.as_ref()?;
        if !self.state.product.is_com() || self.state.com.source != ComSource::Pixels {
            return None;
        }
        let (_, moments) = set.moments.as_ref()?;
        let frame = set.place_of(set.cursor(&self.state)) as usize;
        let at = crate::products::centre_of_mass::position(moments, frame, set.signed())?;
        let from = set.about(&self.state)?;
        let length = (at[0] - from[0]).hypot(at[1] - from[1]);
        let reach = 0.25 * f64::from(set.detector().rows.min(set.detector().cols));
        let times = [1000.0, 500.0, 200.0, 100.0, 50.0, 20.0, 10.0, 5.0, 2.0];
        let times = times.into_iter().find(|times| times * length <= reach).unwrap_or(1.0);
        Some((from, [0, 1].map(|axis| from[axis] + times * (at[axis] - from[axis])), times))
    }

    /// The circle within which pixels count, and its segments; `None`: all pixels.
    pub fn com_circle(&self) -> Option<([f64; 2], f64, u8)> {
        let disc = self.state.disc.filter(|_| self.state.product.is_com())?;
        match (self.state.com.source, self.state.com.within) {
            (ComSource::Pixels, None) => None,
            (ComSource::Pixels, Some(times)) => Some((disc.centre, times * disc.radius, 0)),
            (ComSource::Segments(n), times) => Some((disc.centre, times.unwrap_or(1.0) * disc.radius, n)),
        }
    }

    /// A setting of the deflection's cards as typed.
    pub(super) fn enter_deflection(&mut self, field: Entry, text: &str) -> Result<(), String> {
        match field {
            Entry::Angle => self.set_angle(entry::angle(text)?),
            Entry::Within => {
                let units = self.detector_units();
                let radius = units.alpha_px;
                self.state.com.within = match text.trim().to_lowercase().as_str() {
                    "" | "all" | "all pixels" => None,
                    typed => {
                        let alpha = radius.ok_or("the disc is not known yet")?;
                        let px = if typed.chars().all(|c| c.is_ascii_digit() || c == '.') {
                            units.length_px(&format!("{typed} α"))?
                        } else {
                            units.length_px(typed)?
                        };
                        if px <= 0.0 {
                            return Err("a radius is above 0; “all” takes every pixel".into());
                        }
                        Some(px / alpha)
                    }
                };
            }
            Entry::ComX | Entry::ComY => {
                let px = entry::position_px(text)?;
                if let About::Centre([row, col]) = &mut self.state.com.about {
                    *(if field == Entry::ComX { col } else { row }) = px;
                }
            }
            Entry::HighPass => self.state.com.integration.high_pass = self.scan_length(text)?,
            _ => self.state.com.integration.regularisation = self.scan_length(text)?,
        }
        self.deflection_has_changed();
        Ok(())
    }

    /// Steps of the scan; "off" is 0.
    fn scan_length(&self, text: &str) -> Result<f64, String> {
        if matches!(text.trim().to_lowercase().as_str(), "" | "off") {
            return Ok(0.0);
        }
        let step = self.measures().step_nm;
        match entry::length(text)? {
            Length::Bare(number) => Ok(number / step.unwrap_or(1.0)),
            Length::Px(number) => Ok(number),
            Length::Nm(nm) => Ok(nm / step.ok_or("the step is not known: type px")?),
        }
    }

    /// A length of the scan as its field shows it.
    pub fn scan_length_text(&self, steps: f64) -> String {
        if steps == 0.0 { "off".into() } else { value(steps * self.measures().step_nm.unwrap_or(1.0)) }
    }
}

/// "−12.4°".
pub fn degrees(angle: f64) -> String {
    let text = format!("{:.1}°", angle.abs());
    if angle < 0.0 && text != "0.0°" { format!("−{text}") } else { text }
}
