//! What many frames and files cost to list: time, and memory for what is there instead of what is declared.
//!
//! The files are made by `tests/data/large/make_files.py`; `PLANESCOPE_PYTHON` is a Python with h5py and hdf5plugin,
//! without it nothing is measured, and the test says so. The limits are those of an optimised build
//! (`cargo test --release --test large`); one without optimisation has [`SLOWER`] times as long.

#[path = "help/made.rs"]
mod made;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use planescope::{
    acquisition::report::{Request, inspect},
    source::{ByteSource, Disk},
};
use serde_json::Value;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const SLOWER: u32 = if cfg!(debug_assertions) { 4 } else { 1 };

/// One test, as the peak of memory is that of the whole process.
#[test]
fn listing_costs_time_for_what_is_there_and_no_memory_for_what_is_not() -> Outcome {
    let Some(folder) = made::made("large", &[])? else { return Ok(()) };

    let declared = list(&folder.join("declared"), true, Duration::from_secs(1))?;
    assert_eq!(
        (declared["shape"].to_string(), declared["frames_readable"].as_u64()),
        ("[4000000,192,192]".into(), Some(2))
    );
    if let Some(peak) = peak_bytes() {
        println!("4,000,000 frames declared: at most {} KB of memory", peak >> 10);
        assert!(peak < 64 << 20, "{peak} bytes");
    }
    let links = list(&folder.join("links"), false, Duration::from_secs(1))?;
    assert_eq!((links["files_linked"].as_u64(), links["files_present"].as_u64()), (Some(1500), Some(3)));
    let million = list(&folder.join("million"), false, Duration::from_millis(1500))?;
    assert_eq!(
        (million["frames_readable"].as_u64(), million["files_missing"].to_string()),
        (Some(1 << 20), "[]".into())
    );
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn list(folder: &Path, has_hashes: bool, limit: Duration) -> Outcome<Value> {
    let started = Instant::now();
    let files = fs::read_dir(folder)?.map(|entry| Ok(Disk::open(&entry?.path())?)).collect::<Outcome<Vec<Disk>>>()?;
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let report = inspect(&sources, Request { has_hashes })?;
    let elapsed = started.elapsed();
    println!("{}: {elapsed:?}", folder.display());
    assert!(elapsed < limit * SLOWER, "{elapsed:?} for {}", folder.display());
    Ok(report.json)
}

/// The most memory that this process has used, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? << 10)
}
