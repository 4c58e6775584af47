//! One set after the other: loaded, rendered, saved, and what it took.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

use planescope::{
    acquisition::{self, Acquisition, beside, counted},
    display::bytes,
    engine::FrameState,
    gpu::Context,
    source::{ByteSource, Disk},
};

use crate::{
    load::{Loaded, Machine, load},
    product::{NAMES, Product, Studio},
    progress::{Bar, peak_memory_bytes},
    save::save,
};

/// What is rendered, and where to.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Masters, whose data files are found beside them, or all files of one or several sets
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    #[arg(long = "product", value_delimiter = ',', default_value = "bf,adf,com,mean", help = format!("Which of {NAMES}"))]
    pub products: Vec<Product>,
    /// The folder of the files; it is made where it is not there
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// The CPU twins, also where there is a GPU
    #[arg(long)]
    pub cpu: bool,
}

/// Whether the sets were whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Whole,
    /// Files or frames are missing, or frames could not be decoded; all else was rendered.
    Partial,
}

/// Renders all.
///
/// # Errors
/// In words, when a set cannot be rendered at all; those before it are done.
pub fn run(options: &Options) -> Result<Outcome, String> {
    std::fs::create_dir_all(&options.out).map_err(|cause| format!("{}: {cause}", options.out.display()))?;
    let machine = machine(options.cpu);
    let disks = disks(&options.files)?;
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    let opened = acquisition::open(&sources, &acquisition::Options::default());
    if let Some(refused) = opened.refused.first() {
        return Err(format!("{}: {}", refused.name, refused.error));
    }
    let mut outcome = Outcome::Whole;
    for set in opened.sets {
        if tilt(options, set, &disks, &machine)? == Outcome::Partial {
            outcome = Outcome::Partial;
        }
    }
    let gpu = match &machine {
        Machine::Gpu(context) => format!(", {} on the graphics adapter", bytes(context.ledger().peak_bytes())),
        Machine::Cpu => String::new(),
    };
    match peak_memory_bytes() {
        Some(peak) => println!("peak memory: {}{gpu}", bytes(peak)),
        None => println!("peak memory: unknown on this system{gpu}"),
    }
    Ok(outcome)
}

/// The graphics adapter, unless there is none or it is not wanted; which one is told.
fn machine(is_cpu: bool) -> Machine {
    if is_cpu {
        println!("computing on the processor (--cpu)");
        return Machine::Cpu;
    }
    match pollster::block_on(Context::new()) {
        Ok(context) => {
            let software = if context.adapter.is_software { " (a software one: slow)" } else { "" };
            println!("computing on {}{software}", context.adapter.info);
            Machine::Gpu(Rc::new(context))
        }
        Err(error) => {
            println!(
                "computing on the processor, slower and with the same numbers: there is no graphics adapter ({})",
                error.found
            );
            Machine::Cpu
        }
    }
}

/// All files of the sets: those given, and what lies beside masters whose data files were not given.
fn disks(files: &[PathBuf]) -> Result<Vec<Disk>, String> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let has_master = |path: &Path| path.to_string_lossy().ends_with("_master.h5");
    for file in files {
        let found = match has_master(file) && files.iter().all(|other| has_master(other)) {
            true => beside(file).map_err(|error| error.to_string())?.files,
            false => vec![file.clone()],
        };
        paths.extend(found.into_iter().filter(|path| !paths.contains(path)).collect::<Vec<_>>());
    }
    paths.iter().map(|path| Disk::open(path).map_err(|error| error.to_string())).collect()
}

/// One set.
fn tilt(options: &Options, set: Acquisition, disks: &[Disk], machine: &Machine) -> Result<Outcome, String> {
    let start = Instant::now();
    let stem = stem(&set.name);
    let bar = Bar::new(&stem);
    let words = |error: planescope::Error| format!("{stem}: {error}");
    for notice in &set.notices {
        println!("{stem}: {notice}");
    }
    let loaded = pollster::block_on(load(set, disks, machine, &|done, all| bar.tell(done, all)));
    bar.clear();
    let loaded = loaded.map_err(words)?;
    let loading = start.elapsed();
    let mut studio = Studio::new(&loaded);
    let mut saved = 0;
    for product in &options.products {
        for picture in pollster::block_on(studio.pictures(product)).map_err(words)? {
            let files = save(&options.out, &stem, &picture, cell(&loaded.set, product));
            saved += files.map_err(|cause| format!("{}: {cause}", options.out.display()))?.len();
        }
    }
    Ok(report(&loaded, &stem, saved, loading, start.elapsed()))
}

fn report(loaded: &Loaded, stem: &str, saved: usize, loading: Duration, all: Duration) -> Outcome {
    let states = loaded.engine.frame_states();
    let count = |state| states.iter().filter(|&&other| other == state).count() as u64;
    let (valid, failed) = (count(FrameState::Valid), count(FrameState::Failed));
    // Positions that the scan did not reach have no frame at all.
    let unreached = loaded.set.scan.shape.positions().saturating_sub(states.len() as u64);
    let missing = count(FrameState::Missing) + count(FrameState::Sentinel) + unreached;
    println!(
        "{stem}: {} from {} in {:.2} s ({:.2} s to load)",
        counted(saved as u64, "file"),
        counted(valid, "pattern"),
        all.as_secs_f64(),
        loading.as_secs_f64()
    );
    if failed + missing == 0 && loaded.set.files_missing.is_empty() {
        return Outcome::Whole;
    }
    println!(
        "{stem}: {} missing, {} could not be decoded; there is no value where one of them lies",
        counted(missing, "pattern"),
        counted(failed, "pattern")
    );
    Outcome::Partial
}

/// The set's name without what all masters have in common.
fn stem(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.strip_suffix("_master").unwrap_or(stem).to_owned()
}

/// Length of a side of a pixel of the picture, and its unit.
fn cell(set: &Acquisition, product: &Product) -> (f64, &'static str) {
    let is_pattern = matches!(product, Product::Mean | Product::Max);
    let of = |length: Option<f64>, unit| length.map_or((1.0, "pixel"), |length| (length, unit));
    match is_pattern {
        true => of(set.calibration.detector_mrad_per_px, "mrad"),
        false => of(set.calibration.scan_step_nm, "nm"),
    }
}
