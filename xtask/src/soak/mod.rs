//! `cargo xtask soak`: works on the page for minutes, over the DevTools protocol, and looks for what grows, breaks or
//! slows.
//!
//! A cycle opens all sets together, as many panels, and gives them memory for one less, so that sets are put out and
//! read again. It checks the hash of every frame of every set to the last one of the last file, then recomputes a large
//! detector, scrubs over sets and positions, and plays patterns and sets, comparing every answer with the first one. Then
//! everything is closed, which must leave no byte of GPU memory. Garbage is collected, and memory is noted.

mod figures;

use std::{
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::{
    bench::{
        rig::{Rig, host_gpu},
        set::Set,
        visit::Visit,
    },
    setup::say,
};
use figures::{Cycle, Figures};

#[derive(clap::Args)]
pub struct Options {
    /// Masters of the sets, or folders with one set each; NAME.expected.json lies beside each master
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    /// How long; the cycle under way is finished
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Sets that are on screen together: the first so many
    #[arg(long, default_value_t = 4)]
    panels: usize,
    /// Where the report goes; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also on a software adapter
    #[arg(long)]
    allow_software: bool,
    #[command(flatten)]
    rig: Rig,
}

/// 0 when nothing was wrong, 1 when something was.
pub fn run(options: &Options) -> Result<ExitCode> {
    let report = tokio::runtime::Runtime::new()?.block_on(soak(options))?;
    let text = serde_json::to_string_pretty(&report)?;
    match &options.out {
        Some(path) => std::fs::write(path, text + "\n").with_context(|| path.display().to_string())?,
        None => println!("{text}"),
    }
    let wrong = report["wrong"].as_array().cloned().unwrap_or_default();
    wrong.iter().for_each(|words| say(&format!("wrong: {}", words.as_str().unwrap_or_default())));
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn soak(options: &Options) -> Result<Value> {
    let sets = sets(&options.sets, options.panels)?;
    let dist = options.rig.page()?;
    let (setup, _served) = options.rig.setup(&dist, &[], options.allow_software).await?;
    let host = host_gpu();
    let mut visit = Visit::start(&setup, &Map::new()).await?;
    let start = Instant::now();
    let end = Duration::from_secs_f64(60.0 * options.minutes.max(0.0));
    let mut known = json!({});
    let mut figures = Figures::default();
    while figures.cycles.is_empty() || start.elapsed() < end {
        match cycle(&mut visit, &sets, &mut known, start).await {
            Ok(cycle) => {
                say(&cycle.in_words());
                figures.cycles.push(cycle);
            }
            // A page that is gone has nothing more to tell, and what it told before counts.
            Err(error) => {
                figures.broken = Some(format!("{error:#}"));
                break;
            }
        }
    }
    figures.complaints = visit.complaints().to_vec();
    let facts = visit.facts.clone();
    visit.end().await;
    setup.tidy(!figures.wrong().is_empty());
    let sets: Vec<Value> =
        sets.iter().map(|set| json!({"name": set.name, "madeAs": set.made_as, "frames": set.frames})).collect();
    let mut report = json!({
        "date": facts.date, "browser": facts.browser, "adapter": facts.adapter, "softwareAdapter": facts.is_software,
        "host": host, "minutes": start.elapsed().as_secs_f64() / 60.0, "visible": sets.len(),
        "budgetSets": (sets.len() - 1).max(1), "sets": sets,
    });
    if let (Some(report), Value::Object(figures)) = (report.as_object_mut(), figures.to_json()) {
        report.extend(figures);
    }
    Ok(report)
}

fn sets(paths: &[PathBuf], most: usize) -> Result<Vec<Set>> {
    let mut sets = Vec::new();
    for path in paths.iter().take(most.max(1)) {
        let files = match path.is_dir() {
            true => vec![path.clone()],
            false => planescope::acquisition::beside(path).with_context(|| path.display().to_string())?.files,
        };
        sets.push(Set::of(&files, None, None)?);
    }
    ensure!(!sets.is_empty(), "no sets were named");
    Ok(sets)
}

/// Opens all sets, works on them, closes them, and notes what it took.
async fn cycle(visit: &mut Visit<'_>, sets: &[Set], known: &mut Value, start: Instant) -> Result<Cycle> {
    let began = Instant::now();
    visit.forget_load().await?;
    let files: Vec<PathBuf> = sets.iter().flat_map(|set| set.files.clone()).collect();
    visit.choose(&files).await?;
    let load_ms = match sets {
        [_] => visit.ask("loaded()").await?["totalMs"].as_f64().unwrap_or_default(),
        _ => open_together(visit, sets.len()).await?,
    };
    check(visit, sets).await?;
    let opened_s = began.elapsed().as_secs_f64();
    let work = format!("(() => {{ {} }})()({WORK_MS}, {known})", include_str!("soak.js"));
    let worked = visit.evaluate("a cycle's work", &work).await?;
    known.clone_from(&worked["known"]);
    let gpu_bytes = ledger(visit).await?;
    visit.evaluate("closing", CLOSE).await?;
    let left_bytes = ledger(visit).await?;
    let (heap_bytes, buffers_bytes) = visit.heap().await?;
    let numbers = |value: &Value| value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let texts = worked["wrong"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(Cycle {
        set: format!("{} sets", sets.len()),
        at_s: start.elapsed().as_secs_f64(),
        opened_s,
        load_ms,
        recomputes: worked["recomputes"].as_u64().unwrap_or_default(),
        moves: worked["moves"].as_u64().unwrap_or_default(),
        scrubs: worked["scrubs"].as_u64().unwrap_or_default(),
        frames_ms: numbers(&worked["frames"]),
        wrong: texts.collect(),
        heap_bytes,
        buffers_bytes,
        gpu_bytes,
        left_bytes,
    })
}

/// Opens all sets of the chosen files as a series with memory for one less; how long until every panel had its picture,
/// ms.
async fn open_together(visit: &mut Visit<'_>, count: usize) -> Result<f64> {
    let opened = visit.evaluate("opening as a series", OPEN).await?;
    ensure!(opened["panels"] == count, "{} of {count} sets are on screen", opened["panels"]);
    Ok(opened["ms"].as_f64().unwrap_or_default())
}

/// Looks at every set in turn: what was put out is read again.
///
/// # Errors
/// Where a hash is wrong.
async fn check(visit: &mut Visit<'_>, sets: &[Set]) -> Result<()> {
    for set in sets {
        if sets.len() > 1 {
            let activate = format!("({ACTIVATE})({})", json!(set.name));
            visit.evaluate("a scrub", &activate).await?;
        }
        let hashes = visit.ask("hashes()").await?;
        let (digest, decoded) = (&hashes["digest"], &hashes["decoded"]);
        ensure!(
            *digest == set.digest.as_str(),
            "{}: the digest of all frames is {digest}, expected {}",
            set.name,
            set.digest
        );
        let is_whole = set.frames.is_none_or(|frames| *decoded == frames);
        ensure!(is_whole, "{}: {decoded} frames were decoded", set.name);
    }
    Ok(())
}

/// Bytes in the page's own ledger of GPU memory.
async fn ledger(visit: &mut Visit<'_>) -> Result<f64> {
    let memory = visit.evaluate("the ledger", "window.__planescope.memory").await?;
    Ok(memory["usedBytes"].as_f64().unwrap_or_default())
}

/// Takes the offer to open all, and lets them have memory for one less once it is known what they take.
const OPEN: &str = "(async () => {
    const planescope = window.__planescope, started = performance.now();
    const wait = () => new Promise((done) => setTimeout(done, 20));
    while (!document.querySelector('[data-do=open-all]')) await wait();
    document.querySelector('[data-do=open-all]').click();
    while (!planescope.series?.sets.some((set) => set.bytes)) await wait();
    const { sets } = planescope.series;
    planescope.setBudget((sets.length - 0.7) * Math.max(...sets.map((set) => set.bytes ?? 0)));
    const { panels } = await planescope.seriesSettled();
    return { panels: panels.length, ms: performance.now() - started };
})()";

/// Looks at the set of this name.
const ACTIVATE: &str = "async (name) => {
    const { sets } = window.__planescope.series;
    await window.__planescope.activate(sets.find((set) => set.name.replace(/(_master)?[.][^.]*$/, '') === name).place);
    return null;
}";

/// Closes everything, and waits for the ledger.
const CLOSE: &str = "(async () => {
    window.__planescope.close();
    for (let i = 0; i < 250 && window.__planescope.memory.usedBytes; i++) await new Promise((done) => setTimeout(done, 20));
    return null;
})()";

/// Work between two openings.
const WORK_MS: u32 = 4000;
