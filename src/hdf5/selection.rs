//! Serialised selections of elements, as virtual datasets store them [III.F, "Dataspace Selection"].

use super::fields::{Fields, damaged, unsupported};
use crate::Result;

/// The selected part of one axis: `count` blocks of `block` elements, `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start: u64,
    pub stride: u64,
    /// `None` when the selection grows with the dataset.
    pub count: Option<u64>,
    pub block: u64,
}

/// Elements of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    None,
    All,
    /// One extent per axis.
    Regular(Vec<Extent>),
    /// Boxes: first element and number of elements along each axis.
    Boxes(Vec<Vec<(u64, u64)>>),
}

pub(super) fn read(fields: &mut Fields) -> Result<Selection> {
    let kind = fields.u32()?;
    match (kind, fields.u32()?) {
        // "None" and "all" have a version, 4 reserved bytes and a length of 0.
        (0, _) => fields.skip(8).map(|()| Selection::None),
        (3, _) => fields.skip(8).map(|()| Selection::All),
        (2, 1) => {
            fields.skip(8)?;
            let rank = fields.u32()?;
            read_boxes(fields, rank, 4)
        }
        (2, 2) => {
            fields.u8()?;
            fields.u32()?;
            let rank = fields.u32()?;
            read_regular(fields, rank, 8)
        }
        (2, 3) => {
            let flags = fields.u8()?;
            let width = fields.u8()?;
            let rank = fields.u32()?;
            match flags & 1 {
                0 => read_boxes(fields, rank, width.into()),
                _ => read_regular(fields, rank, width.into()),
            }
        }
        (1, _) => Err(unsupported("selection of points")),
        (kind, version) => Err(damaged("selection").found(format!("type {kind}, version {version}"))),
    }
}

fn read_regular(fields: &mut Fields, rank: u32, width: usize) -> Result<Selection> {
    check_rank(rank)?;
    let unlimited = u64::MAX >> (64 - 8 * width.clamp(1, 8));
    let mut extents = Vec::new();
    for _ in 0..rank {
        let [start, stride, count, block] =
            [fields.uint(width)?, fields.uint(width)?, fields.uint(width)?, fields.uint(width)?];
        // A block without end is one block that grows.
        let (count, block) = if block == unlimited { (unlimited, 1) } else { (count, block) };
        let stride = if count == 1 || block == 1 && stride == 0 { stride.max(block) } else { stride };
        if stride == 0 {
            return Err(damaged("selection").found("a stride of 0"));
        }
        extents.push(Extent { start, stride, count: Some(count).filter(|&count| count != unlimited), block });
    }
    Ok(Selection::Regular(extents))
}

fn read_boxes(fields: &mut Fields, rank: u32, width: usize) -> Result<Selection> {
    check_rank(rank)?;
    let count = fields.uint(width)?;
    let mut boxes = Vec::new();
    for _ in 0..count {
        let first = (0..rank).map(|_| fields.uint(width)).collect::<Result<Vec<_>>>()?;
        let last = (0..rank).map(|_| fields.uint(width)).collect::<Result<Vec<_>>>()?;
        let sides = first.iter().zip(&last).map(|(&a, &b)| Some((a, b.checked_sub(a)?.checked_add(1)?)));
        boxes.push(sides.collect::<Option<Vec<_>>>().ok_or_else(|| damaged("selection"))?);
    }
    Ok(Selection::Boxes(boxes))
}

fn check_rank(rank: u32) -> Result<()> {
    if (1..=32).contains(&rank) { Ok(()) } else { Err(damaged("selection").found(format!("{rank} axes"))) }
}
