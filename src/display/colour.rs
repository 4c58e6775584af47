//! Colour maps as tables of 256 colours, and the wheel of directions.

use serde::{Deserialize, Serialize};

/// The maps that are offered. All but grey, twilight and the wheel come from `colorous`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourMap {
    /// What microscopists compare: even in lightness, no hue to misread.
    Grey,
    Viridis,
    Inferno,
    Magma,
    Plasma,
    Cividis,
    /// Uneven lightness: offered, never a default.
    Turbo,
    /// Cyclic: both ends are alike.
    Twilight,
    /// Red to blue through white, for values with a sign.
    RdBu,
    /// Brown to teal through white.
    BrTe,
    /// Hue by direction: for vectors, and only for them.
    Wheel,
}

impl ColourMap {
    /// Those for numbers.
    pub const ALL: [Self; 10] = [
        Self::Grey,
        Self::Viridis,
        Self::Inferno,
        Self::Magma,
        Self::Plasma,
        Self::Cividis,
        Self::Turbo,
        Self::Twilight,
        Self::RdBu,
        Self::BrTe,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Grey => "Grey",
            Self::Viridis => "Viridis",
            Self::Inferno => "Inferno",
            Self::Magma => "Magma",
            Self::Plasma => "Plasma",
            Self::Cividis => "Cividis",
            Self::Turbo => "Turbo",
            Self::Twilight => "Twilight",
            Self::RdBu => "RdBu",
            Self::BrTe => "BrTe",
            Self::Wheel => "Wheel",
        }
    }

    /// The wheel has no next.
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&map| map == self);
        place.map_or(self, |place| Self::ALL[(place + 1) % Self::ALL.len()])
    }

    pub fn lut(self) -> Lut {
        let gradient = match self {
            Self::Grey => return Lut(std::array::from_fn(|i| [i as u8, i as u8, i as u8, 255])),
            Self::Twilight => return Lut(std::array::from_fn(twilight)),
            // Of a wheel, what direction does not change: its lightness.
            Self::Wheel => return Lut(std::array::from_fn(|i| okl_rgb(wheel_lightness(i as f64 / 255.0), 0.0, 0.0))),
            Self::Viridis => colorous::VIRIDIS,
            Self::Inferno => colorous::INFERNO,
            Self::Magma => colorous::MAGMA,
            Self::Plasma => colorous::PLASMA,
            Self::Cividis => colorous::CIVIDIS,
            Self::Turbo => colorous::TURBO,
            Self::RdBu => colorous::RED_BLUE,
            Self::BrTe => colorous::BROWN_GREEN,
        };
        Lut(std::array::from_fn(|i| {
            let colour = gradient.eval_rational(i, 256);
            [colour.r, colour.g, colour.b, 255]
        }))
    }
}

/// 256 RGBA colours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lut(pub [[u8; 4]; 256]);

impl Lut {
    /// The colour at `position` in 0 ..= 1.
    pub fn at(&self, position: f64) -> [u8; 4] {
        self.0[((position * 256.0) as usize).min(255)]
    }

    /// The colours back to front.
    pub fn inverted(mut self) -> Self {
        self.0.reverse();
        self
    }
}

/// Light, blue, dark, red, light: lightness falls and rises once, so that a phase's jump is not seen as an edge.
/// In OkLCh (<https://bottosson.github.io/posts/oklab/>).
fn twilight(i: usize) -> [u8; 4] {
    let turn = i as f64 / 256.0;
    let lightness = 0.56 + 0.36 * (std::f64::consts::TAU * turn).cos();
    let chroma = 0.11 * (std::f64::consts::TAU * turn).sin().abs();
    okl_rgb(lightness, chroma, if turn < 0.5 { 262.0 } else { 22.0 })
}

/// Colours of vectors: the hue of OkLCh is the direction, lightness and chroma grow with the length, so that no
/// direction looks stronger than another. Nothing is black.
pub struct Wheel(Vec<[u8; 4]>);

const HUES: usize = 360;
const STEPS: usize = 64;
/// Chroma of the longest vectors: within sRGB for every hue.
const WHEEL_CHROMA: f64 = 0.125;

impl Wheel {
    pub fn new() -> Self {
        let colour = |at: usize| {
            let part = (at % STEPS) as f64 / (STEPS - 1) as f64;
            okl_rgb(wheel_lightness(part), WHEEL_CHROMA * part, (at / STEPS) as f64)
        };
        Self((0..HUES * STEPS).map(colour).collect())
    }

    /// The colour of a vector in `direction` (radians from +x towards +y) whose length is `part` of the longest.
    pub fn at(&self, direction: f64, part: f64) -> [u8; 4] {
        let hue = (direction.to_degrees().rem_euclid(360.0) as usize).min(HUES - 1);
        let step = (part.clamp(0.0, 1.0) * (STEPS - 1) as f64).round() as usize;
        self.0[hue * STEPS + step]
    }
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}

fn wheel_lightness(part: f64) -> f64 {
    0.76 * part
}

/// OkLCh to sRGB, held to its gamut.
fn okl_rgb(lightness: f64, chroma: f64, hue: f64) -> [u8; 4] {
    let (sin, cos) = hue.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let red = 4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s;
    let green = -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s;
    let blue = -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s;
    let coded = |linear: f64| {
        let linear = linear.clamp(0.0, 1.0);
        let coded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        (255.0 * coded).round() as u8
    };
    [coded(red), coded(green), coded(blue), 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn light([r, g, b, _]: [u8; 4]) -> f64 {
        0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
    }

    #[test]
    fn sequential_maps_grow_lighter_and_the_signed_one_is_lightest_in_the_middle() {
        use ColourMap::{Cividis, Grey, Inferno, Magma, Plasma, Viridis};
        for map in [Grey, Viridis, Inferno, Magma, Plasma, Cividis] {
            let lut = map.lut();
            assert!(light(lut.at(0.0)) + 100.0 < light(lut.at(1.0)), "{map:?}");
        }
        let signed = ColourMap::RdBu.lut();
        let [r, _, b, _] = signed.at(0.1);
        assert!(r > b && light(signed.at(0.5)) > 200.0);
        assert_eq!(signed.clone().inverted().at(0.0), signed.at(1.0));
    }

    #[test]
    fn a_cyclic_map_ends_as_it_begins() {
        let lut = ColourMap::Twilight.lut();
        let apart = |a: [u8; 4], b: [u8; 4]| a.iter().zip(b).map(|(a, b)| a.abs_diff(b)).max();
        assert!(apart(lut.0[0], lut.0[255]) <= Some(4), "{:?} {:?}", lut.0[0], lut.0[255]);
        assert!(light(lut.at(0.5)) + 60.0 < light(lut.at(0.0)));
    }

    #[test]
    fn every_map_is_reached_by_going_to_the_next() {
        let mut seen = vec![ColourMap::Grey];
        for _ in 1..ColourMap::ALL.len() {
            seen.push(seen[seen.len() - 1].next());
        }
        assert_eq!((seen.as_slice(), seen[9].next()), (ColourMap::ALL.as_slice(), ColourMap::Grey));
    }

    #[test]
    fn directions_differ_in_hue_and_hardly_in_lightness_and_nothing_is_black() {
        let wheel = Wheel::new();
        assert_eq!(wheel.at(1.0, 0.0), [0, 0, 0, 255]);
        let all: Vec<[u8; 4]> =
            (0..12).map(|hour| wheel.at(f64::from(hour) * std::f64::consts::FRAC_PI_6, 1.0)).collect();
        let (least, most) = all.iter().fold((255.0f64, 0.0f64), |(a, b), c| (a.min(light(*c)), b.max(light(*c))));
        assert!(most - least < 40.0, "{least} to {most}");
        assert!(all.iter().enumerate().all(|(at, colour)| !all[..at].contains(colour)));
        assert_eq!(okl_rgb(1.0, 0.0, 0.0), [255, 255, 255, 255]);
    }
}
