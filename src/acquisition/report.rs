//! What `inspect` tells of a drop of files: what was read, what it means, what is wrong.
//!
//! Keys and meanings are those of `rules` in the fixtures' `expected.json`.

mod numbers;

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::{
    Acquisition, Opened, Options, Refused, ScanFrom,
    frames::{self, Frame},
    open, words,
};
use crate::{Error, Kind, Result, filter::Fault, source::ByteSource};
use numbers::Numbers;

/// What `inspect` was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Decode every frame and give hashes and sums. Without it frames are decoded only where they are few.
    pub has_hashes: bool,
}

/// Everything that `inspect` tells.
#[derive(Clone, Debug)]
pub struct Report {
    /// One object, see the module's words.
    pub json: Value,
    /// The same for people.
    pub text: String,
    /// True when nothing can be shown.
    pub is_error: bool,
}

/// Reads `sources` and reports on the first set.
///
/// # Errors
/// `Io` when a file cannot be read any more while its frames are decoded.
pub fn inspect(sources: &[&dyn ByteSource], request: Request) -> Result<Report> {
    let mut opened = open(sources, &Options::default());
    let mut json = Map::new();
    if !opened.sets.is_empty() {
        let is_decoded = request.has_hashes || compressed_bytes(&opened.sets[0]) <= FEW_BYTES;
        json.insert("decoded".into(), is_decoded.into());
        if is_decoded {
            let numbers = decode(&mut opened.sets[0], sources)?;
            if request.has_hashes {
                numbers.tell(&mut json);
                tell_channels(&opened.sets[0], sources, &mut json)?;
                tell_probes(&opened.sets[0], sources, &mut json)?;
                tell_second(&opened, sources, &mut json)?;
            }
            if numbers.frames_readable == 0 {
                refuse_first(&mut opened);
            } else {
                json.insert("unreadable_frames".into(), runs(&numbers.unreadable));
                json.insert("frames_readable".into(), numbers.frames_readable.into());
            }
        }
    }
    match (opened.sets.first(), opened.refused.first()) {
        (Some(set), _) => tell_set(set, &opened, &mut json),
        (None, Some(refused)) => tell_refused(refused, &mut json),
        (None, None) => {}
    }
    json.insert("message".into(), words::message(&opened).into());
    let is_error = opened.sets.is_empty();
    Ok(Report { text: text(&opened, &json), json: Value::Object(json), is_error })
}

/// Decodes every frame; failed ones become a notice.
fn decode(set: &mut Acquisition, sources: &[&dyn ByteSource]) -> Result<Numbers> {
    let mut numbers = Numbers::of(set);
    let mut failed: Vec<(u32, Fault)> = Vec::new();
    gaps(set).into_iter().for_each(|gap| numbers.add_gap(gap));
    for run in set.readable() {
        frames::for_each(set, sources, run, &mut |frame, outcome| {
            if let Frame::Failed(fault) = outcome {
                failed.push((frame, fault));
            }
            numbers.add(frame, outcome);
        })?;
    }
    numbers.finish();
    if let Some((frame, fault)) = failed.first() {
        let what = match failed.len() {
            1 => "1 pattern could not be unpacked".to_owned(),
            several => format!("{} could not be unpacked", words::counted(several as u64, "pattern")),
        };
        let e = Error::new(Kind::File, "corrupt_chunk", what).at(format!("pattern {frame}, {}", set.dataset));
        let found = format!("block {}: {}", fault.block, fault.fault.words());
        set.notices.push(
            e.expected(format!("{} bytes", words::thousands(set.frame_bytes() as u64)))
                .found(found)
                .action("Left out of every sum"),
        );
        words::by_gravity(&mut set.notices);
    }
    Ok(numbers)
}

/// Every channel's own numbers.
fn tell_channels(set: &Acquisition, sources: &[&dyn ByteSource], json: &mut Map<String, Value>) -> Result<()> {
    let mut channels = Vec::new();
    for (channel, name) in set.channels.iter().enumerate() {
        let mut opened = open(sources, &Options { channel: channel as u32, ..Options::default() });
        let Some(own) = opened.sets.iter_mut().find(|other| other.name == set.name) else { continue };
        let numbers = decode(own, sources)?;
        let mut told = Map::new();
        numbers.tell(&mut told);
        told.insert("name".into(), name.clone().into());
        told.retain(|key, _| ["name", "sha256", "sum_unmasked"].contains(&key.as_str()));
        channels.push(Value::Object(told));
    }
    if !channels.is_empty() {
        json.insert("channels".into(), channels.into());
    }
    Ok(())
}

/// Single frames of a set that is not read as a whole: the first and the last that were written.
fn tell_probes(set: &Acquisition, sources: &[&dyn ByteSource], json: &mut Map<String, Value>) -> Result<()> {
    if logical_bytes(set) <= WHOLE_BYTES {
        return Ok(());
    }
    json.insert("logical_bytes".into(), logical_bytes(set).into());
    let readable = set.readable();
    let ends = [readable.first().map(|run| run.start), readable.last().map(|run| run.end - 1)];
    let mut probes = Vec::new();
    for frame in ends.into_iter().flatten() {
        frames::for_each(set, sources, frame..frame + 1, &mut |frame, outcome| {
            if let Frame::Pixels(pixels) = outcome {
                probes.push(json!({"frame": frame, "sha256": numbers::sha256(pixels)}));
            }
        })?;
    }
    probes.dedup();
    json.insert("probes".into(), probes.into());
    Ok(())
}

fn tell_second(opened: &Opened, sources: &[&dyn ByteSource], json: &mut Map<String, Value>) -> Result<()> {
    let Some(second) = opened.sets.get(1) else { return Ok(()) };
    let mut second = second.clone();
    let numbers = decode(&mut second, sources)?;
    let mut told = Map::new();
    numbers.tell(&mut told);
    let sha256 = told.remove("sha256");
    json.insert(
        "second".into(),
        json!({"shape": shape(&second), "sha256": sha256, "scan": scan(&second), "scan_from": scan_from(&second)}),
    );
    Ok(())
}

/// A set of which no frame could be decoded is one that cannot be shown.
fn refuse_first(opened: &mut Opened) {
    let set = opened.sets.remove(0);
    let fault = set.notices.iter().find(|notice| words::is_fault(&notice.key)).cloned();
    let error = fault.unwrap_or_else(|| words::unwritten(set.dataset.clone(), set.frames.into(), set.frames.into()));
    let (files_linked, files_missing) = (set.files_linked, set.files_missing.clone());
    opened.refused.insert(
        0,
        Refused { name: set.name.clone(), error, files_linked, files_missing, meaning: Some(Box::new(set)) },
    );
}

fn tell_set(set: &Acquisition, opened: &Opened, json: &mut Map<String, Value>) {
    let fault = set.notices.iter().find(|notice| words::is_fault(&notice.key));
    let readable = json.get("frames_readable").and_then(Value::as_u64).unwrap_or(set.readable_frames());
    let is_whole = fault.is_none() && readable == u64::from(set.frames);
    json.insert("outcome".into(), if is_whole { "ok" } else { "partial" }.into());
    json.insert("error".into(), fault.map(|fault| fault.key.to_string()).into());
    json.insert("frames_readable".into(), readable.into());
    json.entry("unreadable_frames").or_insert_with(|| runs(&gaps(set)));
    tell_meaning(set, json);
    if opened.sets.len() > 1 {
        json.insert("choices".into(), opened.sets.iter().map(|set| set.name.clone()).collect());
    }
}

fn tell_refused(refused: &Refused, json: &mut Map<String, Value>) {
    for key in ["dataset", "shape", "dtype", "scan", "scan_from", "sha256", "sum_good"] {
        json.entry(key).or_insert(Value::Null);
    }
    json.insert("outcome".into(), "error".into());
    json.insert("error".into(), refused.error.key.to_string().into());
    json.insert("frames_readable".into(), 0.into());
    json.insert("files_linked".into(), refused.files_linked.into());
    json.insert("files_present".into(), (u64::from(refused.files_linked) - refused.files_missing.len() as u64).into());
    json.insert("files_missing".into(), refused.files_missing.clone().into());
    if let Some(set) = &refused.meaning {
        Numbers::of(set).tell(json);
        json.insert("unreadable_frames".into(), runs(std::slice::from_ref(&(0..set.frames))));
        tell_meaning(set, json);
    }
}

fn tell_meaning(set: &Acquisition, json: &mut Map<String, Value>) {
    let cut = set.files.iter().find(|file| file.len_announced.is_some());
    let notice = set.notices.iter().find(|notice| notice.key == "swmr_open");
    let calibration = &set.calibration;
    let more = json!({
        "name": set.name,
        "dataset": set.dataset,
        "shape": shape(set),
        "stored_shape": set.stored.dims,
        "dtype": set.dtype.name(),
        "stored_dtype": set.stored.dtype,
        "fill_value": fill(set),
        "scan": scan(set),
        "scan_from": scan_from(set),
        "scan_alternatives": set.scan.alternatives.iter().map(|scan| [scan.rows, scan.cols]).collect::<Vec<_>>(),
        "surplus": set.scan.surplus(set.frames),
        "frames_announced": set.frames_announced,
        "files": set.files.iter().map(|file| file.name.clone()).collect::<Vec<_>>(),
        "files_linked": set.files_linked,
        "files_present": u64::from(set.files_linked) - (set.files_missing.len() as u64).min(set.files_linked.into()),
        "files_missing": set.files_missing,
        "masked_pixels": masked_pixels(set),
        "mask_from": set.bad_pixels.from,
        "saturation": set.saturation,
        "scan_step_nm": calibration.scan_step_nm,
        "detector_mrad_per_px": calibration.detector_mrad_per_px,
        "energy_ev": calibration.energy_ev,
        "facts": set.facts.iter().map(|fact| (fact.name.clone(), Value::from(fact.value.clone()))).collect::<Map<_, _>>(),
        "notice": notice.map(|notice| notice.key.to_string()),
        "notices": set.notices.iter().map(|notice| notice.key.to_string()).collect::<Vec<_>>(),
        "channel": set.channels.get(set.channel as usize),
        "file_bytes": cut.map(|file| file.len_bytes),
        "file_bytes_expected": cut.and_then(|file| file.len_announced),
    });
    if let Value::Object(more) = more {
        json.extend(more);
    }
}

fn shape(set: &Acquisition) -> [u32; 3] {
    [set.frames, set.detector.rows, set.detector.cols]
}

fn scan(set: &Acquisition) -> [u32; 2] {
    [set.scan.shape.rows, set.scan.shape.cols]
}

fn scan_from(set: &Acquisition) -> Value {
    serde_json::to_value(set.scan.from).unwrap_or(Value::Null)
}

/// Integers as integers.
fn fill(set: &Acquisition) -> Value {
    match set.stored.fill {
        Some(fill) if fill.fract() == 0.0 && fill.abs() < 9e15 => json!(fill as i64),
        other => json!(other),
    }
}

fn masked_pixels(set: &Acquisition) -> u32 {
    set.bad_pixels.bits(set.detector).iter().map(|word| word.count_ones()).sum()
}

fn runs(runs: &[Range<u32>]) -> Value {
    runs.iter().map(|run| vec![run.start, run.end]).collect()
}

/// Frames that were not written.
fn gaps(set: &Acquisition) -> Vec<Range<u32>> {
    let mut next = 0;
    let mut gaps = Vec::new();
    for run in set.readable() {
        if next < run.start {
            gaps.push(next..run.start);
        }
        next = run.end;
    }
    if next < set.frames {
        gaps.push(next..set.frames);
    }
    gaps
}

fn logical_bytes(set: &Acquisition) -> u64 {
    u64::from(set.frames) * set.frame_bytes() as u64
}

/// Bytes that have to be read to decode the set, at most.
fn compressed_bytes(set: &Acquisition) -> u64 {
    set.files
        .iter()
        .map(|file| file.len_bytes)
        .fold(0, u64::saturating_add)
        .min(set.readable_frames().saturating_mul(set.frame_bytes() as u64))
}

fn text(opened: &Opened, json: &Map<String, Value>) -> String {
    let mut lines = vec![words::message(opened)];
    if let Some(set) = opened.sets.first() {
        let mut line = |name: &str, value: String| lines.push(format!("  {name:16} {value}"));
        line("read", words::summary(set));
        line("set", format!("{}, {}", set.name, set.dataset));
        line("stored", format!("{:?} of {}", set.stored.dims, set.stored.dtype));
        line(
            "files",
            format!("{} used, {} linked, {} missing", set.files.len(), set.files_linked, set.files_missing.len()),
        );
        line("bad pixels", format!("{} ({})", masked_pixels(set), set.bad_pixels.from.as_deref().unwrap_or("no mask")));
        if set.scan.from == ScanFrom::Guess {
            let others: Vec<String> =
                set.scan.alternatives.iter().map(|scan| format!("{} × {}", scan.rows, scan.cols)).collect();
            line("or a scan of", others.join(", "));
        }
        for (name, value, unit) in [
            ("scan step", set.calibration.scan_step_nm, "nm"),
            ("detector pixel", set.calibration.detector_mrad_per_px, "mrad, nominal"),
            ("beam energy", set.calibration.energy_ev.map(|ev| ev / 1e3), "keV"),
        ] {
            if let Some(value) = value {
                line(name, format!("{value} {unit}"));
            }
        }
        set.facts.iter().for_each(|fact| line(&fact.name.to_lowercase(), fact.value.clone()));
        for key in [
            "frames_readable",
            "sha256",
            "sha256_readable",
            "sum_good",
            "sum_unmasked",
            "sentinel_pixels",
            "sentinel_samples",
            "saturated_samples",
        ] {
            if let Some(value) = json.get(key).filter(|value| !value.is_null()) {
                line(key, value.to_string().trim_matches('"').to_owned());
            }
        }
        set.notices.iter().for_each(|notice| lines.push(format!("- {notice}")));
        opened.sets[1..]
            .iter()
            .for_each(|other| lines.push(format!("Also here: {}: {}", other.name, words::summary(other))));
    }
    opened
        .refused
        .iter()
        .skip(usize::from(opened.sets.is_empty()))
        .for_each(|refused| lines.push(format!("- {}", refused.error)));
    lines.join("\n")
}

/// Sets up to this are decoded even when no hashes are asked for, so that failed frames are told.
const FEW_BYTES: u64 = 256 << 20;
/// Sets beyond this are probed by single frames as well.
const WHOLE_BYTES: u64 = 64 << 30;
