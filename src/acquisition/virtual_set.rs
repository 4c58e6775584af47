//! Sets that are one virtual dataset over data files: DECTRIS' v2024.2 layout, and NeXus masters.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    AxisOrder, axis_guess, names,
    search::{Image, Outcome, Picked, refusal},
    set::{Draft, channel_names},
    store::{Store, axes_of},
    tiles::{Placement, Span, Tiles, Window},
    words,
};
use crate::{
    Error, Kind, Result,
    hdf5::{Extent, Layout, Mapping, Selection},
    shape::Scan,
};

/// Places of the files that the virtual dataset `image` takes its data from.
pub fn sources(picked: &Picked, image: &Image) -> Vec<usize> {
    find_files(picked, image, &expanded(image)).into_values().flatten().filter(|&place| place != image.place).collect()
}

/// Reads the set.
pub fn read(picked: &Picked, image: &Image, sidecar: Option<usize>) -> Outcome {
    let name = picked.sources[image.place].name();
    let refuse = |e| Box::new(refusal(name, e));
    let Some(file) = picked.metadata(image.place) else {
        return Err(refuse(words::no_image(name, "nothing".to_owned())));
    };
    let Some(axes) = axis_guess::choose(picked, &file, &image.path, &image.dataset) else {
        return Err(refuse(words::no_image(name, "a dataset of many axes".to_owned())));
    };
    let order = axes.order;
    let dims = order.spread(&image.dataset.space.dims);
    let channels = if order.has_channels() { channel_names(&file, &image.path, &image.dataset) } else { Vec::new() };
    let is_scan = order.has_scan();
    let columns = if is_scan { dims[1] } else { 1 };
    let mappings = expanded(image);
    let found = find_files(picked, image, &mappings);
    let mut parts = Parts {
        picked,
        order,
        tiles: Tiles { columns, ..Tiles::default() },
        stores: HashMap::new(),
        faults: Vec::new(),
        notices: Vec::new(),
    };
    for mapping in &mappings {
        let Some(place) = found.get(&mapping.file).copied().flatten() else { continue };
        if let Err(e) = parts.add(mapping, place, dims) {
            parts.note(e);
        }
    }
    let mut missing: Vec<String> =
        found.iter().filter(|(_, place)| place.is_none()).map(|(file, _)| names::base(file).to_owned()).collect();
    missing.sort();
    missing.dedup();
    let linked = found.keys().filter(|file| &***file != ".").count() as u32;
    if missing.len() as u32 == linked && linked > 0 && parts.tiles.placements.is_empty() {
        let mut refused = refusal(name, words::master_alone(name, &missing, linked));
        (refused.files_linked, refused.files_missing) = (linked, missing);
        return Err(Box::new(refused));
    }
    let stored_scan = is_scan
        .then(|| Some(Scan { rows: u32::try_from(dims[0]).ok()?, cols: u32::try_from(dims[1]).ok()? }))
        .flatten();
    let draft = Draft::new(image.place, sidecar, image.path.clone(), image.dataset.clone(), parts.tiles);
    let draft = Draft {
        gaps: gaps(&mappings, dims, axes.order),
        frames: dims[0].saturating_mul(columns),
        faults: parts.faults,
        notices: parts.notices,
        stored_scan,
        channels,
        axes,
        rivals: image.rivals.clone(),
        ..draft
    };
    Draft { files_linked: linked, files_missing: missing, ..draft }.finish(picked)
}

/// Pixels that no mapping stands for, whether its file is there or not.
fn gaps(mappings: &[Mapping], dims: [u64; 4], order: AxisOrder) -> Vec<u32> {
    if dims[2].checked_mul(dims[3]).is_none_or(|pixels| pixels > words::MOST_PIXELS) {
        return Vec::new();
    }
    let of = |mapping: &Mapping| boxes(&mapping.place, dims, None, order).unwrap_or_default();
    let areas: HashSet<[(u64, u64, u64); 2]> =
        mappings.iter().flat_map(of).map(|sides| [sides[2], sides[3]]).take(MOST_MAPPINGS).collect();
    if areas.len() > MOST_MODULES {
        return Vec::new();
    }
    let mut is_gap = vec![true; (dims[2] * dims[3]) as usize];
    for [rows, cols] in areas {
        let inside = |(start, step, count): (u64, u64, u64), dim: u64| {
            (0..count.min(dim)).map(move |i| start.saturating_add(i.saturating_mul(step))).filter(move |at| *at < dim)
        };
        for row in inside(rows, dims[2]) {
            let is_gap = &mut is_gap[(row * dims[3]) as usize..][..dims[3] as usize];
            match cols {
                (start, 1, count) if start < dims[3] => {
                    is_gap[start as usize..start.saturating_add(count).min(dims[3]) as usize].fill(false);
                }
                _ => inside(cols, dims[3]).for_each(|col| is_gap[col as usize] = false),
            }
        }
    }
    let count = is_gap.iter().filter(|gap| **gap).count();
    // Without any part there is nothing to show, and no gap.
    if count == is_gap.len() {
        return Vec::new();
    }
    let mut gaps = Vec::with_capacity(count);
    gaps.extend((0..).zip(is_gap).filter_map(|(pixel, gap)| gap.then_some(pixel)));
    gaps
}

/// The mappings, those with `%b` in a name once per block.
fn expanded(image: &Image) -> Vec<Mapping> {
    let Layout::Virtual(mappings) = &image.dataset.layout else { return Vec::new() };
    mappings.iter().flat_map(|mapping| blocks_of(mapping, &image.dataset.space.dims)).take(MOST_MAPPINGS).collect()
}

/// A name with `%b` stands for as many sources as the endless axis has blocks; `%%` is a percent sign.
fn blocks_of(mapping: &Mapping, dims: &[u64]) -> Vec<Mapping> {
    let is_printf = |name: &str| name.replace("%%", "").contains("%b");
    let Selection::Regular(extents) = &mapping.place else { return vec![mapping.clone()] };
    let endless = extents.iter().position(|extent| extent.count.is_none());
    let Some(axis) = endless.filter(|_| is_printf(&mapping.file) || is_printf(&mapping.dataset)) else {
        return vec![mapping.clone()];
    };
    let extent = extents[axis];
    let blocks = dims[axis].saturating_sub(extent.start).div_ceil(extent.stride).min(MOST_MAPPINGS as u64);
    let named = |name: &Arc<str>, block: u64| {
        Arc::from(name.split("%%").map(|part| part.replace("%b", &block.to_string())).collect::<Vec<_>>().join("%"))
    };
    let one = |block: u64| {
        let mut place = extents.clone();
        place[axis] = Extent {
            start: extent.start + block * extent.stride,
            stride: extent.block.max(1),
            count: Some(1),
            block: extent.block,
        };
        Mapping {
            file: named(&mapping.file, block),
            dataset: named(&mapping.dataset, block),
            source: mapping.source.clone(),
            place: Selection::Regular(place),
        }
    };
    (0..blocks).map(one).collect()
}

/// The picked file of each source name.
fn find_files(picked: &Picked, image: &Image, mappings: &[Mapping]) -> HashMap<Arc<str>, Option<usize>> {
    let mut names: Vec<Arc<str>> = mappings.iter().map(|mapping| mapping.file.clone()).collect();
    names.sort();
    names.dedup();
    let outside: Vec<&str> = names.iter().map(|name| &**name).filter(|name| *name != ".").collect();
    let places = names::pick(&outside, &picked.names(|place| place == image.place), picked.sources[image.place].name());
    let own = names::folded(picked.sources[image.place].name());
    let found = outside.iter().zip(places).map(|(name, place)| {
        let is_own = names::folded(names::base(name)) == own;
        (Arc::from(*name), place.or(is_own.then_some(image.place)))
    });
    let mut found: HashMap<Arc<str>, Option<usize>> = found.collect();
    if names.iter().any(|name| &**name == ".") {
        found.insert(Arc::from("."), Some(image.place));
    }
    found
}

/// The stores and placements while mappings are added.
struct Parts<'a, 'b> {
    picked: &'a Picked<'b>,
    /// Which axis of the virtual dataset is which.
    order: AxisOrder,
    tiles: Tiles,
    stores: HashMap<(usize, Arc<str>), Option<u32>>,
    faults: Vec<(usize, Error)>,
    notices: Vec<Error>,
}

impl Parts<'_, '_> {
    fn add(&mut self, mapping: &Mapping, place: usize, dims: [u64; 4]) -> Result<()> {
        let Some(store) = self.store(place, &mapping.dataset)? else { return Ok(()) };
        let of = &self.tiles.stores[store as usize];
        let to = boxes(&mapping.place, dims, None, self.order)?;
        let from = boxes(&mapping.source, of.dims, to.first(), self.order)?;
        for (to, from) in pairs(to, from) {
            // In another order the n-th element of one is the n-th of the other only where both boxes are alike.
            if !self.order.is_usual() && (0..4).any(|axis| to[axis].2 != from[axis].2) {
                return Err(odd("parts that change their shape: they can be read in the usual order of axes only"));
            }
            self.tiles.placements.push(placement(store, to, from)?);
            if self.tiles.placements.len() > MOST_MAPPINGS {
                return Err(odd("a virtual dataset of very many parts"));
            }
        }
        Ok(())
    }

    /// The dataset of a source file as a store; `None` when it was found unfit before.
    fn store(&mut self, place: usize, path: &Arc<str>) -> Result<Option<u32>> {
        if let Some(known) = self.stores.get(&(place, path.clone())) {
            return Ok(*known);
        }
        self.stores.insert((place, path.clone()), None);
        let Some(file) = self.picked.metadata(place) else { return Ok(None) };
        let address = file.file.object(path)?;
        let dataset = address.map(|address| file.file.dataset(address)).transpose()?.flatten();
        let absent = || words::no_image(file.file.name(), format!("no dataset at {path}"));
        let dataset = dataset.ok_or_else(absent)?;
        let rank = dataset.space.dims.len();
        let axes = axes_in(self.order, rank).ok_or_else(|| match axes_of(rank) {
            Some(_) => odd("parts with fewer axes: they can be read in the usual order only"),
            None => odd("a part of many axes"),
        })?;
        let (store, faults) = Store::with_axes(file.file, &dataset, place as u16, axes)?
            .ok_or_else(|| odd("a virtual dataset of virtual datasets"))?;
        self.faults.extend(faults.into_iter().map(|e| (place, e)));
        let number = self.tiles.stores.len() as u32;
        self.tiles.stores.push(store);
        self.stores.insert((place, path.clone()), Some(number));
        Ok(Some(number))
    }

    fn note(&mut self, e: Error) {
        if self.notices.len() < MOST_NOTICES {
            self.notices.push(e);
        }
    }
}

/// Which axes of a dataset of `rank` axes are a store's, where those of the virtual dataset stand in `order`.
fn axes_in(order: AxisOrder, rank: usize) -> Option<[Option<usize>; 4]> {
    match rank == order.rank() {
        true => Some(order.in_store()),
        false => axes_of(rank).filter(|_| order.is_usual()),
    }
}

/// A box: start, step and count along each of the four axes.
type Sides = [(u64, u64, u64); 4];

/// The boxes of a selection, in the order of the first axis. An endless axis ends with the dataset; where
/// that leaves a choice, it is as long as `like`'s.
fn boxes(selection: &Selection, dims: [u64; 4], like: Option<&Sides>, order: AxisOrder) -> Result<Vec<Sides>> {
    let axes_in = |rank: usize| axes_in(order, rank).filter(|_| rank >= 2);
    let spread = |sides: Vec<(u64, u64, u64)>| -> Result<Sides> {
        let axes = axes_in(sides.len()).ok_or_else(|| odd("a selection of many axes"))?;
        Ok(axes.map(|axis| axis.map_or((0, 1, 1), |axis| sides[axis])))
    };
    match selection {
        Selection::None => Ok(Vec::new()),
        Selection::All => Ok(vec![dims.map(|dim| (0, 1, dim))]),
        Selection::Boxes(list) => {
            let mut found = list
                .iter()
                .map(|sides| spread(sides.iter().map(|&(start, count)| (start, 1, count)).collect()))
                .collect::<Result<Vec<_>>>()?;
            found.sort_unstable();
            let is_stack = found.windows(2).all(|pair| pair[0][1..] == pair[1][1..]);
            if is_stack { Ok(found) } else { Err(odd("a selection of scattered boxes")) }
        }
        Selection::Regular(extents) => {
            let axes = axes_in(extents.len()).ok_or_else(|| odd("a selection of many axes"))?;
            let mut sides = [(0, 1, 1); 4];
            let mut segments = Vec::new();
            for axis in 0..4 {
                let Some(extent) = axes[axis].map(|axis| extents[axis]) else { continue };
                let room = dims[axis].saturating_sub(extent.start);
                let count = extent.count.unwrap_or_else(|| {
                    like.map_or(room.div_ceil(extent.stride), |like| like[axis].2.div_ceil(extent.block.max(1)))
                });
                match (extent.block, count) {
                    (block, 1) => {
                        sides[axis] = (extent.start, 1, if extent.count.is_none() { block.min(room) } else { block })
                    }
                    (block, count) if block == extent.stride => {
                        sides[axis] = (extent.start, 1, block.saturating_mul(count).min(room))
                    }
                    (1, count) => sides[axis] = (extent.start, extent.stride, count),
                    (block, count) if axis == 0 && count <= MOST_MAPPINGS as u64 => {
                        segments = (0..count).map(|i| (extent.start + i * extent.stride, 1, block)).collect();
                    }
                    _ => return Err(odd("a selection of stripes")),
                }
            }
            match segments.is_empty() {
                true => Ok(vec![sides]),
                false => Ok(segments.into_iter().map(|first| [first, sides[1], sides[2], sides[3]]).collect()),
            }
        }
    }
}

/// Cuts two stacks of boxes at the same places along the first axis. Single boxes stay whole.
fn pairs(to: Vec<Sides>, from: Vec<Sides>) -> Vec<(Sides, Sides)> {
    if let ([to], [from]) = (to.as_slice(), from.as_slice()) {
        return vec![(*to, *from)];
    }
    let (mut to, mut from) = (to.into_iter(), from.into_iter());
    let (mut left, mut right) = (to.next(), from.next());
    let mut found = Vec::new();
    while let (Some(mut a), Some(mut b)) = (left, right) {
        let count = a[0].2.min(b[0].2);
        let part = |mut sides: Sides| {
            sides[0].2 = count;
            sides
        };
        found.push((part(a), part(b)));
        for side in [&mut a, &mut b] {
            side[0].0 = side[0].0.saturating_add(count.saturating_mul(side[0].1));
            side[0].2 -= count;
        }
        left = if a[0].2 > 0 && count > 0 { Some(a) } else { to.next() };
        right = if b[0].2 > 0 && count > 0 { Some(b) } else { from.next() };
    }
    found
}

fn placement(store: u32, to: Sides, from: Sides) -> Result<Placement> {
    let window = |sides: Sides| Window {
        start: [sides[0].0, sides[1].0],
        step: [sides[0].1, sides[1].1],
        count: [sides[0].2, sides[1].2],
    };
    let (to_window, from_window) = (window(to), window(from));
    let is_alike = to_window.positions() == from_window.positions() && (2..4).all(|axis| to[axis].2 == from[axis].2);
    let is_dense = (2..4).all(|axis| to[axis].1 == 1 && from[axis].1 == 1);
    if !is_alike || !is_dense {
        return Err(odd("a selection that changes the shape of patterns"));
    }
    let span = |axis: usize| Span { to: to[axis].0, from: from[axis].0, count: to[axis].2 };
    Ok(Placement { store, to: to_window, from: from_window, rows: span(2), cols: span(3) })
}

fn odd(what: &str) -> Error {
    Error::new(Kind::Unsupported, "unsupported_structure", "This virtual dataset cannot be read").found(what)
}

const MOST_MAPPINGS: usize = 1 << 20;
/// Detectors have fewer modules.
const MOST_MODULES: usize = 1024;
const MOST_NOTICES: usize = 8;
