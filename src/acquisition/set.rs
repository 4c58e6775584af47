//! From a set's parts to its meaning: the last steps, alike for all layouts of files.

use super::{
    Acquisition, AxisChoice, AxisOrder, DataPart, Refused, Storage, Stored, UsedFile, metadata, scales,
    scan::ScanHints,
    search::{Outcome, Picked, refusal},
    store::Store,
    tiles::Tiles,
    values::Metadata,
    words,
};
use crate::{
    Error, filter,
    hdf5::Dataset,
    shape::{Detector, Scan},
    source::ByteSource,
};

/// A set whose parts are known.
pub struct Draft {
    pub master: usize,
    pub sidecar: Option<usize>,
    pub path: String,
    /// The dataset, or the first of several.
    pub dataset: Dataset,
    pub axes: AxisChoice,
    /// Paths of other datasets that may be meant.
    pub rivals: Vec<String>,
    /// Its stores' `file` is a place among the picked files.
    pub tiles: Tiles,
    pub parts: Vec<DataPart>,
    pub frames: u64,
    pub stored_scan: Option<Scan>,
    pub channels: Vec<String>,
    pub files_linked: u32,
    pub files_missing: Vec<String>,
    /// Pixels that belong to no part of a pattern.
    pub gaps: Vec<u32>,
    /// Parts of chunk indexes that could not be read, with the place of their file.
    pub faults: Vec<(usize, Error)>,
    pub notices: Vec<Error>,
}

impl Draft {
    pub fn new(master: usize, sidecar: Option<usize>, path: String, dataset: Dataset, tiles: Tiles) -> Self {
        let (frames, stored_scan, channels, files_linked) = Default::default();
        let (files_missing, gaps, faults, notices, rivals) = Default::default();
        let order = AxisOrder::usual(dataset.space.dims.len()).unwrap_or_default();
        Self {
            axes: AxisChoice { order, ..AxisChoice::default() },
            rivals,
            master,
            sidecar,
            path,
            dataset,
            tiles,
            frames,
            stored_scan,
            channels,
            files_linked,
            files_missing,
            gaps,
            faults,
            notices,
            parts: Vec::new(),
        }
    }

    /// Finds what can be read, and what all of it means.
    pub fn finish(mut self, picked: &Picked) -> Outcome {
        let name = picked.sources[self.master].name().to_owned();
        let place = format!("{name}, {}", self.path);
        let refuse = |e| Box::new(refusal(&name, e));
        let Some(master) = picked.metadata(self.master) else {
            return Err(refuse(words::no_image(&name, "nothing".to_owned())));
        };
        let dims = &self.dataset.space.dims;
        let datatype = &self.dataset.datatype;
        let dtype =
            datatype.pixel().ok_or_else(|| refuse(words::unsupported_dtype(place.clone(), &datatype.numpy())))?;
        let (frames, detector) = sizes(self.axes.order.spread(dims), self.frames)
            .ok_or_else(|| refuse(words::too_large(place.clone(), dims)))?;
        if frames == 0 || detector.pixels() == 0 {
            return Err(refuse(words::no_image(
                &place,
                format!("{frames} patterns of {} × {} px", detector.rows, detector.cols),
            )));
        }
        let has_channels = self.axes.order.has_channels();
        if has_channels && self.channels.is_empty() {
            let channels = self.axes.order.spread(dims)[1];
            self.channels = (1..=channels).take(MOST_CHANNELS).map(|number| format!("channel_{number}")).collect();
        }
        let channel = picked.channel.min((self.channels.len() as u32).saturating_sub(1));
        self.tiles.channel = (!self.channels.is_empty()).then_some(channel.into());
        let stored = Stored {
            dims: dims.clone(),
            dtype: datatype.numpy(),
            fill: self.dataset.fill.as_ref().and_then(|fill| datatype.numbers(fill).first().copied()),
            axes: self.axes.clone(),
            rivals: std::mem::take(&mut self.rivals),
        };
        self.tiles.gaps = self.gaps.len() as u32;
        self.find_readable(picked, frames, detector, &place);
        let block_px: Vec<_> =
            self.tiles.stores.iter().map(|store| block_px(picked.sources[usize::from(store.file)], store)).collect();
        let files = self.used_files(picked);
        let as_chunks =
            if self.tiles.readable.is_empty() { None } else { self.tiles.as_frame_chunks(detector, dtype, &block_px) };
        let storage = match as_chunks {
            Some((block_px, chunks, sections)) => Storage::BitshuffleLz4 { block_px, chunks, sections },
            None => Storage::Decoded(Box::new(std::mem::take(&mut self.tiles))),
        };
        let channel_name = self.channels.get(channel as usize).map(String::as_str);
        let mut bad_pixels = metadata::bad_pixels(&master, detector, channel_name, &mut self.notices);
        bad_pixels.add_gaps(detector, &self.gaps);
        let sidecar = self.sidecar.and_then(|place| picked.metadata(place));
        let hints = ScanHints {
            sidecar: sidecar.as_ref().and_then(metadata::sidecar_scan),
            stored: self.stored_scan,
            ..metadata::announced(&master)
        };
        let mut facts = metadata::facts(&master);
        let mut calibration = metadata::calibration(&master, sidecar.as_ref());
        scales::complete(&mut calibration, &master, &self.path, &mut facts);
        if self.dataset.folded.is_some() {
            facts.push(words::folded_axes(self.dataset.stored_dims(), &self.dataset.space.dims));
        }
        self.notices.extend(metadata::mirrored(&facts));
        let mut set = Acquisition {
            name,
            dataset: self.path,
            files,
            parts: self.parts,
            files_missing: self.files_missing,
            files_linked: self.files_linked,
            dtype,
            stored,
            channel,
            detector,
            frames,
            frames_announced: hints.announced(),
            scan: hints.choose(frames),
            storage,
            bad_pixels,
            saturation: metadata::saturation(&master, channel_name),
            calibration,
            facts,
            notices: self.notices,
            channels: self.channels,
        };
        tell_missing_files(&mut set);
        set.notices.extend(words::scan_remark(&set));
        set.notices.extend(words::axes_remark(&set));
        words::by_gravity(&mut set.notices);
        if set.readable_frames() > 0 {
            return Ok(set);
        }
        let nothing = || words::unwritten(place.clone(), frames.into(), frames.into());
        let error = set.notices.iter().find(|notice| words::is_fault(&notice.key)).cloned().unwrap_or_else(nothing);
        let (files_linked, files_missing) = (set.files_linked, set.files_missing.clone());
        Err(Box::new(Refused {
            name: set.name.clone(),
            error,
            files_linked,
            files_missing,
            meaning: Some(Box::new(set)),
        }))
    }

    /// Finds the readable frames, and tells why others are not.
    fn find_readable(&mut self, picked: &Picked, frames: u32, detector: Detector, place: &str) {
        for store in &mut self.tiles.stores {
            let len_bytes = picked.sources[usize::from(store.file)].len_bytes();
            let lost = store.drop_cut_off(len_bytes);
            if lost > 0 {
                self.faults.push((store.file.into(), words::cut_short("", len_bytes + 1, len_bytes, None)));
            }
        }
        let refused = self.tiles.stores.iter().find_map(|store| filter::check(&store.filters).err());
        self.tiles.find_readable(frames, detector);
        let count = |runs: &[std::ops::Range<u32>]| runs.iter().map(|run| u64::from(run.end - run.start)).sum::<u64>();
        let (readable, placed) = (count(&self.tiles.readable), count(&self.tiles.placed(frames, detector)));
        let cut = self.tell_cut_files(picked, readable, placed);
        if let Some(e) = refused {
            self.tiles.readable.clear();
            self.notices.push(Error { place: format!("{place}, {}", e.place), ..e });
            return;
        }
        if readable < placed && !cut {
            match self.faults.is_empty() {
                true => self.notices.push(words::unwritten(place.to_owned(), placed - readable, placed)),
                false => self.notices.extend(self.faults.iter().map(|(_, fault)| fault.clone())),
            }
        }
    }

    /// True when a used file is cut short; tells so, and which files were still being written.
    fn tell_cut_files(&mut self, picked: &Picked, readable: u64, placed: u64) -> bool {
        let mut places: Vec<usize> =
            self.tiles.stores.iter().map(|store| store.file.into()).chain([self.master]).collect();
        places.sort_unstable();
        places.dedup();
        let mut is_cut = false;
        for place in places {
            let Some(Metadata { file, .. }) = picked.metadata(place) else { continue };
            let has_lost = self.faults.iter().any(|(of, fault)| *of == place && fault.key == "truncated");
            if file.len_announced().is_some() || has_lost {
                is_cut = true;
                let expected = file.len_announced().unwrap_or(file.len_bytes() + 1);
                self.notices.push(words::cut_short(file.name(), expected, file.len_bytes(), Some((readable, placed))));
            }
            if file.is_open_for_writing() {
                self.notices.push(words::open_for_writing(file.name()));
            }
        }
        is_cut
    }

    /// The used files, master first; the stores then point into the list.
    fn used_files(&mut self, picked: &Picked) -> Vec<UsedFile> {
        let mut places = vec![self.master];
        for store in &mut self.tiles.stores {
            let place = usize::from(store.file);
            let known = places.iter().position(|known| *known == place);
            store.file = known.unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            }) as u16;
        }
        places.extend(self.sidecar.filter(|sidecar| !places.contains(sidecar)));
        let used = |place: usize| {
            let source = picked.sources[place];
            let len_announced = picked.metadata(place).and_then(|metadata| metadata.file.len_announced());
            UsedFile {
                name: source.name().to_owned(),
                len_bytes: source.len_bytes(),
                len_announced,
                picked: place as u32,
            }
        };
        places.into_iter().map(used).collect()
    }
}

/// Names of the channels of a set [images, channels, y, x]: the dataset `channel` beside it, or the
/// detector's `*_channel` groups; none for other sets.
pub fn channel_names(file: &Metadata, path: &str, dataset: &Dataset) -> Vec<String> {
    let [_, channels, _, _] = dataset.space.dims[..] else { return Vec::new() };
    let Some((group, _)) = path.rsplit_once('/') else { return Vec::new() };
    let beside = file.texts(&format!("{group}/channel"));
    if !beside.is_empty() && beside.len() as u64 == channels {
        return beside;
    }
    let groups = metadata::channel_groups(file);
    match groups.len() as u64 == channels {
        true => groups.iter().map(|name| name.trim_end_matches("_channel").to_owned()).collect(),
        false => Vec::new(),
    }
}

/// Frames and detector; `None` where they are more than can be counted.
pub fn sizes([.., rows, cols]: [u64; 4], frames: u64) -> Option<(u32, Detector)> {
    rows.checked_mul(cols).filter(|&pixels| pixels <= words::MOST_PIXELS)?;
    let frames = u32::try_from(frames).ok().filter(|&frames| frames <= words::MOST_FRAMES)?;
    Some((frames, Detector { rows: u32::try_from(rows).ok()?, cols: u32::try_from(cols).ok()? }))
}

fn tell_missing_files(set: &mut Acquisition) {
    if !set.files_missing.is_empty() {
        let expected = set.frames_announced.unwrap_or(0).max(set.frames.into());
        let readable = set.readable_frames();
        set.notices.push(words::missing_files(&set.files_missing, set.files_linked, readable, expected));
    }
}

/// Pixels of a block of bitshuffle: what the headers of some chunks say counts for more than the filter's
/// parameters, as long as most agree.
fn block_px(source: &dyn ByteSource, store: &Store) -> Option<u32> {
    let ([filter], Some(chunks)) = (store.filters.as_slice(), store.samples()) else { return None };
    let element = store.element_bytes;
    let told = filter.parameters.get(3).copied().filter(|&block| block > 0 && block.is_multiple_of(8));
    let told = told.unwrap_or(filter::default_block_px(element as usize) as u32);
    let some = chunks.iter().step_by((chunks.len() / HEADERS_READ).max(1)).take(HEADERS_READ);
    let headers = some.filter(|chunk| chunk.len_bytes >= 12).map(|chunk| chunk.offset..chunk.offset.saturating_add(12));
    let headers = source.read_many(&headers.collect::<Vec<_>>()).unwrap_or_default();
    let blocks = headers.iter().filter_map(|header| filter::header_block_bytes(header));
    let blocks = blocks.filter(|&bytes| bytes > 0 && bytes.is_multiple_of(element.saturating_mul(8)));
    let found: Vec<u32> = blocks.map(|bytes| bytes / element).collect();
    let votes = |block: u32| found.iter().filter(|other| **other == block).count();
    let best = found.iter().copied().max_by_key(|&block| (votes(block), block == told)).unwrap_or(told);
    Some(if votes(told) >= votes(best) { told } else { best })
}

const MOST_CHANNELS: usize = 64;
/// Chunks whose header is looked at.
const HEADERS_READ: usize = 3;
