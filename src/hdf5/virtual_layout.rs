//! Virtual datasets [III.F]: which part of which file's dataset stands where.

use std::sync::Arc;

use super::{
    dataset::Space,
    fields::{Fields, damaged},
    file::File,
    heap,
    selection::{self, Selection},
};
use crate::Result;

/// One source of a virtual dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// File name as written; "." is the file itself. May hold `%b`, the number of the block.
    pub file: Arc<str>,
    /// Path of the dataset in that file. May hold `%b`.
    pub dataset: Arc<str>,
    pub source: Selection,
    pub place: Selection,
}

/// The mappings in the global heap object; none where the dataset has none.
pub(super) fn read(file: &File, address: Option<u64>, index: u32, space: &Space) -> Result<Vec<Mapping>> {
    let Some(address) = address else { return Ok(Vec::new()) };
    let bytes = heap::global_object(file, address, index)?;
    let mut fields = file.fields("virtual dataset", &bytes);
    let version = fields.version(0..=1)?;
    let count = fields.length()?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 0 { 0 } else { fields.u8()? };
        let is_same_file = flags & SAME_FILE != 0;
        let source_file = match is_same_file {
            true => ".".into(),
            false => name(&mut fields, flags & FILE_SHARED != 0, &mappings, |mapping| &mapping.file)?,
        };
        let dataset = name(&mut fields, flags & DATASET_SHARED != 0, &mappings, |mapping| &mapping.dataset)?;
        let (source, place) = (selection::read(&mut fields)?, selection::read(&mut fields)?);
        let has_rank = match &place {
            Selection::Regular(extents) => extents.len() == space.dims.len(),
            Selection::Boxes(boxes) => boxes.iter().all(|sides| sides.len() == space.dims.len()),
            Selection::All | Selection::None => true,
        };
        if !has_rank {
            return Err(damaged("virtual dataset").found("a mapping of another rank"));
        }
        mappings.push(Mapping { file: source_file, dataset, source, place });
    }
    Ok(mappings)
}

/// A name, or the number of an earlier mapping that has the same one.
fn name(
    fields: &mut Fields,
    is_shared: bool,
    earlier: &[Mapping],
    of: impl Fn(&Mapping) -> &Arc<str>,
) -> Result<Arc<str>> {
    if !is_shared {
        return Ok(fields.text()?.into());
    }
    let origin = usize::try_from(fields.length()?).ok().and_then(|origin| earlier.get(origin));
    Ok(of(origin.ok_or_else(|| damaged("virtual dataset").found("a name of a later mapping"))?).clone())
}

/// Flags of a mapping in version 1.
const FILE_SHARED: u8 = 1;
const DATASET_SHARED: u8 = 2;
const SAME_FILE: u8 = 4;
