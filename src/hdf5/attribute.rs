//! Attributes [IV.A.2.m], in the object header or, once many, in a fractal heap.

use super::{
    btree2,
    dataset::{Space, read_space},
    datatype::Datatype,
    fields::{damaged, unsupported},
    file::File,
    fractal_heap::FractalHeap,
    object::{self, Object, kind},
};
use crate::Result;

/// A small named value.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub datatype: Datatype,
    pub space: Space,
    /// Elements as stored.
    pub data: Vec<u8>,
}

impl Attribute {
    /// The first element as a number.
    pub fn number(&self) -> Option<f64> {
        self.datatype.numbers(&self.data).first().copied()
    }

    /// The elements as texts.
    pub fn texts(&self, file: &File) -> Vec<String> {
        self.datatype.texts(file, &self.data)
    }
}

impl File<'_> {
    /// The attributes of the object at `address`; one that cannot be read is left out.
    pub fn attributes(&self, address: u64) -> Result<Vec<Attribute>> {
        let object = Object::read(self, address)?;
        let mut found: Vec<_> =
            object.messages(kind::ATTRIBUTE).filter_map(|m| read_attribute(self, &m.data).ok()).collect();
        let Some(info) = object.message(kind::ATTRIBUTE_INFO) else { return Ok(found) };
        // Attribute info [IV.A.2.v].
        let mut fields = self.fields("attribute info message", &info.data);
        fields.version(0..=0)?;
        if fields.u8()? & 1 != 0 {
            fields.u16()?;
        }
        if let (Some(heap), Some(tree)) = (fields.address()?, fields.address()?) {
            let heap = FractalHeap::read(self, heap)?;
            btree2::for_each(self, tree, &[8], &mut |record| {
                // Record type 8: heap id, message flags, creation order, hash of the name.
                let id = record.get(..8).ok_or_else(|| damaged("attribute index"))?;
                found.extend(read_attribute(self, &heap.object(self, id)?).ok());
                Ok(())
            })?;
        }
        Ok(found)
    }
}

fn read_attribute(file: &File, data: &[u8]) -> Result<Attribute> {
    let mut fields = file.fields("attribute", data);
    let version = fields.version(1..=3)?;
    let flags = fields.u8()?;
    let lens = [fields.u16()?, fields.u16()?, fields.u16()?];
    if version == 3 {
        fields.u8()?;
    }
    let mut parts = [&data[..0]; 3];
    for (part, len) in parts.iter_mut().zip(lens) {
        *part = fields.take(len.into())?;
        if version == 1 {
            fields.skip((usize::from(len).next_multiple_of(8) - usize::from(len)).min(fields.left()))?;
        }
    }
    let [name, datatype, space] = parts;
    if version > 1 && flags & 2 != 0 {
        return Err(unsupported("shared dataspace"));
    }
    let datatype = match version > 1 && flags & 1 != 0 {
        true => committed(file, datatype)?,
        false => Datatype::read(file.fields("datatype", datatype))?,
    };
    let space = read_space(file.fields("dataspace", space))?;
    let len = space.elements().and_then(|elements| elements.checked_mul(datatype.bytes().into()));
    let len = len.and_then(|len| usize::try_from(len).ok()).ok_or_else(|| damaged("attribute"))?;
    let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
    Ok(Attribute { name, datatype, space, data: fields.take(len)?.to_vec() })
}

fn committed(file: &File, shared: &[u8]) -> Result<Datatype> {
    let object = Object::read(file, object::shared_address(file.fields("shared message", shared))?)?;
    let message = object.message(kind::DATATYPE).ok_or_else(|| damaged("committed datatype"))?;
    Datatype::read(file.fields("datatype", &message.data))
}
