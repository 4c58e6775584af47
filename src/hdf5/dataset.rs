//! Datasets: shape, type, layout, filters and fill value.

use super::{
    datatype::Datatype,
    fields::{Fields, damaged, unsupported},
    file::File,
    fold::{self, Fold},
    layout::{self, Layout},
    object::{Object, kind},
    pipeline::{self, Filter},
};
use crate::Result;

/// Extent of a dataset [IV.A.2.b]; no axes for a single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    pub dims: Vec<u64>,
    /// Largest extent; `None` where it may grow without end.
    pub max_dims: Vec<Option<u64>>,
    /// True when there is no element at all.
    pub is_null: bool,
}

impl Space {
    /// Number of elements; `None` beyond 64 bits.
    pub fn elements(&self) -> Option<u64> {
        if self.is_null {
            return Some(0);
        }
        self.dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim))
    }
}

/// A dataset's description; its elements are not read.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Address of its object header.
    pub address: u64,
    /// At most four axes, unless chunks forbid it: see [`Fold`].
    pub space: Space,
    /// The axes that the file gives, where there are more.
    pub folded: Option<Fold>,
    pub datatype: Datatype,
    pub layout: Layout,
    /// In the order of writing.
    pub filters: Vec<Filter>,
    /// One element, as stored; `None` where none was set.
    pub fill: Option<Vec<u8>>,
}

impl File<'_> {
    /// The dataset at `address`; `None` when the object is none.
    pub fn dataset(&self, address: u64) -> Result<Option<Dataset>> {
        let object = Object::read(self, address)?;
        let messages = (object.message(kind::DATASPACE), object.message(kind::DATATYPE), object.message(kind::LAYOUT));
        let (Some(space), Some(datatype), Some(layout)) = messages else { return Ok(None) };
        if object.message(kind::EXTERNAL_FILES).is_some() {
            return Err(unsupported("dataset in external raw files"));
        }
        let space = read_space(self.fields("dataspace", &space.data))?;
        let datatype = Datatype::read(self.fields("datatype", &datatype.data))?;
        let layout = layout::read(self, layout, &space)?;
        let filters = match object.message(kind::PIPELINE) {
            Some(message) => pipeline::read(self.fields("filter pipeline", &message.data))?,
            None => Vec::new(),
        };
        let fill = read_fill(self, &object, datatype.bytes())?;
        let (space, layout, folded) = match fold::fold(&space, &layout) {
            Some((kept, layout, folded)) => (kept, layout, Some(folded)),
            None => (space, layout, None),
        };
        Ok(Some(Dataset { address, space, folded, datatype, layout, filters, fill }))
    }
}

impl Dataset {
    /// The axes that the file gives.
    pub fn stored_dims(&self) -> &[u64] {
        self.folded.as_ref().map_or(&self.space.dims, |folded| &folded.space.dims)
    }
}

pub(super) fn read_space(mut fields: Fields) -> Result<Space> {
    let version = fields.version(1..=2)?;
    let (rank, flags, kind) = (fields.u8()?, fields.u8()?, fields.u8()?);
    if version == 1 {
        fields.skip(4)?;
    }
    if rank > 32 {
        return Err(damaged("dataspace").expected("at most 32 axes").found(format!("{rank}")));
    }
    let dims = (0..rank).map(|_| fields.length()).collect::<Result<Vec<_>>>()?;
    let max_dims = match flags & 1 {
        0 => dims.iter().copied().map(Some).collect(),
        _ => (0..rank).map(|_| fields.limit()).collect::<Result<Vec<_>>>()?,
    };
    Ok(Space { dims, max_dims, is_null: version == 2 && kind == 2 })
}

/// Fill value messages, new [IV.A.2.f] and old [IV.A.2.e].
fn read_fill(file: &File, object: &Object, element_bytes: u32) -> Result<Option<Vec<u8>>> {
    let value = |fields: &mut Fields| -> Result<Option<Vec<u8>>> {
        let len = fields.u32()?;
        Ok(if len == element_bytes { Some(fields.take(len as usize)?.to_vec()) } else { None })
    };
    if let Some(message) = object.message(kind::FILL_VALUE) {
        let mut fields = file.fields("fill value", &message.data);
        let version = fields.version(1..=3)?;
        let is_defined = match version {
            3 => fields.u8()? & 0x20 != 0,
            _ => {
                fields.skip(2)?;
                fields.u8()? != 0
            }
        };
        return if is_defined { value(&mut fields) } else { Ok(None) };
    }
    match object.message(kind::FILL_VALUE_OLD) {
        Some(message) => value(&mut file.fields("fill value", &message.data)),
        None => Ok(None),
    }
}
