//! Colour maps as tables of 256 colours.

use serde::{Deserialize, Serialize};

/// The maps that are offered. All but grey come from `colorous`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourMap {
    /// What microscopists compare: even in lightness, no hue to misread.
    Grey,
    Viridis,
    Inferno,
    Magma,
    Cividis,
    /// Uneven lightness: offered, never a default.
    Turbo,
    /// Red to blue through white, for values with a sign.
    RdBu,
}

impl ColourMap {
    pub const ALL: [Self; 7] =
        [Self::Grey, Self::Viridis, Self::Inferno, Self::Magma, Self::Cividis, Self::Turbo, Self::RdBu];

    pub fn name(self) -> &'static str {
        match self {
            Self::Grey => "Grey",
            Self::Viridis => "Viridis",
            Self::Inferno => "Inferno",
            Self::Magma => "Magma",
            Self::Cividis => "Cividis",
            Self::Turbo => "Turbo",
            Self::RdBu => "RdBu",
        }
    }

    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&map| map == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }

    pub fn lut(self) -> Lut {
        let gradient = match self {
            Self::Grey => return Lut(std::array::from_fn(|i| [i as u8, i as u8, i as u8, 255])),
            Self::Viridis => colorous::VIRIDIS,
            Self::Inferno => colorous::INFERNO,
            Self::Magma => colorous::MAGMA,
            Self::Cividis => colorous::CIVIDIS,
            Self::Turbo => colorous::TURBO,
            Self::RdBu => colorous::RED_BLUE,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_maps_grow_lighter_and_the_signed_one_is_lightest_in_the_middle() {
        let light = |[r, g, b, _]: [u8; 4]| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
        for map in [ColourMap::Grey, ColourMap::Viridis, ColourMap::Inferno, ColourMap::Magma, ColourMap::Cividis] {
            let lut = map.lut();
            assert!(light(lut.at(0.0)) + 100.0 < light(lut.at(1.0)), "{map:?}");
        }
        let signed = ColourMap::RdBu.lut();
        let [r, _, b, _] = signed.at(0.1);
        assert!(r > b && light(signed.at(0.5)) > 200.0);
    }

    #[test]
    fn every_map_is_reached_by_going_to_the_next() {
        let mut seen = vec![ColourMap::Grey];
        for _ in 1..ColourMap::ALL.len() {
            seen.push(seen[seen.len() - 1].next());
        }
        assert_eq!((seen.as_slice(), seen[6].next()), (ColourMap::ALL.as_slice(), ColourMap::Grey));
    }
}
