//! What can be rendered, by name, and its numbers: the same integers as the page's.

use std::{rc::Rc, str::FromStr};

use planescope::{
    Error, Kind, Result,
    display::{Cell, Field, Percentiles},
    engine::{FrameState, Frames, Moments, PatternSum, PixelSet},
    products::{CentreOfMass, DetectorShape, Disc, Preset, find_disc},
};

use crate::load::Loaded;

/// A product as it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Product {
    /// A detector that scales with the bright-field disc.
    Preset(Preset),
    /// A detector of given size, and its name.
    Shape(String, DetectorShape),
    /// All pixels.
    Sum,
    /// Centre of mass of all pixels.
    Com,
    /// Mean of all patterns.
    Mean,
    /// Maximum of all patterns.
    Max,
}

/// Numbers to be saved.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Behind the set's name in the file's.
    pub name: String,
    pub title: String,
    pub field: Field,
    /// Which values the colours span.
    pub percentiles: Percentiles,
    /// False for numbers that only serve others, which are saved without a picture.
    pub is_seen: bool,
}

impl FromStr for Product {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Option<Vec<f64>> = match numbers {
            "" => Some(Vec::new()),
            numbers => numbers.split(':').map(|number| number.parse().ok().filter(|n: &f64| n.is_finite())).collect(),
        };
        let shape = |centre, inner, outer| {
            let name = text.replace([':', '.'], "_");
            let shape = match inner {
                0.0 => DetectorShape::Disc { centre, inner, outer },
                _ => DetectorShape::Annulus { centre, inner, outer },
            };
            Ok(Self::Shape(name, shape))
        };
        match (name, numbers.as_deref()) {
            ("bf", Some([])) => Ok(Self::Preset(Preset::Bf)),
            ("abf", Some([])) => Ok(Self::Preset(Preset::Abf)),
            ("adf", Some([])) => Ok(Self::Preset(Preset::Adf)),
            ("haadf", Some([])) => Ok(Self::Preset(Preset::Haadf)),
            ("df", Some([])) => Ok(Self::Preset(Preset::Df)),
            ("sum", Some([])) => Ok(Self::Sum),
            ("com", Some([])) => Ok(Self::Com),
            ("mean", Some([])) => Ok(Self::Mean),
            ("max", Some([])) => Ok(Self::Max),
            ("disc", Some(&[row, col, radius])) if radius >= 0.0 => shape([row, col], 0.0, radius),
            ("ring", Some(&[row, col, inner, outer])) if 0.0 < inner && inner <= outer => {
                shape([row, col], inner, outer)
            }
            _ => Err(format!("{text} is none of {NAMES}")),
        }
    }
}

/// For help and errors.
pub const NAMES: &str =
    "bf, abf, adf, haadf, df, sum, com, mean, max, disc:ROW:COL:RADIUS, ring:ROW:COL:INNER:OUTER (px)";

/// Answers products of a set; what several of them need is asked once.
pub struct Studio<'a> {
    loaded: &'a Loaded,
    patterns: Option<Rc<PatternSum>>,
}

impl<'a> Studio<'a> {
    pub fn new(loaded: &'a Loaded) -> Self {
        Self { loaded, patterns: None }
    }

    /// The numbers of one product.
    ///
    /// # Errors
    /// `Gpu`, as every question to the engine; `no_disc` where the disc is needed and not found.
    pub async fn pictures(&mut self, product: &Product) -> Result<Vec<Picture>> {
        let Loaded { set, good, .. } = self.loaded;
        let only_good = |pixels: PixelSet| without_bad(pixels, good);
        match product {
            Product::Preset(preset) => {
                let disc = self.disc().await?;
                let name = format!("{preset:?}").to_lowercase();
                let title = format!(
                    "{name}, disc at row {:.2}, column {:.2}, radius {:.2} px",
                    disc.centre[0], disc.centre[1], disc.radius
                );
                self.image(name, title, &only_good(preset.pixels(disc, set.detector))).await
            }
            Product::Shape(name, shape) => {
                self.image(name.clone(), name.clone(), &only_good(shape.pixels(set.detector))).await
            }
            Product::Sum => self.image("sum".to_owned(), "sum of all pixels".to_owned(), good).await,
            Product::Com => self.com().await,
            Product::Mean => {
                let patterns = self.patterns().await?;
                let frames = patterns.frames.max(1);
                let title = format!("mean of {frames} patterns");
                let sum: Vec<f64> = patterns.sum.iter().map(|&sum| self.number(sum)).collect();
                let mean = sum.iter().map(|sum| sum / f64::from(frames)).collect();
                let sum = Picture { is_seen: false, ..self.pattern("pattern_sum", "sum of all patterns", sum, true) };
                Ok(vec![self.pattern("mean", &title, mean, false), sum])
            }
            Product::Max => {
                let patterns = self.loaded.engine.max_pattern(&Frames::All).await?;
                let value = |&max: &u32| if self.is_signed() { f64::from(max as i32) } else { f64::from(max) };
                let max = patterns.max.iter().map(value).collect();
                Ok(vec![self.pattern("max", "maximum of all patterns", max, true)])
            }
        }
    }

    /// A virtual image.
    async fn image(&self, name: String, title: String, pixels: &PixelSet) -> Result<Vec<Picture>> {
        let sums = self.loaded.engine.virtual_image(pixels).await?;
        let values = sums.sum.iter().map(|&sum| self.number(sum)).collect();
        Ok(vec![self.scan(name, title, values, true, Percentiles::IMAGE)])
    }

    /// Deflection about the mean as colours, row and column of the centre, and the exact moments.
    async fn com(&self) -> Result<Vec<Picture>> {
        let moments = self.loaded.engine.moments(&self.loaded.good).await?;
        let centre = CentreOfMass::of(&moments, self.is_signed());
        let positions = self.loaded.set.scan.shape.positions();
        let about = centre.mean(positions as usize).unwrap_or_default();
        let part = |name: &str, what: &str, values: Vec<f64>| {
            self.scan(
                format!("com_{name}"),
                format!("{what} of the centre of mass, px"),
                values,
                false,
                Percentiles::IMAGE,
            )
        };
        let mut deflection = self.scan(
            "com".to_owned(),
            format!("distance of the centre of mass from row {:.4}, column {:.4}, px", about[0], about[1]),
            centre.magnitude(about),
            false,
            Percentiles::VECTORS,
        );
        let angle = |(row, col): (&f64, &f64)| (row - about[0]).atan2(col - about[1]) as f32;
        deflection.field.direction = centre.row.iter().zip(&centre.col).map(angle).collect();
        deflection.field.direction.resize(deflection.field.values.len(), 0.0);
        let rows_and_cols = [part("row", "row", centre.row), part("col", "column", centre.col)];
        Ok([deflection].into_iter().chain(rows_and_cols).chain(self.moments(&moments)).collect())
    }

    fn moments(&self, moments: &Moments) -> Vec<Picture> {
        let of = |name: &str, sums: &[u64]| {
            let values = sums.iter().map(|&sum| self.number(sum)).collect();
            let title = format!("{name}, exact first moments");
            Picture { is_seen: false, ..self.scan(format!("com_{name}"), title, values, true, Percentiles::IMAGE) }
        };
        vec![of("sum", &moments.sum), of("sum_row", &moments.sum_row), of("sum_col", &moments.sum_col)]
    }

    /// The bright-field disc in the sum of all patterns: what "Find disc" takes in the page.
    async fn disc(&mut self) -> Result<Disc> {
        let bad = PixelSet::of(self.loaded.set.detector, |_, _| true).without(&self.loaded.good);
        find_disc(&*self.patterns().await?, &bad).ok_or_else(|| {
            Error::new(Kind::File, "no_disc", "No bright disc was found")
                .at("sum of all patterns")
                .expected("one disc that is brighter than what surrounds it")
                .action("Name the detector: disc:ROW:COL:RADIUS, ring:ROW:COL:INNER:OUTER")
        })
    }

    async fn patterns(&mut self) -> Result<Rc<PatternSum>> {
        if let Some(patterns) = &self.patterns {
            return Ok(patterns.clone());
        }
        let patterns = Rc::new(self.loaded.engine.sum_pattern(&Frames::All).await?);
        Ok(self.patterns.insert(patterns).clone())
    }

    fn is_signed(&self) -> bool {
        self.loaded.set.dtype.is_signed()
    }

    fn number(&self, sum: u64) -> f64 {
        if self.is_signed() { sum as i64 as f64 } else { sum as f64 }
    }

    /// Values of frames, as the scan has them; a value that is no number is a centre of nothing.
    fn scan(
        &self,
        name: String,
        title: String,
        mut values: Vec<f64>,
        counts: bool,
        percentiles: Percentiles,
    ) -> Picture {
        let scan = self.loaded.set.scan.shape;
        let positions = scan.positions() as usize;
        let mut states = self.loaded.engine.frame_states();
        values.resize(positions, 0.0);
        states.resize(positions, FrameState::Missing);
        let cell = |(value, state): (&f64, &FrameState)| match state {
            FrameState::Valid if value.is_finite() => Cell::Value,
            FrameState::Valid => Cell::Void,
            _ => Cell::Gap,
        };
        let cells = values.iter().zip(&states).map(cell).collect();
        let field = Field { rows: scan.rows, cols: scan.cols, values, cells, counts, ..Field::default() };
        Picture { name, title, field, percentiles, is_seen: true }
    }

    fn pattern(&self, name: &str, title: &str, values: Vec<f64>, counts: bool) -> Picture {
        let (detector, good) = (self.loaded.set.detector, &self.loaded.good);
        let cells = (0..detector.pixels()).map(|pixel| if good.contains(pixel) { Cell::Value } else { Cell::Void });
        let (rows, cols, cells) = (detector.rows, detector.cols, cells.collect());
        let field = Field { rows, cols, values, cells, counts, ..Field::default() };
        let (name, title) = (name.to_owned(), title.to_owned());
        Picture { name, title, field, percentiles: Percentiles::PATTERN, is_seen: true }
    }
}

fn without_bad(mut pixels: PixelSet, good: &PixelSet) -> PixelSet {
    pixels.words.iter_mut().zip(&good.words).for_each(|(word, good)| *word &= good);
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_asked_for_by_name_and_detectors_by_their_numbers() {
        assert_eq!("haadf".parse(), Ok(Product::Preset(Preset::Haadf)));
        let shape = DetectorShape::Annulus { centre: [96.0, 95.5], inner: 20.5, outer: 80.5 };
        assert_eq!("ring:96:95.5:20.5:80.5".parse(), Ok(Product::Shape("ring_96_95_5_20_5_80_5".to_owned(), shape)));
        for wrong in ["", "bfx", "bf:1", "disc:1:2", "disc:1:2:-3", "ring:1:2:5:4", "disc:a:b:c", "disc:1:2:inf"] {
            assert!(wrong.parse::<Product>().is_err_and(|words| words.contains("ring:ROW")), "{wrong}");
        }
    }
}
