//! So many executions of one target.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::{
    corpus::{Input, name_of},
    coverage::Coverage,
    judge::{self, Limits, judge},
    mutate,
    random::Random,
    target::Target,
};

#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    pub target: Target,
    /// How many inputs are fed, those to begin with included
    #[arg(long, default_value_t = 100_000)]
    pub executions: u64,
    /// Another seed gives other inputs, the same one the same
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folders with HDF5 files to begin with, beside those of the repository
    #[arg(long, value_name = "FOLDER")]
    pub seeds: Vec<PathBuf>,
    /// Where the smallest inputs go that together reach all code that was reached, once all is done
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// Where inputs go that broke something
    #[arg(long, value_name = "FOLDER", default_value = "target/fuzz/findings")]
    pub findings: PathBuf,
    /// Where the report goes; without it, to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What a campaign came to.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub target: &'static str,
    pub seed: u64,
    pub executions: u64,
    pub seconds: f64,
    /// Inputs to begin with, and those that were kept as they reached new code.
    pub seeds: usize,
    pub kept: usize,
    /// Regions of the program's code that were reached, and all; absent without counters.
    pub regions: Option<(usize, usize)>,
    /// How often each outcome came: "accepted", or the key of an error.
    pub outcomes: BTreeMap<String, u64>,
    pub slowest_ms: f64,
    pub peak_bytes: usize,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Serialize)]
pub struct Finding {
    /// What is wrong, in words.
    pub words: String,
    /// Name of the file that holds the input.
    pub file: String,
}

/// Runs all executions; inputs that break something are written into a folder.
///
/// # Errors
/// Where files cannot be read or written.
pub fn run(options: &Options) -> Result<Report> {
    judge::listen();
    let Options { target, seed, .. } = *options;
    let form = target.form();
    let seeds = target.seeds(&options.seeds)?;
    let mut campaign = Campaign {
        options,
        inputs: Vec::new(),
        report: Report { target: target.name(), seed, seeds: seeds.len(), ..Report::default() },
        coverage: Coverage::start(),
        random: Random::new(seed),
        told: Instant::now(),
    };
    let start = Instant::now();
    for bytes in seeds {
        campaign.feed(&bytes)?;
        campaign.inputs.push(Input::of(bytes, form));
    }
    let first = campaign.inputs.len();
    let mut bytes = Vec::new();
    while campaign.report.executions < options.executions && !campaign.inputs.is_empty() {
        let (parent, other) = campaign.pick(first);
        mutate::mutate(&mut campaign.random, form, &campaign.inputs[parent], &campaign.inputs[other], &mut bytes);
        if campaign.feed(&bytes)? {
            let seals = campaign.inputs[parent].seals.clone();
            campaign.inputs.push(Input::sealed(bytes.clone(), seals));
        }
    }
    let Campaign { inputs, mut report, coverage, .. } = campaign;
    report.seconds = start.elapsed().as_secs_f64();
    report.kept = inputs.len() - first;
    report.regions = coverage.regions();
    if let Some(folder) = &options.keep {
        minimal(target, &inputs).into_iter().try_for_each(|input| keep(folder, &input.bytes).map(drop))?;
    }
    coverage.finish();
    Ok(report)
}

/// The smallest inputs that reach all the code that all of them reach together, as far as taking small ones first goes.
fn minimal(target: Target, inputs: &[Input]) -> Vec<&Input> {
    let mut sorted: Vec<&Input> = inputs.iter().collect();
    sorted.sort_by_key(|input| input.bytes.len());
    let mut coverage = Coverage::start();
    let mut reaches_more = |input: &&Input| {
        judge(Limits::default(), input.bytes.len(), || target.feed(&input.bytes));
        coverage.take() > 0
    };
    sorted.into_iter().filter(|input| reaches_more(input)).collect()
}

struct Campaign<'a> {
    options: &'a Options,
    inputs: Vec<Input>,
    report: Report,
    coverage: Coverage,
    random: Random,
    told: Instant,
}

impl Campaign<'_> {
    /// Two inputs to make a new one of; half of the time one that was kept lately.
    fn pick(&mut self, first: usize) -> (usize, usize) {
        let all = self.inputs.len();
        let kept = all - first;
        let parent = match kept > 0 && self.random.is_one_in(2) {
            true => all - 1 - self.random.below(kept.min(LATELY)),
            false => self.random.below(all),
        };
        (parent, self.random.below(all))
    }

    /// Feeds one input; whether it reached new code and broke nothing.
    fn feed(&mut self, bytes: &[u8]) -> Result<bool> {
        let target = self.options.target;
        let verdict = judge(Limits::default(), bytes.len(), || target.feed(bytes));
        let new = self.coverage.take();
        let report = &mut self.report;
        report.executions += 1;
        report.slowest_ms = report.slowest_ms.max(verdict.time.as_secs_f64() * 1e3);
        report.peak_bytes = report.peak_bytes.max(verdict.peak_bytes);
        match report.outcomes.get_mut(&verdict.outcome) {
            Some(count) => *count += 1,
            None => drop(report.outcomes.insert(verdict.outcome, 1)),
        }
        if self.told.elapsed() > TELL {
            self.told = Instant::now();
            let (reached, all) = self.coverage.regions().unwrap_or_default();
            eprintln!(
                "{}: {} of {} inputs, {} kept, {reached} of {all} regions, {} findings",
                report.target,
                report.executions,
                self.options.executions,
                self.inputs.len(),
                report.findings.len()
            );
        }
        let Some(words) = verdict.wrong else { return Ok(new > 0) };
        // One input for each thing that is wrong, and not too many of what is slow.
        let is_known = report.findings.iter().filter(|finding| same(&finding.words, &words)).count() > 0;
        if !is_known && report.findings.len() < MOST_FINDINGS {
            let file = keep(&self.options.findings.join(report.target), bytes)?;
            eprintln!("{}: {words}: {file}", report.target);
            report.findings.push(Finding { words, file });
        }
        Ok(false)
    }
}

/// The same but for numbers.
fn same(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let is_panic = a.starts_with("panicked");
    // A panic is where it is.
    if is_panic { a.split(": ").next() == b.split(": ").next() } else { letters(a) == letters(b) }
}

fn keep(folder: &Path, bytes: &[u8]) -> Result<String> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(name_of(bytes));
    std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    Ok(path.display().to_string())
}

const LATELY: usize = 64;
const TELL: Duration = Duration::from_secs(10);
const MOST_FINDINGS: usize = 64;
