//! Datatypes [IV.A.2.d]: enough for pixels, counts, lengths and text.

use super::{
    fields::{Fields, damaged},
    file::File,
    heap,
};
use crate::{Result, shape::Dtype};

/// The type of a dataset's or attribute's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Datatype {
    Integer {
        bytes: u32,
        is_signed: bool,
        is_big_endian: bool,
    },
    Float {
        bytes: u32,
        is_big_endian: bool,
    },
    /// Text of a fixed number of bytes.
    Text {
        bytes: u32,
    },
    /// Text of any length, in the global heap.
    LongText {
        bytes: u32,
    },
    /// Named only: compound, opaque, reference ...
    Other {
        bytes: u32,
        name: &'static str,
    },
}

impl Datatype {
    pub(super) fn read(mut fields: Fields) -> Result<Self> {
        Self::read_nested(&mut fields, 0)
    }

    fn read_nested(fields: &mut Fields, depth: u32) -> Result<Self> {
        let class_and_version = fields.u8()?;
        let bits = fields.uint(3)?;
        let bytes = fields.u32()?;
        if bytes == 0 {
            return Err(damaged("datatype").found("elements of 0 bytes"));
        }
        let is_big_endian = bits & 1 != 0;
        let other = |name| Ok(Self::Other { bytes, name });
        match class_and_version & 15 {
            // Bit fields have the form of unsigned integers.
            class @ (0 | 4) => match (fields.u16()?, u32::from(fields.u16()?)) {
                (0, precision) if precision == bytes.saturating_mul(8) && bytes <= 8 => {
                    Ok(Self::Integer { bytes, is_signed: class == 0 && bits & 8 != 0, is_big_endian })
                }
                // Fewer bits that count, the others 0.
                (0, 1..) if bytes <= 8 && bits & 0b1110 == 0 => {
                    Ok(Self::Integer { bytes, is_signed: false, is_big_endian })
                }
                _ => other("integer of odd width"),
            },
            // Bit 6 marks the byte order of the VAX.
            1 if bits & 0x40 == 0 && [2, 4, 8].contains(&bytes) => match is_ieee(fields, bytes)? {
                true => Ok(Self::Float { bytes, is_big_endian }),
                false => other("float of odd form"),
            },
            1 => other("float of odd form"),
            2 => other("time"),
            3 => Ok(Self::Text { bytes }),
            5 => other("opaque"),
            6 => other("compound"),
            7 => other("reference"),
            // An enumeration has the type of its numbers first.
            8 if depth == 0 => match Self::read_nested(fields, 1)? {
                base @ Self::Integer { bytes: inner, .. } if inner == bytes => Ok(base),
                _ => other("enumeration"),
            },
            9 if bits & 15 == 1 => Ok(Self::LongText { bytes }),
            9 => other("list of any length"),
            10 => other("array"),
            11 => other("complex"),
            class => Err(damaged("datatype").found(format!("class {class}"))),
        }
    }

    /// Size of one element, bytes.
    pub fn bytes(&self) -> u32 {
        match self {
            Self::Integer { bytes, .. } | Self::Float { bytes, .. } | Self::Text { bytes } => *bytes,
            Self::LongText { bytes } | Self::Other { bytes, .. } => *bytes,
        }
    }

    /// The pixel type, when frames of this type can be shown. Integers of 64 bits become those of 32, where they fit;
    /// floats of 16 bits those of 32.
    pub fn pixel(&self) -> Option<Dtype> {
        Some(match *self {
            Self::Integer { bytes: 1, is_signed: false, .. } => Dtype::U8,
            Self::Integer { bytes: 2, is_signed: false, .. } => Dtype::U16,
            Self::Integer { bytes: 4 | 8, is_signed: false, .. } => Dtype::U32,
            Self::Integer { bytes: 1, is_signed: true, .. } => Dtype::I8,
            Self::Integer { bytes: 2, is_signed: true, .. } => Dtype::I16,
            Self::Integer { bytes: 4 | 8, is_signed: true, .. } => Dtype::I32,
            Self::Float { bytes: 2 | 4, .. } => Dtype::F32,
            Self::Float { bytes: 8, .. } => Dtype::F64,
            _ => return None,
        })
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Float { .. })
    }

    pub fn is_big_endian(&self) -> bool {
        match *self {
            Self::Integer { bytes, is_big_endian, .. } => is_big_endian && bytes > 1,
            Self::Float { is_big_endian, .. } => is_big_endian,
            _ => false,
        }
    }

    /// The same type with its bytes in little-endian order.
    pub fn little_endian(&self) -> Self {
        match *self {
            Self::Integer { bytes, is_signed, .. } => Self::Integer { bytes, is_signed, is_big_endian: false },
            Self::Float { bytes, .. } => Self::Float { bytes, is_big_endian: false },
            ref other => other.clone(),
        }
    }

    /// numpy's short name, such as `<u2`; the class's name for what numpy has no short name for.
    pub fn numpy(&self) -> String {
        let order = |bytes: u32| {
            if bytes == 1 {
                "|"
            } else if self.is_big_endian() {
                ">"
            } else {
                "<"
            }
        };
        match self {
            Self::Integer { bytes, is_signed: false, .. } => format!("{}u{bytes}", order(*bytes)),
            Self::Integer { bytes, is_signed: true, .. } => format!("{}i{bytes}", order(*bytes)),
            Self::Float { bytes, .. } => format!("{}f{bytes}", order(*bytes)),
            Self::Text { bytes } => format!("|S{bytes}"),
            Self::LongText { .. } => "text".to_owned(),
            Self::Other { name, .. } => (*name).to_owned(),
        }
    }

    /// Elements as numbers; empty for types that are none.
    pub fn numbers(&self, bytes: &[u8]) -> Vec<f64> {
        let elements = bytes.chunks_exact(self.bytes() as usize);
        match *self {
            Self::Integer { is_signed: false, .. } => elements.map(|e| self.bits(e) as f64).collect(),
            Self::Integer { bytes, is_signed: true, .. } => {
                let unused = 64 - 8 * bytes;
                elements.map(|e| ((self.bits(e) << unused) as i64 >> unused) as f64).collect()
            }
            Self::Float { bytes: 2, .. } => elements.map(|e| half(self.bits(e) as u16)).collect(),
            Self::Float { bytes: 4, .. } => elements.map(|e| f32::from_bits(self.bits(e) as u32).into()).collect(),
            Self::Float { .. } => elements.map(|e| f64::from_bits(self.bits(e))).collect(),
            _ => Vec::new(),
        }
    }

    /// Elements as unsigned bits; empty for types that are no integers.
    pub fn integers(&self, bytes: &[u8]) -> Vec<u64> {
        match self {
            Self::Integer { .. } => bytes.chunks_exact(self.bytes() as usize).map(|e| self.bits(e)).collect(),
            _ => Vec::new(),
        }
    }

    /// Elements as text; empty for types that are none.
    pub fn texts(&self, file: &File, bytes: &[u8]) -> Vec<String> {
        let elements = bytes.chunks_exact(self.bytes() as usize);
        match self {
            Self::Text { .. } => elements.map(trimmed).collect(),
            Self::LongText { .. } => elements.filter_map(|e| long_text(file, e).ok()).collect(),
            _ => Vec::new(),
        }
    }

    fn bits(&self, element: &[u8]) -> u64 {
        let add = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        match self.is_big_endian() {
            true => element.iter().fold(0, add),
            false => element.iter().rev().fold(0, add),
        }
    }
}

/// IEEE 754 half precision.
pub fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// True for the layouts of IEEE 754 half, single and double precision.
fn is_ieee(fields: &mut Fields, bytes: u32) -> Result<bool> {
    let (offset, precision) = (fields.u16()?, fields.u16()?);
    let parts = [fields.u8()?, fields.u8()?, fields.u8()?, fields.u8()?];
    let bias = fields.u32()?;
    let expected = match bytes {
        2 => ([10, 5, 0, 10], 15),
        4 => ([23, 8, 0, 23], 127),
        _ => ([52, 11, 0, 52], 1023),
    };
    Ok(offset == 0 && u32::from(precision) == bytes * 8 && (parts, bias) == expected)
}

/// Text that ends at a NUL or with blanks.
fn trimmed(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_owned()
}

/// Length, then the global heap's address and index [III.E].
fn long_text(file: &File, element: &[u8]) -> Result<String> {
    let mut fields = file.fields("text", element);
    let len = fields.u32()?;
    let (address, index) = (fields.defined_address()?, fields.u32()?);
    if len == 0 {
        return Ok(String::new());
    }
    Ok(trimmed(&heap::global_object(file, address, index)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let cases = [
            (0x0000, 0.0),
            (0x0001, 2_f64.powi(-24)),
            (0x03ff, 1023.0 * 2_f64.powi(-24)),
            (0x3c00, 1.0),
            (0x3555, 1365.0 / 4096.0),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
            (0xfc00, f64::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{bits:04x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
