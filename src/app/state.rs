//! The whole view as plain data: what automation sets, and what the URL hash holds.
//!
//! Positions are [row, col]; detector positions in px with pixel centres at whole numbers.

use serde::{Deserialize, Serialize};

use super::{command::Panel, series::SeriesView};
use crate::{
    display::{ColourMap, Limits, Lut, Scale},
    products::{DetectorShape, Disc, Flip, Integration, Orientation, ScanOrder},
};

/// Everything that decides what is shown, data aside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ViewState {
    pub product: Product,
    /// The detector of [`Product::Custom`]; `None` until something was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom: Option<DetectorShape>,
    /// The detector is everything outside its shape.
    #[serde(skip_serializing_if = "is_default")]
    pub inverted: bool,
    /// The bright-field disc; presets scale with it. `None` until it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disc: Option<Disc>,
    /// Scan position whose pattern is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<[u32; 2]>,
    pub pattern: PatternOf,
    /// Scan shape as entered, [rows, cols]; `None`: as the files say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<[u32; 2]>,
    /// Which pattern belongs to which position.
    #[serde(skip_serializing_if = "is_default")]
    pub order: ScanOrder,
    /// How patterns are shown, compared with how they are stored; all detector positions are those shown.
    #[serde(skip_serializing_if = "is_default")]
    pub flip: Flip,
    /// Hot pixels, as found in the sum of all patterns, count nowhere.
    #[serde(skip_serializing_if = "is_default")]
    pub exclude_hot: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub com: Com,
    /// The panel that takes the place of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximised: Option<Panel>,
    #[serde(skip_serializing_if = "is_default")]
    pub image_smoothing: Smoothing,
    #[serde(skip_serializing_if = "is_default")]
    pub pattern_smoothing: Smoothing,
    /// The order in which patterns are played.
    #[serde(skip_serializing_if = "is_default")]
    pub play: PlayOrder,
    /// What a press in the image does.
    #[serde(skip_serializing_if = "is_default")]
    pub tool: ScanTool,
    /// A part of the scan, positions as those of a detector: its patterns are added, its values are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<DetectorShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    #[serde(skip_serializing_if = "is_default")]
    pub analysis: Analysis,
    /// What is transformed.
    #[serde(skip_serializing_if = "is_default")]
    pub fft_of: FftOf,
    /// Scales as entered; what is not entered is as the files say.
    #[serde(skip_serializing_if = "is_default")]
    pub scales: Scales,
    #[serde(skip_serializing_if = "is_default")]
    pub looks: Looks,
    #[serde(skip_serializing_if = "is_default")]
    pub image_view: Zoom,
    #[serde(skip_serializing_if = "is_default")]
    pub pattern_view: Zoom,
    #[serde(skip_serializing_if = "is_default")]
    pub overlays: Overlays,
    /// How several sets are shown together.
    #[serde(skip_serializing_if = "is_default")]
    pub series: SeriesView,
}

/// What the image shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    #[default]
    Bf,
    Abf,
    Adf,
    Haadf,
    Df,
    Custom,
    Sum,
    /// Standard deviation of a pattern's counts within the custom detector; of all without one.
    Std,
    Variance,
    /// Deflection as colour: hue is the direction, lightness the size.
    Com,
    ComX,
    ComY,
    /// Size of the deflection.
    ComSize,
    /// The phase whose gradient the deflection is.
    Phase,
    Divergence,
    Curl,
}

impl Product {
    /// In the order of the shelf.
    pub const ALL: [Self; 16] = [
        Self::Bf,
        Self::Abf,
        Self::Adf,
        Self::Haadf,
        Self::Df,
        Self::Custom,
        Self::Sum,
        Self::Std,
        Self::Variance,
        Self::Com,
        Self::ComX,
        Self::ComY,
        Self::ComSize,
        Self::Phase,
        Self::Divergence,
        Self::Curl,
    ];

    /// Those that are made of the deflection of the beam.
    pub const DEFLECTION: [Self; 7] =
        [Self::Com, Self::ComX, Self::ComY, Self::ComSize, Self::Phase, Self::Divergence, Self::Curl];

    /// Those that are made of the spread of a pattern's counts.
    pub const SPREAD: [Self; 2] = [Self::Std, Self::Variance];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bf => "BF",
            Self::Abf => "ABF",
            Self::Adf => "ADF",
            Self::Haadf => "HAADF",
            Self::Df => "DF",
            Self::Custom => "Custom",
            Self::Sum => "Sum",
            Self::Std => "Std",
            Self::Variance => "Var",
            Self::Com => "CoM",
            Self::ComX => "CoM x",
            Self::ComY => "CoM y",
            Self::ComSize => "|CoM|",
            Self::Phase => "iCoM",
            Self::Divergence => "Div",
            Self::Curl => "Curl",
        }
    }

    /// The name where the deflection comes from `source`.
    pub fn name_from(self, source: ComSource) -> &'static str {
        match (self, source) {
            (Self::Com, ComSource::Segments(_)) => "DPC",
            (Self::ComX, ComSource::Segments(_)) => "DPC x",
            (Self::ComY, ComSource::Segments(_)) => "DPC y",
            (Self::ComSize, ComSource::Segments(_)) => "|DPC|",
            (Self::Phase, ComSource::Segments(_)) => "iDPC",
            _ => self.name(),
        }
    }

    /// Whether it is made of the deflection of the beam.
    pub fn is_com(self) -> bool {
        Self::DEFLECTION.contains(&self)
    }

    /// Whether it is made of the spread of a pattern's counts.
    pub fn is_spread(self) -> bool {
        Self::SPREAD.contains(&self)
    }

    /// Which look it is drawn with.
    pub fn family(self) -> Family {
        match self {
            Self::ComX | Self::ComY | Self::Divergence | Self::Curl => Family::Signed,
            Self::ComSize | Self::Std | Self::Variance => Family::Magnitude,
            Self::Com => Family::Colour,
            Self::Phase => Family::Phase,
            _ => Family::Image,
        }
    }
}

/// What the pattern panel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PatternOf {
    #[default]
    Cursor,
    Mean,
    Sum,
    Max,
    /// Standard deviation of every pixel over the patterns.
    Std,
    Variance,
}

impl PatternOf {
    pub const ALL: [Self; 6] = [Self::Cursor, Self::Mean, Self::Sum, Self::Max, Self::Std, Self::Variance];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cursor => "At cursor",
            Self::Mean => "Mean",
            Self::Sum => "Sum",
            Self::Max => "Maximum",
            Self::Std => "Std deviation",
            Self::Variance => "Variance",
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Cursor => Self::Mean,
            Self::Mean => Self::Sum,
            Self::Sum => Self::Max,
            Self::Max => Self::Std,
            Self::Std => Self::Variance,
            Self::Variance => Self::Cursor,
        }
    }

    /// Whether it is made of the spread of a pixel's counts.
    pub fn is_spread(self) -> bool {
        matches!(self, Self::Std | Self::Variance)
    }
}

/// Products that share scale, colour map and range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Image,
    Signed,
    Magnitude,
    /// Vectors.
    Colour,
    Phase,
    Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Looks {
    pub image: Look,
    pub signed: Look,
    pub magnitude: Look,
    pub colour: Look,
    pub phase: Look,
    pub pattern: Look,
}

impl Looks {
    pub fn of(&self, family: Family) -> &Look {
        match family {
            Family::Image => &self.image,
            Family::Signed => &self.signed,
            Family::Magnitude => &self.magnitude,
            Family::Colour => &self.colour,
            Family::Phase => &self.phase,
            Family::Pattern => &self.pattern,
        }
    }

    pub fn of_mut(&mut self, family: Family) -> &mut Look {
        match family {
            Family::Image => &mut self.image,
            Family::Signed => &mut self.signed,
            Family::Magnitude => &mut self.magnitude,
            Family::Colour => &mut self.colour,
            Family::Phase => &mut self.phase,
            Family::Pattern => &mut self.pattern,
        }
    }
}

impl Looks {
    /// Limits that are not locked go: they belong to another picture.
    pub fn forget_limits(&mut self) {
        let Self { image, signed, magnitude, colour, phase, pattern } = self;
        for look in [image, signed, magnitude, colour, phase, pattern] {
            look.limits = look.limits.filter(|_| look.locked);
        }
    }
}

impl Default for Looks {
    fn default() -> Self {
        let look = |scale, map| Look {
            scale,
            map,
            limits: None,
            locked: false,
            inverted: false,
            gamma: half(),
            percentiles: None,
        };
        Self {
            image: look(Scale::Linear, ColourMap::Grey),
            signed: look(Scale::Linear, ColourMap::RdBu),
            magnitude: look(Scale::Linear, ColourMap::Inferno),
            colour: look(Scale::Linear, ColourMap::Wheel),
            phase: look(Scale::Linear, ColourMap::Grey),
            pattern: look(Scale::Log, ColourMap::Inferno),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    pub scale: Scale,
    pub map: ColourMap,
    /// `None`: the percentiles decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Limits stay when another product is chosen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub locked: bool,
    /// The colour map is taken back to front.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inverted: bool,
    /// Exponent of [`Scale::Power`].
    #[serde(default = "half", skip_serializing_if = "is_half")]
    pub gamma: f64,
    /// The percentiles that decide, where they are not the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<[f64; 2]>,
}

fn half() -> f64 {
    0.5
}

fn is_half(gamma: &f64) -> bool {
    *gamma == 0.5
}

impl Look {
    /// The colours.
    pub fn lut(&self) -> Lut {
        let lut = self.map.lut();
        if self.inverted { lut.inverted() } else { lut }
    }
}

/// Whether a picture is smoothed between its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Smoothing {
    /// Below three device px a value.
    #[default]
    Auto,
    Off,
    On,
}

impl Smoothing {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Off, Self::On];

    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "Auto",
            Self::Off => "Off",
            Self::On => "On",
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Auto => Self::Off,
            Self::Off => Self::On,
            Self::On => Self::Auto,
        }
    }
}

/// What a press in the image does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScanTool {
    #[default]
    Cursor,
    Disc,
    Rect,
    Polygon,
    Line,
}

impl ScanTool {
    pub const ALL: [Self; 5] = [Self::Cursor, Self::Disc, Self::Rect, Self::Polygon, Self::Line];

    /// As in the ids of the page.
    pub fn id(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::Disc => "disc",
            Self::Rect => "rect",
            Self::Polygon => "polygon",
            Self::Line => "line",
        }
    }

    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|tool| *tool == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }
}

/// A line over the scan, ends [row, column].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub from: [f64; 2],
    pub to: [f64; 2],
    /// Positions across over which is averaged.
    pub width: u32,
}

/// What the analysis card shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    #[default]
    Radial,
    Line,
    /// Of the image.
    Fft,
    Figures,
}

impl Analysis {
    pub const ALL: [Self; 4] = [Self::Radial, Self::Line, Self::Fft, Self::Figures];

    /// As in the ids of the page.
    pub fn id(self) -> &'static str {
        match self {
            Self::Radial => "radial",
            Self::Line => "line",
            Self::Fft => "fft",
            Self::Figures => "figures",
        }
    }
}

/// What is transformed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FftOf {
    #[default]
    Image,
    Pattern,
    /// ln(1 + counts): its transform is the cepstrum of the pattern.
    Cepstrum,
}

impl FftOf {
    pub const ALL: [Self; 3] = [Self::Image, Self::Pattern, Self::Cepstrum];

    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "of the image",
            Self::Pattern => "of the pattern",
            Self::Cepstrum => "of the pattern’s logarithm",
        }
    }

    pub fn panel(self) -> Panel {
        if self == Self::Image { Panel::Image } else { Panel::Pattern }
    }
}

/// The order in which patterns are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlayOrder {
    #[default]
    Raster,
    /// Every other line backwards.
    Snake,
    Random,
    /// Along the line; raster without one.
    Line,
}

impl PlayOrder {
    pub const ALL: [Self; 4] = [Self::Raster, Self::Snake, Self::Random, Self::Line];

    pub fn name(self) -> &'static str {
        match self {
            Self::Raster => "Raster",
            Self::Snake => "Snake",
            Self::Random => "Random",
            Self::Line => "Line",
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Raster => Self::Snake,
            Self::Snake => Self::Random,
            Self::Random => Self::Line,
            Self::Line => Self::Raster,
        }
    }
}

/// How a view is turned: mirrored left to right first, then by quarters clockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    pub quarters: u8,
    pub mirrored: bool,
}

impl Turn {
    /// This turn, then `next` of what is seen.
    pub fn then(self, next: Self) -> Self {
        // A mirror after a turn is the turn backwards after the mirror.
        let quarters = if next.mirrored { 4 - self.quarters % 4 } else { self.quarters };
        Self { quarters: (quarters + next.quarters) % 4, mirrored: self.mirrored != next.mirrored }
    }

    /// A vector of the data as it is seen.
    pub fn seen(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let x = if self.mirrored { -x } else { x };
        match self.quarters % 4 {
            0 => [x, y],
            1 => [-y, x],
            2 => [-x, -y],
            _ => [y, -x],
        }
    }

    /// The vector of the data that is seen so.
    pub fn unseen(self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [x, y] = match self.quarters % 4 {
            0 => [x, y],
            1 => [y, -x],
            2 => [-x, -y],
            _ => [-y, x],
        };
        [if self.mirrored { -x } else { x }, y]
    }
}

/// How the deflection of the beam is measured, turned and integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Com {
    pub source: ComSource,
    pub about: About,
    /// Only pixels at most so far from the disc's centre count, in radii of the disc; `None`: all. Segments always end
    /// at the disc's edge unless this says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    pub orientation: Orientation,
    pub orientation_from: OrientationFrom,
    pub integration: Integration,
    /// Arrows over the image.
    #[serde(skip_serializing_if = "is_default")]
    pub arrows: bool,
}

/// From what the deflection is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComSource {
    /// The centre of mass of all pixels.
    #[default]
    Pixels,
    /// Differences between so many segments of a ring: differential phase contrast.
    Segments(u8),
}

impl ComSource {
    pub const ALL: [Self; 4] = [Self::Pixels, Self::Segments(4), Self::Segments(8), Self::Segments(16)];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pixels => "Centre of mass",
            Self::Segments(4) => "4 segments",
            Self::Segments(8) => "8 segments",
            Self::Segments(_) => "16 segments",
        }
    }
}

/// What counts as no deflection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// The mean over the scan.
    #[default]
    Scan,
    /// The centre of the bright-field disc.
    Disc,
    /// This place on the detector, px.
    Centre([f64; 2]),
}

impl About {
    pub const NAMES: [&'static str; 3] = ["Scan mean", "Disc centre", "Set centre"];

    /// Its place in [`About::NAMES`].
    pub fn place(self) -> usize {
        match self {
            Self::Scan => 0,
            Self::Disc => 1,
            Self::Centre(_) => 2,
        }
    }
}

/// Where the rotation between scan and detector comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrientationFrom {
    /// Nobody said anything: the detector is taken as it is.
    #[default]
    Assumed,
    LeastCurl,
    Entered,
}

impl OrientationFrom {
    pub fn words(self) -> &'static str {
        match self {
            Self::Assumed => "assumed",
            Self::LeastCurl => "least curl",
            Self::Entered => "entered",
        }
    }
}

/// Scales that the user gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scales {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_nm: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mrad_per_px: Option<f64>,
    /// Semi-angle of the probe: with the disc's radius it gives the angle per pixel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_mrad: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_ev: Option<f64>,
}

/// Magnification over the fitted view, and the data position in the middle; `None` is the centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zoom {
    pub factor: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub turn: Turn,
}

impl Default for Zoom {
    fn default() -> Self {
        Self { factor: 1.0, centre: None, turn: Turn::default() }
    }
}

/// Whether cursor and detector are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlays(pub bool);

impl Default for Overlays {
    fn default() -> Self {
        Self(true)
    }
}

impl ViewState {
    /// The text after `#` in the address: JSON, percent-encoded where an address needs it.
    pub fn to_hash(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut hash = String::with_capacity(json.len() * 2);
        for byte in json.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' | b',' => hash.push(byte as char),
                _ => hash.push_str(&format!("%{byte:02X}")),
            }
        }
        hash
    }

    /// Reads what [`Self::to_hash`] wrote, with or without the `#`; `None` for anything else.
    pub fn from_hash(hash: &str) -> Option<Self> {
        let mut bytes = Vec::with_capacity(hash.len());
        let mut rest = hash.strip_prefix('#').unwrap_or(hash).bytes();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                bytes.push(byte);
                continue;
            }
            let digit = |byte: u8| (byte as char).to_digit(16);
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push((high * 16 + low) as u8);
        }
        serde_json::from_slice(&bytes).ok()
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_survives_the_address() {
        let state = ViewState {
            product: Product::Adf,
            // 96.06140350877192 comes back one bit off without care.
            custom: Some(DetectorShape::Annulus { centre: [96.061_403_508_771_92, 95.8], inner: 10.0, outer: 20.5 }),
            disc: Some(Disc { centre: [96.4, 95.8], radius: 32.1 }),
            cursor: Some([214, 287]),
            looks: Looks {
                pattern: Look { limits: Some(Limits { low: 0.0, high: 9.5 }), ..Looks::default().pattern },
                ..Looks::default()
            },
            ..ViewState::default()
        };
        assert_eq!(ViewState::from_hash(&format!("#{}", state.to_hash())), Some(state));
    }

    #[test]
    fn a_plain_view_is_a_short_address_and_nonsense_is_no_view() {
        assert_eq!(ViewState::default().to_hash(), "%7B%22product%22:%22bf%22,%22pattern%22:%22cursor%22%7D");
        for nonsense in ["", "#", "#%", "#%4", "#%zz", "#{\"product\":\"xyz\"}", "#{\"colour\":1}"] {
            assert_eq!(ViewState::from_hash(nonsense), None, "{nonsense}");
        }
    }
}
