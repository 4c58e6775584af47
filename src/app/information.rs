//! What was read, in full: the information panel, and the same as text.

use super::{
    App,
    event::StageTime,
    open_set::OpenSet,
    words::{scan_from_words, shape},
};
use crate::{
    acquisition::{BadPixels, Storage, sides},
    display::{bytes, count},
    engine::FrameState,
};

/// A heading and its lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub title: &'static str,
    pub rows: Vec<(String, String)>,
}

impl App {
    /// All that is known of the open set; empty without one.
    pub fn information(&self) -> Vec<Section> {
        let Some(set) = &self.set else { return Vec::new() };
        let mut sections = vec![
            Section { title: "Files", rows: files(set) },
            Section { title: "Stored", rows: stored(set) },
            Section { title: "Scan", rows: scan(set) },
            Section { title: "Patterns", rows: patterns(set) },
            Section { title: "Bad pixels", rows: bad_pixels(set) },
            Section { title: "Calibration", rows: calibration(self) },
            Section { title: "From the files", rows: facts(set) },
            Section { title: "In memory", rows: memory(self, set) },
        ];
        sections.retain(|section| !section.rows.is_empty());
        sections
    }

    /// When the stages of the load ran.
    pub fn stages(&self) -> &[StageTime] {
        self.set.as_ref().map_or(&[], |set| &set.report.stages)
    }

    /// The same as plain text.
    pub fn information_text(&self) -> String {
        let mut text = String::from("planescope: what was read\n");
        for section in self.information() {
            text += &format!("\n{}\n", section.title);
            for (name, value) in section.rows {
                text += &format!("  {name}: {value}\n");
            }
        }
        if !self.stages().is_empty() {
            text += "\nLoad\n";
        }
        for stage in self.stages() {
            text += &format!("  {}: {:.0} to {:.0} ms\n", stage.name, stage.start_ms, stage.end_ms);
        }
        text
    }
}

fn row(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn files(set: &OpenSet) -> Vec<(String, String)> {
    let acquisition = &set.acquisition;
    let mut rows: Vec<_> = acquisition.files.iter().map(|file| row(&file.name, bytes(file.len_bytes))).collect();
    rows.extend(acquisition.files_missing.iter().map(|name| row(name, "missing")));
    rows
}

fn stored(set: &OpenSet) -> Vec<(String, String)> {
    let acquisition = &set.acquisition;
    let detector = set.detector();
    let mut rows = vec![
        row("dataset", &acquisition.dataset),
        row("type", acquisition.dtype.name()),
        row("pattern", format!("{} × {} px", detector.rows, detector.cols)),
    ];
    let stored = &acquisition.stored;
    if !stored.dims.is_empty() {
        rows.push(row("stored as", format!("{} of {}", sides(&stored.dims), stored.dtype)));
        rows.push(row("axes", format!("{} ({})", stored.axes.order, stored.axes.from.words())));
    }
    if let Some(channel) = acquisition.channels.get(acquisition.channel as usize) {
        rows.push(row("channel", format!("{channel}, of {}", acquisition.channels.join(", "))));
    }
    if !stored.rivals.is_empty() {
        rows.push(row("other datasets", stored.rivals.join(", ")));
    }
    rows.push(row("shown", set.flip().words()));
    match &acquisition.storage {
        Storage::BitshuffleLz4 { block_px, chunks, sections } => {
            rows.push(row("filter", format!("bitshuffle LZ4, blocks of {} px", count((*block_px).into()))));
            let outlined = sections.iter().map(|section| u64::from(section.frames)).sum::<u64>();
            rows.push(row("chunks", format!("{}, one pattern each", count(chunks.len() as u64 + outlined))));
        }
        Storage::Decoded(_) => rows.push(row("filter", "unpacked by the processor")),
    }
    rows
}

fn scan(set: &OpenSet) -> Vec<(String, String)> {
    let scan = &set.scan;
    let mut rows = vec![row("shape", shape(scan.shape)), row("because", scan_from_words(scan.from))];
    if !scan.alternatives.is_empty() {
        let others: Vec<_> = scan.alternatives.iter().map(|&other| shape(other)).collect();
        rows.push(row("others that fit", others.join(", ")));
    }
    if !set.order().is_plain() {
        rows.push(row("order", set.order().words()));
    }
    let [empty, beyond] = set.unmatched();
    if beyond > 0 {
        rows.push(row("beyond the scan", format!("{} patterns", count(beyond))));
    }
    if empty > 0 {
        rows.push(row("without a pattern", format!("{} positions", count(empty))));
    }
    rows
}

/// The first so many missing and failed patterns are named.
const NAMED: usize = 10;

fn patterns(set: &OpenSet) -> Vec<(String, String)> {
    let acquisition = &set.acquisition;
    let number = |state| count(set.count(|other| other == state).into());
    let mut rows = vec![row("in the set", count(acquisition.frames.into()))];
    if let Some(announced) = acquisition.frames_announced {
        rows.push(row("announced by the master", count(announced)));
    }
    rows.push(row("read and valid", number(FrameState::Valid)));
    for (name, state) in [
        ("not read", FrameState::Unread),
        ("missing", FrameState::Missing),
        ("aborted (all pixels sentinel)", FrameState::Sentinel),
    ] {
        let frames = set.stored_states().iter().enumerate().filter(|(_, other)| **other == state);
        let first: Vec<_> = frames.take(NAMED).map(|(frame, _)| count(frame as u64)).collect();
        if !first.is_empty() {
            rows.push(row(name, format!("{}; first: {}", number(state), first.join("  "))));
        }
    }
    rows.push(row("failed", number(FrameState::Failed)));
    for fault in set.faults.iter().take(NAMED) {
        let why = format!("{}, in block {}", fault.fault.words(), fault.block);
        rows.push(row(&format!("pattern {}", count(fault.frame.into())), why));
    }
    rows
}

fn bad_pixels(set: &OpenSet) -> Vec<(String, String)> {
    let bad = &set.acquisition.bad_pixels;
    let from = bad.from.as_deref().unwrap_or("no mask in the files");
    let mut rows = vec![row("mask", from), row("left out", format!("{} px", count(set.bad.count().into())))];
    for bit in 0..32 {
        let pixels = bad.mask.iter().filter(|mask| **mask >> bit & 1 == 1).count();
        if pixels > 0 {
            let counts = BadPixels::REJECT >> bit & 1 == 1;
            let kept = if counts { "" } else { ", kept" };
            rows.push(row(&format!("bit {bit}"), format!("{} px{kept}", count(pixels as u64))));
        }
    }
    if set.bad_found > 0 {
        rows.push(row("sentinel in every pattern", format!("{} px", count(set.bad_found.into()))));
    }
    if let Some(hot) = set.hot.as_ref().map(|hot| hot.count()).filter(|hot| *hot > 0) {
        let taken = if set.hot_is_excluded { "left out" } else { "counted" };
        rows.push(row("hot", format!("{} px, {taken}", count(hot.into()))));
    }
    if let Some(saturation) = set.acquisition.saturation {
        rows.push(row("saturated from", format!("{} counts", count(saturation))));
    }
    rows
}

fn calibration(app: &App) -> Vec<(String, String)> {
    let text = |row: super::words::Row| {
        let origin = if row.remark.is_empty() { String::new() } else { format!(" ({})", row.remark) };
        (row.name.to_lowercase(), format!("{}{origin}", row.value))
    };
    app.calibration_rows().into_iter().map(text).collect()
}

fn facts(set: &OpenSet) -> Vec<(String, String)> {
    set.acquisition.facts.iter().map(|fact| row(&fact.name, &fact.value)).collect()
}

fn memory(app: &App, set: &OpenSet) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    if !app.memory_line().is_empty() {
        rows.push(row("resident", app.memory_line()));
    }
    if !app.computer.adapter.is_empty() {
        rows.push(row("adapter", &app.computer.adapter));
    }
    if app.computer.largest_buffer > 0 {
        rows.push(row("largest buffer", bytes(app.computer.largest_buffer)));
    }
    rows.extend(set.report.rows.iter().cloned());
    rows
}
