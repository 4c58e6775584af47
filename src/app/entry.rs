//! What a user may type into a field: "46 mrad", "2.2 α", "23+23", "512 × 512", "18,940".

use crate::shape::Scan;

/// The units that a length on the detector may have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DetectorUnits {
    pub mrad_per_px: Option<f64>,
    /// Radius of the bright-field disc, px.
    pub alpha_px: Option<f64>,
}

impl DetectorUnits {
    /// A length in px. A number without a unit is in mrad where the detector is calibrated, else in px.
    ///
    /// # Errors
    /// Why it is no length, in words for the field.
    pub fn length_px(&self, text: &str) -> Result<f64, String> {
        let text = text.trim().to_lowercase();
        let (number, unit) = split_unit(&text);
        let size = sum(number)?;
        let mrad = || self.mrad_per_px.ok_or("the detector has no calibration: type px");
        let per_unit = match unit {
            "" => 1.0 / self.mrad_per_px.unwrap_or(1.0),
            "px" => 1.0,
            "mrad" => 1.0 / mrad()?,
            "rad" => 1e3 / mrad()?,
            "α" | "a" | "alpha" => self.alpha_px.ok_or("the disc is not known: type px")?,
            _ => return Err(format!("“{unit}” is no unit here: px, mrad or α")),
        };
        if size < 0.0 { Err("a length is not negative".into()) } else { Ok(size * per_unit) }
    }
}

/// A whole number, of either sign.
pub fn whole(text: &str) -> Result<i64, String> {
    let plain = text.trim().replace('−', "-").replace([',', '\u{202f}'], "");
    plain.parse().map_err(|_| "type a whole number, as 3 or −3".into())
}

/// A position in px.
///
/// # Errors
/// Why it is none.
pub fn position_px(text: &str) -> Result<f64, String> {
    let text = text.trim().to_lowercase();
    match split_unit(&text) {
        (number, "" | "px") => sum(number),
        (_, unit) => Err(format!("“{unit}” is no unit here: px")),
    }
}

/// A length of the scan, as it was typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Without a unit.
    Bare(f64),
    /// Scan steps, or px.
    Px(f64),
    Nm(f64),
}

/// "0.2 Å", "20 pm", "1.5 nm", "3 px", "12".
///
/// # Errors
/// Why it is no length.
pub fn length(text: &str) -> Result<Length, String> {
    let text = text.trim().to_lowercase();
    let (number, unit) = split_unit(&text);
    let size = sum(number)?;
    if size < 0.0 {
        return Err("a length is not negative".into());
    }
    match unit {
        "" => Ok(Length::Bare(size)),
        "px" | "steps" | "step" => Ok(Length::Px(size)),
        "pm" => Ok(Length::Nm(size * 1e-3)),
        "å" | "a" => Ok(Length::Nm(size * 0.1)),
        "nm" => Ok(Length::Nm(size)),
        "µm" | "μm" | "um" => Ok(Length::Nm(size * 1e3)),
        _ => Err(format!("“{unit}” is no unit here: pm, Å, nm, µm or px")),
    }
}

/// Degrees: "−12.4°", "30".
///
/// # Errors
/// Why it is none.
pub fn angle(text: &str) -> Result<f64, String> {
    let text = text.trim().to_lowercase();
    match split_unit(&text) {
        (number, "" | "°" | "deg") => sum(number),
        (_, unit) => Err(format!("“{unit}” is no unit here: degrees")),
    }
}

/// Corners of a polygon, [row, col] px: "x, y" pairs, parted by blanks or semicolons.
///
/// # Errors
/// Why they are none.
pub fn corners(text: &str) -> Result<Vec<[f64; 2]>, String> {
    let clean = text.replace('−', "-");
    let numbers = clean.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|part| !part.is_empty());
    let numbers: Option<Vec<f64>> = numbers.map(|part| part.parse().ok().filter(|n: &f64| n.is_finite())).collect();
    let numbers = numbers.ok_or("corners are numbers: x, y; x, y; x, y")?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    match (pairs.len(), rest) {
        (3.., []) => Ok(pairs.iter().map(|[x, y]| [*y, *x]).collect()),
        _ => Err("a polygon has three corners or more, x and y of each".into()),
    }
}

/// A place, [row, column] px: "x, y".
///
/// # Errors
/// Why it is none.
pub fn place(text: &str) -> Result<[f64; 2], String> {
    let clean = text.replace('−', "-");
    let numbers = clean.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|part| !part.is_empty());
    let numbers: Option<Vec<f64>> = numbers.map(|part| part.parse().ok().filter(|n: &f64| n.is_finite())).collect();
    match numbers.as_deref() {
        Some([x, y]) => Ok([*y, *x]),
        _ => Err("a place is x, y".into()),
    }
}

/// A number above 0 in one of `units` (name, size); the first is meant where none is typed. Nothing is `None`.
///
/// # Errors
/// Why it is none.
pub fn positive(text: &str, units: &[(&str, f64)]) -> Result<Option<f64>, String> {
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return Ok(None);
    }
    let (number, unit) = split_unit(&text);
    let size = sum(number)?;
    let known = units.iter().find(|(name, _)| *name == unit).or(units.first().filter(|_| unit.is_empty()));
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (_, per_unit) = known.ok_or_else(|| format!("“{unit}” is no unit here: {}", names()))?;
    if size > 0.0 { Ok(Some(size * per_unit)) } else { Err("it is above 0".into()) }
}

/// A value of the picture.
///
/// # Errors
/// Why it is none.
pub fn value(text: &str) -> Result<f64, String> {
    let text = text.trim().to_lowercase();
    let exponent = text.replace(" × 10", "e").replace(['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹', '⁻'], "");
    if exponent != text && exponent.ends_with('e') {
        return scientific(&text);
    }
    sum(text.split_whitespace().next().unwrap_or_default())
}

/// "512 × 512", "512x512", "512, 512": rows, then columns.
///
/// # Errors
/// Why it is no scan shape.
pub fn scan(text: &str) -> Result<Scan, String> {
    let parts: Vec<&str> = text.split(['×', 'x', 'X', '*', ',', ' ']).filter(|part| !part.is_empty()).collect();
    let side = |part: &str| part.parse().ok().filter(|&side: &u32| (1..=1 << 20).contains(&side));
    match parts.as_slice() {
        [rows, cols] => side(rows).zip(side(cols)).map(|(rows, cols)| Scan { rows, cols }),
        _ => None,
    }
    .ok_or_else(|| "a scan is rows × columns, for example 256 × 256".into())
}

fn split_unit(text: &str) -> (&str, &str) {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-' | '−' | ' ' | '\u{202f}');
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// "23+23" is 46; commas part thousands.
fn sum(text: &str) -> Result<f64, String> {
    let clean: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '\u{202f}')).collect();
    let clean = clean.replace('−', "-");
    let terms = clean.split('+').map(|term| term.parse::<f64>().ok().filter(|term| term.is_finite()));
    let total: Option<f64> = terms.sum();
    total.ok_or_else(|| format!("“{text}” is no number"))
}

fn scientific(text: &str) -> Result<f64, String> {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '⁻' => '-',
            '⁰' => '0',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            '⁴' => '4',
            '⁵' => '5',
            '⁶' => '6',
            '⁷' => '7',
            '⁸' => '8',
            '⁹' => '9',
            '−' => '-',
            c => c,
        })
        .collect();
    plain.replace(" × 10", "e").trim().parse().map_err(|_| format!("“{text}” is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: DetectorUnits = DetectorUnits { mrad_per_px: Some(0.5), alpha_px: Some(30.0) };

    #[test]
    fn lengths_take_units_and_sums() {
        assert_eq!(UNITS.length_px("46 mrad"), Ok(92.0));
        assert_eq!(UNITS.length_px("23+23"), Ok(92.0));
        assert_eq!(UNITS.length_px("70 px"), Ok(70.0));
        assert_eq!(UNITS.length_px("2.2α"), Ok(66.0));
        assert_eq!(DetectorUnits::default().length_px("12.5"), Ok(12.5));
    }

    #[test]
    fn a_wrong_entry_says_why() {
        assert!(UNITS.length_px("5 inch").is_err_and(|why| why.contains("inch")));
        assert!(UNITS.length_px("-3").is_err());
        assert!(UNITS.length_px("").is_err());
        assert!(DetectorUnits::default().length_px("5 mrad").is_err_and(|why| why.contains("calibration")));
        assert!(scan("512").is_err() && scan("0 x 5").is_err() && scan("a × b").is_err());
    }

    #[test]
    fn scan_lengths_angles_and_scales_take_units() {
        assert_eq!(length("0.2 Å"), Ok(Length::Nm(0.020_000_000_000_000_004)));
        assert_eq!((length("12"), length("3 px")), (Ok(Length::Bare(12.0)), Ok(Length::Px(3.0))));
        assert!(length("3 mrad").is_err() && length("-3").is_err());
        assert_eq!((angle("−12.4°"), angle("30")), (Ok(-12.4), Ok(30.0)));
        let kev = [("kev", 1e3), ("ev", 1.0)];
        assert_eq!((positive("300", &kev), positive("80000 eV", &kev)), (Ok(Some(3e5)), Ok(Some(8e4))));
        assert_eq!(corners("1, 2; 3,4 5 6.5"), Ok(vec![[2.0, 1.0], [4.0, 3.0], [6.5, 5.0]]));
        assert!(corners("1 2 3 4").is_err() && corners("1 2 3 4 5").is_err() && corners("a").is_err());
        assert_eq!(positive(" ", &kev), Ok(None));
        assert!(positive("0", &kev).is_err() && positive("3 nm", &kev).is_err_and(|why| why.contains("kev, ev")));
    }

    #[test]
    fn what_the_page_writes_can_be_typed_back() {
        for v in [0.0, 18_940.0, 0.4125, -12.5, 1.24e6, 2.5e-4] {
            let text = crate::display::value(v);
            assert_eq!(value(&text), Ok(v), "{text}");
        }
        assert_eq!(scan("512 × 256"), Ok(Scan { rows: 512, cols: 256 }));
        assert_eq!(scan("512x256"), Ok(Scan { rows: 512, cols: 256 }));
    }
}
