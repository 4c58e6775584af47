//! The filter pipeline [IV.A.2.l]: what was done to each chunk, in the order of writing.

use serde::{Deserialize, Serialize};

use super::fields::Fields;
use crate::Result;

/// One filter of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Registered number, e.g. 32008 for bitshuffle.
    pub id: u16,
    /// Client data of the filter.
    pub parameters: Vec<u32>,
}

pub fn read(mut fields: Fields) -> Result<Vec<Filter>> {
    let version = fields.version(1..=2)?;
    let count = fields.u8()?;
    if version == 1 {
        fields.skip(6)?;
    }
    (0..count).map(|_| read_filter(&mut fields, version)).collect()
}

fn read_filter(fields: &mut Fields, version: u8) -> Result<Filter> {
    let id = fields.u16()?;
    // Version 2 leaves out the names of the library's own filters.
    let name_len = if version == 1 || id >= 256 { fields.u16()? } else { 0 };
    fields.u16()?;
    let parameters = fields.u16()?;
    fields.skip(name_len.into())?;
    if version == 1 {
        fields.align(8)?;
    }
    let parameters = (0..parameters).map(|_| fields.u32()).collect::<Result<Vec<_>>>()?;
    if version == 1 && parameters.len() % 2 == 1 {
        fields.skip(4)?;
    }
    Ok(Filter { id, parameters })
}
