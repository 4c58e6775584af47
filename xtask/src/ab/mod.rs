//! `cargo xtask ab`: A/B experiments on the GPU, by the rules of [`planescope::ab`].
//!
//! A probe is run in two browsers that know nothing of each other, and judged by the readings of both. A run that
//! breaks a clause is void: the clause is named, no number is printed or written, and the exit code is 3. With `--dist`
//! and `--probes` nothing but this program, those folders and Chrome is needed.

mod compare;
mod contents;
mod html;
mod plot;
mod probe;
mod record;
mod report;
mod sessions;
pub mod software;

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail, ensure};
use planescope::ab::{Clause, Clock, Session, Verdict, Void, judge};
use serde_json::{Value, json};

use crate::{
    bench::{
        rig::{Rig, host_gpu},
        set::Set,
        visit::{self, Facts},
    },
    chrome, paths,
    setup::say,
};
use contents::Assets;
use probe::{Kind, Probe};
use report::{ClockReport, Report, RigFacts, Rounded};
use sessions::{Bench, Hardware};

#[derive(clap::Args)]
pub struct Options {
    /// Probes by name or file; `clock` characterises the GPU's clock
    what: Vec<String>,
    /// All probes with what was found
    #[arg(long, conflicts_with_all = ["what", "compare", "record"])]
    list: bool,
    /// Say whether the one probe is now better or worse than in this report, by the same rules
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Fill the records of probes from these reports, at least two of each probe
    #[arg(long, value_name = "REPORT.json", num_args = 1.., conflicts_with = "what")]
    record: Vec<PathBuf>,
    /// The folder of probes
    #[arg(long, value_name = "DIR")]
    probes: Option<PathBuf>,
    /// The set for probes of decode variants, products and loads: its files or their folder
    #[arg(long, value_name = "FILE", num_args = 1..)]
    set: Vec<PathBuf>,
    /// Run each probe this often and count the verdicts
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// The folder for NAME.json and NAME.html
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    rig: Rig,
}

/// 0 when all was measured, 3 when a clause was broken.
pub fn run(options: &Options) -> Result<ExitCode> {
    let folder = options.probes.clone().unwrap_or_else(|| paths::root().join("tests/probes"));
    if options.list {
        print!("{}", record::list(&Probe::all(&folder)?));
        return Ok(ExitCode::SUCCESS);
    }
    if !options.record.is_empty() {
        let reports = options.record.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
        record::write(&folder, &reports)?;
        return Ok(ExitCode::SUCCESS);
    }
    ensure!(!options.what.is_empty(), "which probe? `--list` names them; `clock` characterises the clock");
    ensure!(options.compare.is_none() || options.what.len() == 1, "--compare is about one probe");
    let dist = options.rig.page()?;
    let outcome = tokio::runtime::Runtime::new()?.block_on(options.run_all(&folder, &dist));
    exit(outcome)
}

/// A broken clause is told by its name.
fn exit(outcome: Result<()>) -> Result<ExitCode> {
    let Err(error) = outcome else { return Ok(ExitCode::SUCCESS) };
    let Some(void) = void_in(&error) else { return Err(error) };
    eprintln!("VOID, {void}");
    Ok(ExitCode::from(VOID))
}

const VOID: u8 = 3;

/// The clause that an error is about.
fn void_in(error: &anyhow::Error) -> Option<Void> {
    let wrong =
        || error.downcast_ref::<visit::Void>().map(|visit::Void(why)| Void::new(Clause::Identical, why.clone()));
    let missing = || {
        let why = error.downcast_ref::<visit::NotLoaded>()?;
        Some(Void::new(Clause::Content, why.to_string()))
    };
    error.downcast_ref::<Void>().cloned().or_else(wrong).or_else(missing)
}

fn read(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let report: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is no report of ab", path.display()))?;
    ensure!(
        report["version"] == planescope::ab::VERSION,
        "{} is a report of version {}, expected {}: run the probe again",
        path.display(),
        report["version"],
        planescope::ab::VERSION
    );
    serde_json::from_value(report).with_context(|| format!("{} is no report of ab", path.display()))
}

impl Options {
    async fn run_all(&self, folder: &Path, dist: &Path) -> Result<()> {
        let mut void = None;
        for what in &self.what {
            let outcome = match what.as_str() {
                "clock" => self.clock(dist).await,
                name => self.probe(&Probe::named(folder, name)?, dist).await,
            };
            let Err(error) = outcome else { continue };
            match void_in(&error) {
                Some(_) if self.what.len() == 1 => return Err(error),
                Some(found) => {
                    eprintln!("VOID, {what}: {found}");
                    void = Some(found);
                }
                None => return Err(error),
            }
        }
        void.map_or(Ok(()), |void| Err(void.into()))
    }

    async fn clock(&self, dist: &Path) -> Result<()> {
        let (setup, _served) = self.rig.setup(dist, &[], true).await?;
        let mut rig = RigFacts { host: host_gpu().into_iter().collect(), ..RigFacts::default() };
        let mut clocks = Vec::new();
        for _ in 0..BROWSERS {
            let (answer, facts) = sessions::clock(&setup).await?;
            fill(&mut rig, &facts, &setup.flags);
            Void::unless(!facts.is_software, Clause::Hardware, || {
                format!("{} is a software adapter: its times say nothing about a GPU", facts.adapter)
            })?;
            if let Ok(void) = serde_json::from_value::<Void>(answer["void"].clone()) {
                return Err(void.into());
            }
            clocks.push(serde_json::from_value::<Clock>(answer["clock"].clone())?);
        }
        let rounded = self.rounded(dist).await?;
        setup.tidy(false);
        rig.host.extend(host_gpu());
        let report = ClockReport { version: planescope::ab::VERSION, rig, clocks, rounded };
        print!("{}", report.text());
        self.write("clock", "json", &serde_json::to_string(&report)?)?;
        self.write("clock", "html", &html::clock(&report))
    }

    /// The clock in a browser that rounds timestamps, as all do without the flags that lift it.
    async fn rounded(&self, dist: &Path) -> Result<Rounded> {
        let (mut setup, _served) = self.rig.setup(dist, &[], true).await?;
        // The second lifts the rounding as well.
        setup.flags.retain(|flag| ![chrome::FINE_TIMESTAMPS, chrome::UNSAFE_WEBGPU].contains(&flag.as_str()));
        setup.flags.push(chrome::ROUNDED_TIMESTAMPS.to_owned());
        let mut rounded = Rounded { flags: setup.flags.clone(), ..Rounded::default() };
        match sessions::clock(&setup).await {
            Ok((answer, facts)) if !facts.is_software => {
                rounded.clock = serde_json::from_value(answer["clock"].clone()).ok();
                rounded.void = serde_json::from_value(answer["void"].clone()).ok();
            }
            Ok((_, facts)) => rounded.missing = Some(format!("{} is a software adapter", facts.adapter)),
            // Some hosts have no WebGPU without the flags that lift the rounding.
            Err(error) => rounded.missing = Some(format!("{error:#}")),
        }
        setup.tidy(false);
        Ok(rounded)
    }

    async fn probe(&self, probe: &Probe, dist: &Path) -> Result<()> {
        let mut all = Vec::new();
        for number in 1..=self.repeat {
            if self.repeat > 1 {
                say(&format!("{}: run {number} of {}", probe.name, self.repeat));
            }
            let report = self.run_once(probe, dist, Hardware::Only).await?;
            if let Some(void) = report.void.clone() {
                self.write(&probe.name, "json", &serde_json::to_string(&report)?)?;
                self.remove(&probe.name, "html")?;
                return Err(void.into());
            }
            all.push(report);
        }
        let Some(last) = all.last() else { bail!("--repeat 0 measures nothing") };
        if self.repeat > 1 {
            return self.tell_repeats(probe, &all);
        }
        print!("{}", last.text());
        if let Some(old) = &self.compare {
            print!("{}", compare::compare(&read(old)?, last)?);
        }
        self.write(&probe.name, "json", &serde_json::to_string(last)?)?;
        self.write(&probe.name, "html", &html::report(last))
    }

    /// One run: two browsers, judged together. A broken clause is in the report, without a number.
    async fn run_once(&self, probe: &Probe, dist: &Path, hardware: Hardware) -> Result<Report> {
        let set = match (probe.kind, self.set.is_empty()) {
            (Kind::Shaders, _) => None,
            (_, true) => bail!("{} is about an open set: --set names it", probe.name),
            (_, false) => Some(Set::of(&self.set, None, None)?),
        };
        let mut rig = RigFacts { host: host_gpu().into_iter().collect(), ..RigFacts::default() };
        let outcome = self.sessions(probe, dist, set.as_ref(), hardware, &mut rig).await;
        rig.host.extend(host_gpu());
        judged(Report::new(probe, rig, described(probe, set.as_ref())), outcome)
    }

    async fn sessions(
        &self,
        probe: &Probe,
        dist: &Path,
        set: Option<&Set>,
        hardware: Hardware,
        rig: &mut RigFacts,
    ) -> Result<Vec<Session>> {
        let scratch = std::env::temp_dir().join(format!("planescope-ab-{}", std::process::id()));
        let mut assets = Assets::new(scratch.clone())?;
        let experiment = match probe.kind {
            Kind::Shaders => Some(probe.experiment(&mut |contents| assets.contents(contents, &probe.folder))?),
            _ => None,
        };
        let (setup, served) = self.rig.setup(dist, &assets.files(), true).await?;
        let bench = Bench { setup: &setup, probe, hardware, facts: RefCell::default() };
        let mut sessions = Vec::new();
        for number in 1..=BROWSERS {
            say(&format!("{}: browser {number} of {BROWSERS}", probe.name));
            let session = match (&experiment, set) {
                (Some(experiment), _) => bench.shaders(experiment, &served.files).await,
                (None, Some(set)) if probe.kind == Kind::Loads => bench.loads(set).await,
                (None, Some(set)) => bench.calls(set).await,
                (None, None) => bail!("{} has no set", probe.name),
            };
            fill(rig, &bench.facts.borrow(), &setup.flags);
            let session = session?;
            sessions.push(session);
        }
        setup.tidy(false);
        // Nothing depends on it: the name is this process's own.
        let _ = std::fs::remove_dir_all(scratch);
        Ok(sessions)
    }

    fn tell_repeats(&self, probe: &Probe, all: &[Report]) -> Result<()> {
        let arms = probe.arms.len() - 1;
        let mut lines = String::new();
        for arm in 0..arms {
            let outcomes: Vec<_> = all.iter().filter_map(|report| report.outcomes.get(arm)).collect();
            let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
            let [null, faster, slower] = [Verdict::Null, Verdict::Faster, Verdict::Slower].map(count);
            let band = outcomes.iter().map(|outcome| outcome.band).fold(0.0, f64::max);
            let name = outcomes.first().map_or("", |outcome| &outcome.arm);
            lines += &format!(
                "{name}: {} runs: null {null}, faster {faster}, slower {slower}; largest band {:.2} %\n",
                all.len(),
                100.0 * band
            );
        }
        print!("{}\n{lines}", probe.name);
        let runs: Vec<Value> = all.iter().map(|report| json!(report.outcomes)).collect();
        let rig = all.last().map(|report| json!(report.rig));
        let object = json!({"version": planescope::ab::VERSION, "probe": probe.name, "rig": rig, "runs": runs});
        self.write(&format!("{}-repeats", probe.name), "json", &object.to_string())
    }

    /// Takes an older file out, which a void run must not leave as if it were its own.
    fn remove(&self, name: &str, extension: &str) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let path = out.join(format!("{name}.{extension}"));
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| path.display().to_string())
            }
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, extension: &str, text: &str) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let path = out.join(format!("{name}.{extension}"));
        std::fs::create_dir_all(out)?;
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }
}

/// The report with what the readings say; with the clause alone, where one is broken.
fn judged(mut report: Report, sessions: Result<Vec<Session>>) -> Result<Report> {
    match sessions.and_then(|sessions| Ok((judge(&sessions)?, sessions))) {
        Ok((outcomes, sessions)) => (report.outcomes, report.sessions) = (outcomes, sessions),
        Err(error) => report.void = Some(void_in(&error).ok_or(error)?),
    }
    Ok(report)
}

/// Independent browsers of a run.
const BROWSERS: usize = 2;

fn fill(rig: &mut RigFacts, facts: &Facts, flags: &[String]) {
    rig.adapter.clone_from(&facts.adapter);
    rig.browser.clone_from(&facts.browser);
    rig.date.clone_from(&facts.date);
    rig.flags = flags.to_vec();
    rig.cores = std::thread::available_parallelism().map_or(0, usize::from);
}

/// Preset and pose.
fn described(probe: &Probe, set: Option<&Set>) -> String {
    match set {
        Some(set) => format!("{} {}", set.name, set.made_as),
        None => probe
            .buffers
            .iter()
            .map(|buffer| format!("{}: {}", buffer.name, json!(buffer.contents)))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done to the readings of two browsers, and the clause that it breaks.
    type Breakage = (Clause, fn(&mut Vec<Session>));

    const BREAKAGES: [Breakage; 15] = [
        (Clause::Pinned, |all| all[1].checks[1].after = "another scene".into()),
        (Clause::Pinned, |all| all[0].drawn[1] += 1),
        (Clause::Identical, |all| all[0].checks[3].wrong = 1),
        (Clause::Identical, |all| all[0].blank.wrong = 0),
        (Clause::Mirrored, |all| all[1].contests[0].forward.submits = 2),
        (Clause::Warm, |all| all[0].contests[0].reversed.discarded.clear()),
        (Clause::Floor, |all| all[0].floor.rounds.clear()),
        (Clause::Interleaved, |all| all[1].correction = Some("0.3 ms".into())),
        (Clause::Cold, |all| {
            all[0].cold = vec![planescope::ab::Cold { arm: 0, unique: 5, found: 4, cold_ms: 9.0, warm_ms: 1.0 }];
        }),
        (Clause::Sign, |all| {
            let contest = &mut all[1].contests[0];
            for series in [&mut contest.forward, &mut contest.reversed] {
                let slots = series.slots.clone();
                let arm = |slot: usize| slots[slot] == 1;
                for round in &mut series.rounds {
                    (0..).zip(round).filter(|(slot, _)| arm(*slot)).for_each(|(_, ms)| *ms *= 2.0);
                }
            }
        }),
        (Clause::Second, |all| all.truncate(1)),
        (Clause::Content, |all| all[0].contests.clear()),
        (Clause::Hardware, |all| all[1].is_software = true),
        (Clause::Clock, |all| all[0].clock = None),
        (Clause::Control, |all| {
            let control = all[0].contests[0].forward.clone();
            all[0].contests[0].control = Some(control);
        }),
    ];

    #[test]
    fn each_clause_that_is_broken_leaves_its_name_and_no_number_and_ends_with_3() {
        for (clause, broken) in BREAKAGES {
            let whole = compare::tests::report(1.5, 1.0);
            let mut sessions = whole.sessions.clone();
            broken(&mut sessions);
            let bare = Report { sessions: Vec::new(), outcomes: Vec::new(), ..whole };
            let report = judged(bare, Ok(sessions)).expect("a report");
            let void = report.void.clone().unwrap_or_else(|| panic!("{clause} is not enforced"));
            assert_eq!(void.clause, clause, "{void}");
            assert!(report.sessions.is_empty() && report.outcomes.is_empty());
            assert!(void.to_string().starts_with(&clause.to_string()), "{void}");
            assert_eq!(code(exit(Err(void.into()))), code(Ok(ExitCode::from(3))), "{clause}");
        }
        let mut claimed = compare::tests::report(2.0, 1.0);
        claimed.outcomes[0].verdict = Verdict::Faster;
        let outcome = compare::compare(&claimed, &compare::tests::report(2.0, 10.0)).map(drop);
        assert_eq!(outcome.as_ref().err().and_then(void_in).map(|void| void.clause), Some(Clause::Null));
        assert_eq!(code(exit(outcome)), code(Ok(ExitCode::from(3))));
    }

    fn code(exit: Result<ExitCode>) -> String {
        format!("{:?}", exit.ok())
    }

    #[test]
    fn a_report_of_another_version_is_not_read() {
        let path = paths::target().join("ab-old-report.json");
        let mut report = json!(compare::tests::report(1.5, 1.0));
        std::fs::write(&path, report.to_string()).expect("a file");
        assert!(read(&path).is_ok());
        report["version"] = json!(planescope::ab::VERSION + 1);
        std::fs::write(&path, report.to_string()).expect("a file");
        assert!(read(&path).is_err_and(|error| error.to_string().contains("version 2")));
    }

    #[test]
    fn a_broken_clause_ends_with_3_and_anything_else_is_an_error() {
        let void = exit(Err(Void::new(Clause::Sign, "it changes").into())).expect("a void run");
        assert_eq!(format!("{void:?}"), format!("{:?}", ExitCode::from(3)));
        let wrong = exit(Err(anyhow::Error::from(visit::Void("a wrong digest".into())).context("a load")));
        assert_eq!(wrong.map(|code| format!("{code:?}")).ok(), Some(format!("{:?}", ExitCode::from(3))));
        assert!(exit(Err(anyhow::anyhow!("no Chrome"))).is_err());
        assert!(exit(Ok(())).is_ok_and(|code| format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS)));
    }
}
