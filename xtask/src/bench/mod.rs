//! `cargo xtask bench`: loads, decodes and products of one set in a real Chrome, measured only when every frame is
//! right.
//!
//! Each repeat has a Chrome of its own with a new profile. The files go in through the page's file input; then the
//! hashes of all frames are compared with the set's known digest. One that differs voids the whole run: nothing is
//! printed or written but what was wrong, and the exit code is 1. With `--dist` nothing but this program, that folder
//! and Chrome is needed, so they can be carried to another machine.

mod figures;
mod measure;
mod race;
mod reopen;
pub mod rig;
mod scaling;
pub mod set;
pub mod sweep;
mod table;
pub mod visit;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::setup::say;
use measure::Measured;
use rig::Rig;
use set::Set;
use sweep::{Sweep, configurations};
use visit::{Facts, Setup, Void};

#[derive(clap::Args)]
pub struct Options {
    /// The files of one set, or the folder that holds them; with --scaling one folder a set
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    #[command(flatten)]
    rig: Rig,
    /// How often each thing is measured
    #[arg(long, default_value_t = 7)]
    repeats: usize,
    /// Loads and products besides what `--kernels` and `--reopen` measure; without those they are measured anyway, and
    /// re-opening with them
    #[arg(long)]
    loads: bool,
    /// The decode variants that the page lists, raced against the baseline by GPU timestamps
    #[arg(long)]
    kernels: bool,
    /// Only variants whose `variant/output/workgroup` contains this; several may be given
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// What another implementation of the baseline's design took on this machine, ms: 5 % off voids the comparison
    #[arg(long, value_name = "MS")]
    prototype_ms: Option<f64>,
    /// A knob of `__planescope.tuning` and the values to load with; several knobs give all combinations
    #[arg(long, value_name = "KNOB=A,B,C")]
    sweep: Vec<Sweep>,
    /// Opening again from the copy in the browser's storage; with `--loads` besides them. Every setting of a sweep
    /// writes the copy once
    #[arg(long)]
    reopen: bool,
    /// Loads of several sets: time and memory against frames, as a table and a plot
    #[arg(long, conflicts_with_all = ["kernels", "sweep", "digest", "expected"])]
    scaling: bool,
    /// The digest that the hashes must come to
    #[arg(long, value_name = "HEX")]
    digest: Option<String>,
    /// The table that says so; else NAME.expected.json beside the master
    #[arg(long, value_name = "FILE", conflicts_with = "digest")]
    expected: Option<PathBuf>,
    /// Where everything goes that was measured, as JSON; with --scaling a .md and an .svg beside it as well
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Run on a software adapter, too: that everything works, not how fast it is
    #[arg(long)]
    allow_software: bool,
}

/// 0 when all was measured, 1 when something was wrong with what the page decoded.
pub fn run(options: &Options) -> Result<ExitCode> {
    ensure!(options.repeats > 0, "--repeats 0 measures nothing");
    let sets = options.sets()?;
    let dist = options.rig.page()?;
    let outcome = tokio::runtime::Runtime::new()?.block_on(options.measure(&sets, &dist));
    let report = match outcome {
        Ok(report) => report,
        Err(error) => {
            let Some(void) = error.downcast_ref::<Void>() else { return Err(error) };
            eprintln!("VOID: {void}");
            return Ok(ExitCode::FAILURE);
        }
    };
    if let Some(out) = &options.out {
        report.write(out)?;
        say(&format!("all numbers are in {}", out.display()));
    }
    print!("{}", report.text);
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn sets(&self) -> Result<Vec<Set>> {
        if self.scaling {
            return self.sets.iter().map(|folder| Set::of(std::slice::from_ref(folder), None, None)).collect();
        }
        Ok(vec![Set::of(&self.sets, self.digest.as_deref(), self.expected.as_deref())?])
    }

    async fn measure(&self, sets: &[Set], dist: &Path) -> Result<Report> {
        let (setup, _served) = self.rig.setup(dist, &[], self.allow_software).await?;
        let outcome = match self.scaling {
            true => self.measure_scaling(&setup, sets).await,
            false => self.measure_set(&setup, &sets[0]).await,
        };
        setup.tidy(outcome.as_ref().is_err_and(|error| !error.is::<Void>()));
        outcome
    }

    async fn measure_set(&self, setup: &Setup, set: &Set) -> Result<Report> {
        set.warm()?;
        let tunings = configurations(&self.sweep);
        let mut report = Report::default();
        let has_loads = self.loads || !(self.kernels || self.reopen);
        if has_loads || self.reopen {
            let mut measured = match has_loads {
                true => measure::measure(setup, set, &tunings, self.repeats).await?,
                false => tunings.iter().map(Measured::of).collect(),
            };
            let is_reopened = self.reopen || self.sweep.is_empty();
            for measured in measured.iter_mut().filter(|_| is_reopened) {
                reopen::reopen(setup, set, measured, self.repeats).await?;
            }
            report.facts = measured.first().map(|measured| measured.facts.clone()).unwrap_or_default();
            measured.iter().for_each(|measured| report.text.push_str(&table::loads(measured, &set.made_as)));
            match &*measured {
                [only] if self.sweep.is_empty() => report.json.extend(only.json()),
                all => {
                    let with_knobs = all.iter().map(|measured| {
                        let mut object = measured.json();
                        object.insert("tuning".to_owned(), json!(measured.tuning));
                        Value::Object(object)
                    });
                    report.json.insert("configurations".to_owned(), with_knobs.collect());
                }
            }
        }
        if self.kernels {
            let race = race::race(setup, set, &self.only, self.repeats).await?;
            report.facts = race.facts.clone();
            report.text.push_str(&table::race(&race, &set.made_as, self.prototype_ms));
            report.json.extend(race.json());
            report.json.insert("prototype_ms".to_owned(), json!(self.prototype_ms));
        }
        report.json.insert("set".to_owned(), described(set));
        self.head(setup, &mut report);
        Ok(report)
    }

    async fn measure_scaling(&self, setup: &Setup, sets: &[Set]) -> Result<Report> {
        let (mut report, mut points, mut all) = (Report::default(), Vec::new(), Vec::new());
        for set in sets {
            set.warm()?;
            for measured in measure::measure(setup, set, &configurations(&[]), self.repeats).await? {
                points.extend(scaling::Point::of(set, &measured));
                let mut object = measured.json();
                object.insert("set".to_owned(), described(set));
                all.push(Value::Object(object));
                report.facts = measured.facts;
            }
        }
        points.sort_by(|a, b| (&a.kind, a.frames).partial_cmp(&(&b.kind, b.frames)).unwrap_or(a.name.cmp(&b.name)));
        report.json.insert("sets".to_owned(), Value::Array(all));
        report.text = scaling::table(&points);
        report.plot = Some(scaling::plot(&points));
        self.head(setup, &mut report);
        Ok(report)
    }

    /// What was measured on, in front of what was measured.
    fn head(&self, setup: &Setup, report: &mut Report) {
        let Facts { browser, adapter, date, is_software } = report.facts.clone();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let software = if is_software { "\nSOFTWARE ADAPTER: these times say nothing about a GPU" } else { "" };
        let head =
            format!("{adapter}, {browser}, {cores} cores, {date}, medians of {} repeats{software}\n", self.repeats);
        report.text.insert_str(0, &head);
        let mut json = Map::new();
        for (key, value) in [
            ("adapter", json!(adapter)),
            ("software_adapter", json!(is_software)),
            ("browser", json!(browser)),
            ("date", json!(date)),
            ("cores", json!(cores)),
            ("repeats", json!(self.repeats)),
            ("flags", json!(setup.flags)),
        ] {
            json.insert(key.to_owned(), value);
        }
        json.append(&mut report.json);
        report.json = json;
    }
}

fn described(set: &Set) -> Value {
    json!({"name": set.name, "digest": set.digest, "frames": set.frames, "made_as": set.made_as})
}

/// What a run came to.
#[derive(Default)]
struct Report {
    text: String,
    json: Map<String, Value>,
    plot: Option<String>,
    facts: Facts,
}

impl Report {
    fn write(&self, out: &Path) -> Result<()> {
        let write = |path: &Path, text: &str| std::fs::write(path, text).with_context(|| path.display().to_string());
        write(out, &serde_json::to_string(&self.json)?)?;
        if let Some(plot) = &self.plot {
            write(&out.with_extension("svg"), plot)?;
            write(&out.with_extension("md"), &self.text)?;
        }
        Ok(())
    }
}
