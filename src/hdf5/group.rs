//! Groups and links, old and new, and the way along a path.

use std::rc::Rc;

use super::{
    btree2,
    fields::{Fields, damaged, unsupported},
    file::File,
    fractal_heap::FractalHeap,
    heap::LocalHeap,
    object::{Object, kind},
};
use crate::Result;

/// A named member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub name: String,
    pub target: Target,
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Address of an object header.
    Hard(u64),
    /// A path in the same file.
    Soft(String),
    /// A file name as written (any style of path), and a path in that file.
    External { file: String, path: String },
}

/// Where a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Address of an object header.
    Object(u64),
    /// In another file: its name as written, and the path that is left to go there.
    External { file: String, path: String },
}

impl File<'_> {
    /// The links of the group at `address`, in no particular order; none for an object that is no group.
    pub fn links(&self, address: u64) -> Result<Rc<Vec<Link>>> {
        if let Some(links) = self.groups.borrow().get(&address) {
            return Ok(links.clone());
        }
        let links = Rc::new(read_links(self, &Object::read(self, address)?)?);
        self.groups.borrow_mut().insert(address, links.clone());
        Ok(links)
    }

    /// Follows `path` from the root group; `None` where a part of it does not exist.
    pub fn find(&self, path: &str) -> Result<Option<Found>> {
        self.find_from(self.root(), path, SOFT_LINKS)
    }

    /// Address of the object at `path`; `None` where there is none in this file.
    pub fn object(&self, path: &str) -> Result<Option<u64>> {
        Ok(self.find(path)?.and_then(|found| match found {
            Found::Object(address) => Some(address),
            Found::External { .. } => None,
        }))
    }

    /// Follows one link of the group at `group`.
    pub fn follow(&self, group: u64, link: &Link) -> Result<Option<Found>> {
        self.follow_some(group, link, SOFT_LINKS)
    }

    fn find_from(&self, start: u64, path: &str, soft_links: u32) -> Result<Option<Found>> {
        let mut address = if path.starts_with('/') { self.root() } else { start };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        for (i, part) in parts.iter().enumerate() {
            let links = self.links(address)?;
            let Some(link) = links.iter().find(|link| link.name == *part) else { return Ok(None) };
            match self.follow_some(address, link, soft_links)? {
                Some(Found::Object(next)) => address = next,
                Some(Found::External { file, path }) => {
                    let path = [path.as_str()].iter().chain(&parts[i + 1..]).copied().collect::<Vec<_>>().join("/");
                    return Ok(Some(Found::External { file, path }));
                }
                None => return Ok(None),
            }
        }
        Ok(Some(Found::Object(address)))
    }

    fn follow_some(&self, group: u64, link: &Link, soft_links: u32) -> Result<Option<Found>> {
        match &link.target {
            Target::Hard(address) => Ok(Some(Found::Object(*address))),
            Target::External { file, path } => Ok(Some(Found::External { file: file.clone(), path: path.clone() })),
            Target::Soft(path) => {
                let left = soft_links
                    .checked_sub(1)
                    .ok_or_else(|| damaged("soft link").at(path).found("links in a circle"))?;
                self.find_from(group, path, left)
            }
        }
    }
}

fn read_links(file: &File, object: &Object) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    if let Some(message) = object.message(kind::SYMBOL_TABLE) {
        let mut fields = file.fields("symbol table message", &message.data);
        let (tree, heap) = (fields.defined_address()?, fields.defined_address()?);
        let heap = LocalHeap::read(file, heap)?;
        read_symbol_tree(file, tree, None, &heap, &mut links)?;
    }
    for message in object.messages(kind::LINK) {
        links.extend(read_link(file.fields("link message", &message.data))?);
    }
    if let Some(message) = object.message(kind::LINK_INFO) {
        // Link info [IV.A.2.c]: heap and name index of densely stored links.
        let mut fields = file.fields("link info message", &message.data);
        fields.version(0..=0)?;
        if fields.u8()? & 1 != 0 {
            fields.u64()?;
        }
        if let (Some(heap), Some(tree)) = (fields.address()?, fields.address()?) {
            read_dense(file, heap, tree, &mut links)?;
        }
    }
    Ok(links)
}

/// Version 1 B-tree of symbol table nodes [III.A.1, III.B].
fn read_symbol_tree(
    file: &File,
    address: u64,
    level: Option<u8>,
    heap: &LocalHeap,
    links: &mut Vec<Link>,
) -> Result<()> {
    let widths = file.widths();
    let prefix = 8 + 2 * widths.address;
    let head = file.structure(TREE, address, prefix as u64, b"TREE", false)?;
    let mut fields = file.fields(TREE, &head);
    fields.skip(4)?;
    let (kind, found) = (fields.u8()?, fields.u8()?);
    if kind != 0 || level.is_some_and(|level| level != found) {
        return Err(damaged(TREE).at(format!("{TREE} at {address}")).found(format!("type {kind}, level {found}")));
    }
    let entries = u64::from(fields.u16()?);
    let body = file.read(TREE, address + prefix as u64, entries * (widths.length + widths.address) as u64)?;
    let mut fields = file.fields(TREE, &body);
    for _ in 0..entries {
        fields.length()?;
        let child = fields.defined_address()?;
        match found.checked_sub(1) {
            Some(below) => read_symbol_tree(file, child, Some(below), heap, links)?,
            None => read_symbol_node(file, child, heap, links)?,
        }
    }
    Ok(())
}

fn read_symbol_node(file: &File, address: u64, heap: &LocalHeap, links: &mut Vec<Link>) -> Result<()> {
    let widths = file.widths();
    let head = file.structure("symbol table node", address, 8, b"SNOD", false)?;
    let mut fields = file.fields("symbol table node", &head);
    fields.skip(6)?;
    let symbols = u64::from(fields.u16()?);
    let entry_len = (widths.length + widths.address + 24) as u64;
    let body = file.read("symbol table node", address + 8, symbols * entry_len)?;
    let mut fields = file.fields("symbol table node", &body);
    for _ in 0..symbols {
        // Symbol table entry [III.C]: name, object, kind of cache, scratch pad of 16 bytes.
        let name = heap.text(file, fields.length()?)?;
        let object = fields.address()?;
        let cached = fields.u32()?;
        fields.skip(4)?;
        let scratch = fields.take(16)?;
        let target = match (cached, object) {
            (2, _) => Target::Soft(heap.text(file, file.fields("symbol", scratch).u32()?.into())?),
            (_, Some(address)) => Target::Hard(address),
            (_, None) => continue,
        };
        links.push(Link { name, target });
    }
    Ok(())
}

/// Link message [IV.A.2.g]; `None` for user-defined kinds other than external links.
fn read_link(mut fields: Fields) -> Result<Option<Link>> {
    fields.version(1..=1)?;
    let flags = fields.u8()?;
    let kind = if flags & 8 != 0 { fields.u8()? } else { 0 };
    if flags & 4 != 0 {
        fields.u64()?;
    }
    if flags & 16 != 0 {
        fields.u8()?;
    }
    let len = fields.uint(1 << (flags & 3))?;
    let name = text(fields.take(usize::try_from(len).map_err(|_| damaged("link message"))?)?);
    let target = match kind {
        0 => Target::Hard(fields.defined_address()?),
        1 => {
            let len = fields.u16()?;
            Target::Soft(text(fields.take(len.into())?))
        }
        64 => {
            fields.u16()?;
            match fields.u8()? >> 4 {
                0 => Target::External { file: fields.text()?, path: fields.text()? },
                version => return Err(unsupported("external link").found(format!("version {version}"))),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(Link { name, target }))
}

fn read_dense(file: &File, heap: u64, tree: u64, links: &mut Vec<Link>) -> Result<()> {
    let heap = FractalHeap::read(file, heap)?;
    btree2::for_each(file, tree, &[5], &mut |record| {
        // Record type 5: hash of the name, then the heap's id of the link.
        let id = record.get(4..).ok_or_else(|| damaged("link index"))?;
        links.extend(read_link(file.fields("link message", &heap.object(file, id)?))?);
        Ok(())
    })?;
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const TREE: &str = "version 1 B-tree";
/// Soft links followed one after another before they count as a circle.
const SOFT_LINKS: u32 = 16;
