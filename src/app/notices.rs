//! Messages: what they say of the open set, and the buttons that belong to them. Title = what; then where, expected,
//! found, what to do.

use super::{Command, open_set::OpenSet};
use crate::{
    Error, Kind,
    acquisition::{counted, is_fault},
    display::count,
    engine::{FrameState, PixelSet},
    products::Flip,
};

/// Buttons that belong to a message, by its key.
pub fn actions(error: &Error) -> Vec<(&'static str, Command)> {
    match &*error.key {
        "missing_source" => vec![("Add files…", Command::AddFiles)],
        MIRRORED => {
            vec![("Flip left–right", Command::Flip(Flip::Columns)), ("Flip up–down", Command::Flip(Flip::Rows))]
        }
        STOPPED => vec![("Read the rest", Command::ReadTheRest)],
        "session_waits" => vec![("Open files…", Command::OpenFiles), ("Open folder…", Command::OpenFolder)],
        HOT => vec![("Exclude", Command::ExcludeHot(true))],
        "axes_guess" => vec![("Change axes", Command::EditAxes), ("Choose dataset…", Command::Datasets)],
        "gpu_reset" => Vec::new(),
        _ if error.kind == Kind::Gpu => vec![("Use the processor", Command::UseCpu)],
        _ if is_about_scan(error) => vec![("Edit shape", Command::EditScan)],
        _ => Vec::new(),
    }
}

/// Help paragraphs of the page, by place.
pub const HELP: [&str; 5] = ["help-open", "help-detector", "help-deflection", "help-export", "help-gpu"];

/// The place in [`HELP`] of the paragraph about a message.
pub fn help(error: &Error) -> usize {
    match &*error.key {
        "no_disc" | HOT => 1,
        "no_rotation" => 2,
        "session_differs" | "session_waits" | "bad_session" | "no_export" => 3,
        _ if error.kind == Kind::Gpu => 4,
        _ => 0,
    }
}

pub fn is_about_scan(error: &Error) -> bool {
    error.key.starts_with("scan_") || matches!(&*error.key, "surplus" | "deficit")
}

/// Whether it is only worth knowing: it makes the set neither partial nor a guess.
pub fn is_note(error: &Error) -> bool {
    !is_fault(&error.key) && !is_about_scan(error) && error.key != "session_differs"
}

/// Key of the notice that a firmware mirrored its patterns.
pub const MIRRORED: &str = "mirrored_firmware";

/// Key of [`hot`].
pub const HOT: &str = "hot_pixels";

/// Hot pixels were found; so many of them are named.
pub fn hot(hot: &PixelSet) -> Error {
    const NAMED: usize = 5;
    let cols = hot.detector.cols.max(1);
    let all = (0..hot.detector.pixels()).filter(|pixel| hot.contains(*pixel));
    let places: Vec<String> = all.take(NAMED).map(|pixel| format!("{}, {}", pixel % cols, pixel / cols)).collect();
    let number = hot.count();
    let more = if number as usize > NAMED { " …" } else { "" };
    let what = format!("{} found", counted(number.into(), "hot pixel"));
    Error::new(Kind::File, HOT, what)
        .at(format!("pixel x, y as stored: {}{more}", places.join("; ")))
        .found("many more counts than in the pixels around, summed over all patterns")
        .action("Exclude them from every sum, or keep them")
}

/// Key of [`stopped`].
pub const STOPPED: &str = "stopped";

/// The GPU was reset, and everything is as it was.
pub fn gpu_was_reset() -> Error {
    Error::new(Kind::Gpu, "gpu_reset", "The GPU was reset")
        .found("a lost graphics device: by the driver, by another page, or after the computer slept")
        .action("Nothing is to be done: all was read again, and the view is as it was")
}

/// Reading was stopped.
pub fn stopped(set: &OpenSet) -> Error {
    let valid = set.count(|state| state == FrameState::Valid);
    Error::new(Kind::Io, STOPPED, "Reading was stopped")
        .at(&set.acquisition.name)
        .expected(format!("{} patterns", count(set.acquisition.frames.into())))
        .found(format!("{}; the rest is dotted and left out of every sum", count(valid.into())))
}

/// Patterns could not be unpacked.
pub fn faults(set: &OpenSet) -> Error {
    let n = set.faults.len() as u64;
    let title = match n {
        1 => "1 pattern could not be unpacked".to_owned(),
        n => format!("{} patterns could not be unpacked", count(n)),
    };
    let error = Error::new(Kind::File, "corrupt_chunk", title).action("They are hatched and left out of every sum");
    let Some(first) = set.faults.first() else { return error };
    let place = match n {
        1 => format!("pattern {}", count(first.frame.into())),
        _ => format!("pattern {} and others", count(first.frame.into())),
    };
    error.at(place).found(format!("{}, in block {}", first.fault.words(), first.block))
}
