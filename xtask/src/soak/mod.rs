//! `cargo xtask soak`: works on the page for minutes, over the DevTools protocol, and looks for what grows, breaks or
//! slows.
//!
//! A cycle opens the next set (which closes the one before), checks the hash of every frame to the last one of the last
//! file, then recomputes a large detector, scrubs the cursor and plays patterns, comparing every answer with the first
//! one. After each cycle garbage is collected and memory is noted. The page shows one set at a time; the report says how
//! many were visible.

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
    /// Sets that are worked on in turn: the first so many
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
    let mut known = vec![json!({}); sets.len()];
    let mut figures = Figures::default();
    while figures.cycles.is_empty() || start.elapsed() < end {
        let place = figures.cycles.len() % sets.len();
        let cycle = cycle(&mut visit, &sets[place], &mut known[place], start).await;
        match cycle {
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
        "host": host, "minutes": start.elapsed().as_secs_f64() / 60.0, "sets": sets, "visible": 1,
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

/// Opens `set`, works on it, and notes what it took.
async fn cycle(visit: &mut Visit<'_>, set: &Set, known: &mut Value, start: Instant) -> Result<Cycle> {
    let began = Instant::now();
    visit.forget_load().await?;
    // The hashes of all frames are right, or this is an error that ends the soak.
    let profile = visit.load(set, &Map::new()).await?;
    let opened_s = began.elapsed().as_secs_f64();
    let work = format!("(() => {{ {} }})()({WORK_MS}, {known})", include_str!("soak.js"));
    let worked = visit.evaluate("a cycle's work", &work).await?;
    known.clone_from(&worked["known"]);
    let (heap_bytes, buffers_bytes) = visit.heap().await?;
    let memory = visit.evaluate("the ledger", "window.__planescope.memory").await?;
    let numbers = |value: &Value| value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let texts = worked["wrong"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(Cycle {
        set: set.name.clone(),
        at_s: start.elapsed().as_secs_f64(),
        opened_s,
        load_ms: profile["totalMs"].as_f64().unwrap_or_default(),
        recomputes: worked["recomputes"].as_u64().unwrap_or_default(),
        moves: worked["moves"].as_u64().unwrap_or_default(),
        frames_ms: numbers(&worked["frames"]),
        wrong: texts.collect(),
        heap_bytes,
        buffers_bytes,
        gpu_bytes: memory["usedBytes"].as_f64().unwrap_or_default(),
    })
}

/// Work between two openings.
const WORK_MS: u32 = 4000;
