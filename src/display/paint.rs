//! Values to colours: limits, the axis between them, and the picture.

use serde::{Deserialize, Serialize};

use super::{
    colour::{Lut, Wheel},
    field::{Cell, Field},
    scale::Scale,
};

/// The values of the first and the last colour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub low: f64,
    pub high: f64,
}

impl Limits {
    /// Limits that are not equal, so that a constant picture can be drawn.
    pub fn opened(self) -> Self {
        if self.high > self.low {
            return self;
        }
        let least = if self.low == 0.0 { 1.0 } else { self.low.abs() * 1e-6 };
        Self { low: self.low, high: self.low + least }
    }
}

/// Where a value lies between two limits on the displayed scale, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    scale: Scale,
    unit: f64,
    start: f64,
    span: f64,
}

impl Axis {
    /// `unit` is the step that [`Scale::Log`] resolves near 0: 1 for counts.
    pub fn new(limits: Limits, scale: Scale, unit: f64) -> Self {
        let limits = limits.opened();
        let (start, end) = (scale.forward(limits.low, unit), scale.forward(limits.high, unit));
        Self { scale, unit, start, span: (end - start).max(f64::MIN_POSITIVE) }
    }

    /// Position of `value`, held to 0 ..= 1.
    pub fn position(&self, value: f64) -> f64 {
        ((self.scale.forward(value, self.unit) - self.start) / self.span).clamp(0.0, 1.0)
    }

    /// The value at `position`; may lie outside the limits.
    pub fn value(&self, position: f64) -> f64 {
        self.scale.inverse(self.start + position * self.span, self.unit)
    }

    /// RGBA bytes of `field`, 4 per cell. Cells without a value are transparent where they are drawn
    /// as dots or hatch, and flat grey where they are void.
    pub fn paint(&self, field: &Field, lut: &Lut) -> Vec<u8> {
        let mut rgba = Vec::with_capacity(field.values.len() * 4);
        let wheel = (!field.direction.is_empty()).then(Wheel::new);
        for (index, (&value, cell)) in field.values.iter().zip(&field.cells).enumerate() {
            rgba.extend_from_slice(&match (cell, &wheel) {
                (Cell::Value, Some(wheel)) => {
                    wheel.at(field.direction.get(index).map_or(0.0, |angle| f64::from(*angle)), self.position(value))
                }
                (Cell::Value, None) => lut.at(self.position(value)),
                (Cell::Void, _) => VOID,
                (Cell::Unread | Cell::Gap, _) => [0; 4],
            });
        }
        rgba
    }
}

const VOID: [u8; 4] = [0x55, 0x55, 0x55, 0xff];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::ColourMap;

    #[test]
    fn the_limits_get_the_first_and_the_last_colour_and_bad_pixels_neither() {
        let cells = vec![Cell::Value, Cell::Value, Cell::Void, Cell::Gap];
        let field =
            Field { rows: 2, cols: 2, values: vec![10.0, 20.0, 15.0, 15.0], cells, counts: true, ..Field::default() };
        let axis = Axis::new(Limits { low: 10.0, high: 20.0 }, Scale::Log, 1.0);
        let rgba = axis.paint(&field, &ColourMap::Grey.lut());
        assert_eq!(rgba[..8], [0, 0, 0, 255, 255, 255, 255, 255]);
        assert_eq!(rgba[8..], [0x55, 0x55, 0x55, 0xff, 0, 0, 0, 0]);
    }

    #[test]
    fn a_position_leads_back_to_its_value() {
        let axis = Axis::new(Limits { low: 0.0, high: 1954.0 }, Scale::Log, 1.0);
        for value in [0.0, 1.0, 37.0, 1954.0] {
            assert!((axis.value(axis.position(value)) - value).abs() < 1e-9);
        }
    }
}
