//! Version 2 B-trees [III.A.2]: records in order, at any depth.

use super::{fields::damaged, file::File};
use crate::Result;

/// Calls `each` with every record of the tree at `address`; the tree has to be of one of `kinds`.
/// Gives the tree's kind.
pub fn for_each(file: &File, address: u64, kinds: &[u8], each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u8> {
    let widths = file.widths();
    let len = 16 + widths.address + 2 + widths.length + 4;
    let bytes = file.structure(TREE, address, len as u64, b"BTHD", true)?;
    let mut fields = file.fields(TREE, &bytes);
    fields.skip(4)?;
    fields.version(0..=0)?;
    let kind = fields.u8()?;
    if !kinds.contains(&kind) {
        return Err(damaged(TREE).at(format!("{TREE} at {address}")).found(format!("records of type {kind}")));
    }
    let (node_len, record_len, depth) = (fields.u32()?, fields.u16()?, fields.u16()?);
    fields.skip(2)?;
    let root = fields.address()?;
    let records = fields.u16()?;
    let shape = Shape::of(file, kind, node_len.into(), record_len.into(), depth)?;
    if let Some(root) = root {
        walk(file, &shape, root, depth.into(), records.into(), each)?;
    }
    Ok(kind)
}

/// How many records nodes hold, and how wide the counts in them are.
struct Shape {
    kind: u8,
    node_len: u64,
    record_len: usize,
    /// Bytes of a child's record count.
    count_len: usize,
    /// Bytes of a child's total record count, by level of the node (1 = just above the leaves).
    total_len: Vec<usize>,
}

impl Shape {
    /// The widths follow from the largest number of records below each level.
    fn of(file: &File, kind: u8, node_len: u64, record_len: usize, depth: u16) -> Result<Self> {
        let room = node_len.checked_sub(OVERHEAD).filter(|_| record_len > 0 && depth <= DEEPEST);
        let room = room.ok_or_else(|| {
            damaged(TREE).found(format!("{node_len}-byte nodes, {record_len}-byte records, depth {depth}"))
        })?;
        let most_in_leaf = room / record_len as u64;
        let count_len = width_of(most_in_leaf);
        let mut total_len = vec![0, 0];
        let mut most_below = most_in_leaf;
        for _ in 1..depth {
            let pointer = (file.widths().address + count_len + total_len[total_len.len() - 1]) as u64;
            let most = room.saturating_sub(pointer) / (record_len as u64 + pointer);
            most_below = (most + 1).saturating_mul(most_below).saturating_add(most);
            total_len.push(width_of(most_below));
        }
        Ok(Self { kind, node_len, record_len, count_len, total_len })
    }
}

fn walk(
    file: &File,
    shape: &Shape,
    address: u64,
    level: usize,
    records: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let signature = if level == 0 { b"BTLF" } else { b"BTIN" };
    // The checksum follows the used part, so the node is read first and checked by its used length.
    let node = file.structure(TREE, address, shape.node_len, signature, false)?;
    let mut fields = file.fields(TREE, &node);
    fields.skip(4)?;
    fields.version(0..=0)?;
    if fields.u8()? != shape.kind {
        return Err(damaged(TREE).at(format!("{TREE} node at {address}")));
    }
    let mut own = Vec::new();
    for _ in 0..records {
        own.push(fields.take(shape.record_len)?);
    }
    let mut children = Vec::new();
    if level > 0 {
        for _ in 0..=records {
            let (child, count) = (fields.defined_address()?, fields.uint(shape.count_len)?);
            fields.uint(shape.total_len[level])?;
            children.push((child, count));
        }
    }
    let used = fields.at() + 4;
    fields.u32()?;
    super::file::check_sum(&node[..used]).map_err(|e| e.at(format!("{TREE} node at {address}")))?;
    file.preload(children.iter().map(|&(child, _)| (child, shape.node_len)));
    for (i, &(child, count)) in children.iter().enumerate() {
        walk(file, shape, child, level - 1, count, each)?;
        if let Some(record) = own.get(i) {
            each(record)?;
        }
    }
    if level == 0 {
        own.into_iter().try_for_each(each)?;
    }
    Ok(())
}

/// Bytes that hold numbers up to `most`.
fn width_of(most: u64) -> usize {
    most.max(1).ilog2() as usize / 8 + 1
}

const TREE: &str = "version 2 B-tree";
/// Signature, version, type and checksum of a node.
const OVERHEAD: u64 = 10;
/// A tree this deep would hold more records than a file has bytes.
const DEEPEST: u16 = 32;
