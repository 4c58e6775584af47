//! Data layout messages [IV.A.2.i], versions 1 to 5: in the header, in one piece, in chunks, or virtual.

use super::{
    dataset::Space,
    fields::{Fields, damaged},
    file::File,
    object::Message,
    virtual_layout::{self, Mapping},
};
use crate::Result;

/// How a dataset's elements are stored.
#[derive(Clone, Debug)]
pub enum Layout {
    /// In one piece at an address; `None` while nothing was written. Data inside the object header are the same.
    Contiguous {
        address: Option<u64>,
        len_bytes: u64,
    },
    Chunked(Chunking),
    Virtual(Vec<Mapping>),
}

/// Chunks of one shape, found through an index.
#[derive(Clone, Debug)]
pub struct Chunking {
    /// Shape of a chunk, elements.
    pub dims: Vec<u64>,
    pub index: Index,
    /// Address of the index; `None` while no chunk was written.
    pub address: Option<u64>,
    /// True when chunks that reach past the dataset's edge are stored without filters.
    pub has_raw_edges: bool,
}

/// Kind of chunk index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    BTree1,
    /// The address is the chunk's own; filtered length and filter mask where it is filtered.
    Single(Option<(u64, u32)>),
    /// All chunks one after another, unfiltered.
    Implicit,
    FixedArray,
    ExtensibleArray,
    BTree2,
}

pub(super) fn read(file: &File, message: &Message, space: &Space) -> Result<Layout> {
    let mut fields = file.fields(LAYOUT, &message.data);
    match fields.version(1..=5)? {
        1 | 2 => read_oldest(fields, message),
        version => match fields.u8()? {
            0 => {
                let len = fields.u16()?;
                Ok(inside(message, &fields, len.into()))
            }
            1 => {
                let address = fields.address()?;
                Ok(Layout::Contiguous { address, len_bytes: fields.length()? })
            }
            2 if version == 3 => read_chunked_old(fields),
            2 => read_chunked_new(fields),
            3 if version > 3 => {
                let address = fields.address()?;
                let index = fields.u32()?;
                Ok(Layout::Virtual(virtual_layout::read(file, address, index, space)?))
            }
            class => Err(damaged(LAYOUT).found(format!("class {class}"))),
        },
    }
}

/// Versions 1 and 2, written up to HDF5 1.6.2.
fn read_oldest(mut fields: Fields, message: &Message) -> Result<Layout> {
    let rank = fields.u8()?;
    let class = fields.u8()?;
    fields.skip(5)?;
    let address = if class == 0 { None } else { fields.address()? };
    let dims = (0..rank).map(|_| Ok(fields.u32()?.into())).collect::<Result<Vec<u64>>>()?;
    match class {
        0 => {
            let len = fields.u32()?;
            Ok(inside(message, &fields, len.into()))
        }
        // The dimensions are the dataset's, its element size among them or not: the caller knows both.
        1 => Ok(Layout::Contiguous { address, len_bytes: u64::MAX }),
        2 => chunked(dims, Index::BTree1, address, false),
        class => Err(damaged(LAYOUT).found(format!("class {class}"))),
    }
}

fn read_chunked_old(mut fields: Fields) -> Result<Layout> {
    let rank = fields.u8()?;
    let address = fields.address()?;
    let dims = (0..rank).map(|_| Ok(fields.u32()?.into())).collect::<Result<Vec<u64>>>()?;
    chunked(dims, Index::BTree1, address, false)
}

fn read_chunked_new(mut fields: Fields) -> Result<Layout> {
    let (flags, rank, dim_len) = (fields.u8()?, fields.u8()?, fields.u8()?);
    let dims = (0..rank).map(|_| fields.uint(dim_len.into())).collect::<Result<Vec<_>>>()?;
    let index = match fields.u8()? {
        1 if flags & 2 != 0 => Index::Single(Some((fields.length()?, fields.u32()?))),
        1 => Index::Single(None),
        2 => Index::Implicit,
        // Creation parameters are repeated in the index's own header.
        3 => skip(&mut fields, 1, Index::FixedArray)?,
        4 => skip(&mut fields, 5, Index::ExtensibleArray)?,
        5 => skip(&mut fields, 6, Index::BTree2)?,
        kind => return Err(damaged(LAYOUT).found(format!("chunk index {kind}"))),
    };
    chunked(dims, index, fields.address()?, flags & 1 != 0)
}

fn skip(fields: &mut Fields, len: usize, index: Index) -> Result<Index> {
    fields.skip(len).map(|()| index)
}

/// The last of `dims` is the element's size.
fn chunked(mut dims: Vec<u64>, index: Index, address: Option<u64>, has_raw_edges: bool) -> Result<Layout> {
    dims.pop();
    if dims.is_empty() || dims.contains(&0) {
        return Err(damaged(LAYOUT).found(format!("chunks of {dims:?} elements")));
    }
    Ok(Layout::Chunked(Chunking { dims, index, address, has_raw_edges }))
}

/// Compact data lie in the message itself, so they have an address like others.
fn inside(message: &Message, fields: &Fields, len_bytes: u64) -> Layout {
    Layout::Contiguous { address: message.address.checked_add(fields.at() as u64), len_bytes }
}

const LAYOUT: &str = "data layout";
