//! Linear, logarithmic, square-root, power or symmetric-logarithmic display.

use serde::{Deserialize, Serialize};

/// How values are spread over the colour map. All are odd about 0, so signed maps keep their zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    #[default]
    Linear,
    Log,
    Sqrt,
    /// |v| to the power of gamma.
    Power,
    /// Linear about 0, logarithmic far from it.
    Symlog,
}

impl Scale {
    pub const ALL: [Self; 5] = [Self::Linear, Self::Log, Self::Sqrt, Self::Power, Self::Symlog];

    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "Linear",
            Self::Log => "Log",
            Self::Sqrt => "Square root",
            Self::Power => "Power",
            Self::Symlog => "Symlog",
        }
    }

    /// Position of `value` on the axis. `Log` is ln(1 + |v| / unit), so that 0 stays finite and counts
    /// (unit 1) keep their first decades apart. Of `Power` `unit` is the exponent; `Symlog` is asinh(v / unit), linear
    /// up to about `unit`.
    pub fn forward(self, value: f64, unit: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => (value.abs() / unit).ln_1p().copysign(value),
            Self::Sqrt => value.abs().sqrt().copysign(value),
            Self::Power => value.abs().powf(unit).copysign(value),
            Self::Symlog => (value / unit).asinh(),
        }
    }

    /// The value at `position`; the inverse of [`Self::forward`].
    pub fn inverse(self, position: f64, unit: f64) -> f64 {
        match self {
            Self::Linear => position,
            Self::Log => (position.abs().exp_m1() * unit).copysign(position),
            Self::Sqrt => (position * position).copysign(position),
            Self::Power => position.abs().powf(1.0 / unit).copysign(position),
            Self::Symlog => position.sinh() * unit,
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Linear => Self::Log,
            Self::Log => Self::Sqrt,
            Self::Sqrt => Self::Power,
            Self::Power => Self::Symlog,
            Self::Symlog => Self::Linear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scale_is_undone_by_its_inverse() {
        for scale in Scale::ALL {
            for value in [-3.5, 0.0, 1.0, 1954.0, 7.9e9] {
                let back = scale.inverse(scale.forward(value, 0.7), 0.7);
                assert!((back - value).abs() <= 1e-9 * value.abs().max(1.0), "{scale:?} {value} {back}");
            }
        }
    }
}
