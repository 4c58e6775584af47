//! The harness in Chrome on a software adapter: everything but the times.
//!
//! Small versions of all probes are run, those of an open set on the smallest acquisition: honest ones must come out
//! byte for byte, traps must be refused by the clause that they are made for. What no probe of a set breaks is broken
//! here ([`BROKEN`]). Of whole loads, which take a browser each, and of decode variants, which take seconds here, one reading
//! is taken. The refusal of software adapters is lifted here and nowhere else.

use std::{cell::RefCell, path::Path};

use anyhow::{Context, Result};
use planescope::ab::{Check, Clause, Clock, Session, Void, clock::Readings, experiment::Experiment};
use serde_json::{Value, json};

use super::{
    contents::Assets,
    probe::{Kind, Probe},
    sessions::{Bench, Hardware, Loads},
};
use crate::{
    bench::{rig::Rig, set::Set, sweep::Tuning, visit::Visit},
    paths,
    test::{Tally, data},
};

/// Frames of a small version, and by how much it is smaller.
const FRAMES: usize = 4;
const SMALLER_CHUNKS: u64 = 2048;
const SMALLER: u64 = 4096;

/// Runs all of it in `chrome` with these flags, or what has `only` in its name.
pub fn checks(chrome: &Path, flags: &str, only: Option<&str>) -> Result<Tally> {
    tokio::runtime::Runtime::new()?.block_on(run(chrome, flags, only))
}

async fn run(chrome: &Path, flags: &str, only: Option<&str>) -> Result<Tally> {
    let is_wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let mut tally = Tally::default();
    let rig = Rig {
        dist: Some(paths::dist()),
        chrome: Some(chrome.to_owned()),
        flags: Some(flags.to_owned()),
        headed: false,
        limit: 120,
    };
    let seed = data::bench_folder().join(data::BENCH[0].name);
    let set = Set::of(std::slice::from_ref(&seed), None, None)?;
    for mut probe in Probe::all(&paths::root().join("tests/probes"))? {
        // What an empty control says is a matter of times.
        if probe.refused_by == Some(Clause::Control) || probe.kind == Kind::Loads || !is_wanted(&probe.name) {
            continue;
        }
        probe.rounds = 1;
        let outcome = match probe.kind {
            Kind::Decodes => one_reading_each(&rig, &probe, &set).await,
            _ => small_run(&rig, &probe, &set).await,
        };
        tell(&mut tally, &format!("ab: {}", probe.name), outcome);
    }
    for (name, refused_by, text) in BROKEN.iter().filter(|(name, ..)| is_wanted(name)) {
        let probe = Probe { name: (*name).to_owned(), refused_by: Some(*refused_by), ..Probe::parse(text)? };
        let outcome = small_run(&rig, &probe, &set).await;
        tell(&mut tally, &format!("ab: {name}"), outcome);
    }
    if !is_wanted("loads") {
        return Ok(tally);
    }
    let loads = Probe::parse(&format!("{LOADS}rounds = 1\n{ARMS}"))?;
    let wrong = Set::of(std::slice::from_ref(&seed), Some("0123456789abcdef"), None)?;
    let probe = Probe { refused_by: Some(Clause::Identical), ..loads.clone() };
    tell(&mut tally, "ab: loads with another digest than the set's", small_run(&rig, &probe, &wrong).await);
    let nothing = Set::of(&[paths::root().join("README.md")], Some("00"), None)?;
    let probe = Probe { refused_by: Some(Clause::Content), ..loads };
    tell(&mut tally, "ab: loads of files that hold no set", small_run(&rig, &probe, &nothing).await);
    tell(&mut tally, "ab: a whole load leaves its scene as it is and all its frames", one_load(&rig, &set).await);
    let outcome = draws_when_it_may(&rig, &set).await;
    tell(&mut tally, "ab: a page draws nothing while it is paused, and counts what it draws", outcome);

    let probe = Probe::named(&paths::root().join("tests/probes"), "null")?;
    let refused = session(&rig, &probe, &set, Hardware::Only).await;
    let clause = refused.as_ref().err().and_then(|error| error.downcast_ref::<Void>()).map(|void| void.clause);
    match clause == Some(Clause::Hardware) {
        true => tally.pass("ab: a software adapter is refused"),
        false => tally.fail("ab: a software adapter is refused", &format!("{refused:?}")),
    }
    Ok(tally)
}

fn tell(tally: &mut Tally, name: &str, outcome: Result<Option<String>>) {
    match outcome {
        Ok(None) => tally.pass(name),
        Ok(Some(wrong)) => tally.fail(name, &wrong),
        Err(error) => tally.fail(name, &format!("{error:#}")),
    }
}

/// Experiments on an open set that break a clause: name, the clause, the probe.
const BROKEN: &[(&str, Clause, &str)] = &[
    (
        "products of two masks",
        Clause::Identical,
        "purpose = \"p\"\nkind = \"products\"\nrounds = 1\n\
         [[arm]]\nname = \"a\"\nrequest = { product = \"virtual_image\", shape = { shape = \"disc\", centre = [96, 96], outer = 9 } }\n\
         [[arm]]\nname = \"b\"\nrequest = { product = \"virtual_image\", shape = { shape = \"disc\", centre = [97, 96], outer = 9 } }\n",
    ),
    (
        "products of a mask without pixels",
        Clause::Identical,
        "purpose = \"p\"\nkind = \"products\"\nrounds = 1\n\
         [[arm]]\nname = \"a\"\nrequest = { product = \"virtual_image\", shape = { shape = \"disc\", centre = [-50, -50], outer = 9 } }\n\
         [[arm]]\nname = \"b\"\nrequest = { product = \"virtual_image\", shape = { shape = \"disc\", centre = [-50, -50], outer = 9 } }\n",
    ),
    (
        "products with a correction",
        Clause::Interleaved,
        "purpose = \"p\"\nkind = \"products\"\nrounds = 1\ncorrection = \"0.1 ms\"\n\
         [[arm]]\nname = \"a\"\nrequest = { product = \"moments\" }\n\
         [[arm]]\nname = \"b\"\nrequest = { product = \"moments\" }\n",
    ),
];
const LOADS: &str = "purpose = \"p\"\nkind = \"loads\"\n";
const ARMS: &str = "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

/// What is wrong with the arms of a probe of decode variants, each read once.
async fn one_reading_each(rig: &Rig, probe: &Probe, set: &Set) -> Result<Option<String>> {
    let (setup, _served) = rig.setup(&paths::dist(), &[], true).await?;
    let bench = Bench { setup: &setup, probe, hardware: Hardware::OrSoftware, facts: RefCell::default() };
    let (mut visit, _) = bench.open(set).await?;
    let (checks, blank) = bench.check_calls(&mut visit).await?;
    let mut times = Vec::new();
    for arm in 0..probe.arms.len() {
        times.push(bench.call(&mut visit, arm).await?);
    }
    visit.end().await;
    setup.tidy(false);
    let is_right = |check: &Check| {
        check.before == check.after && check.wrong == 0 && Some(check.compared) == set.frames && check.compared > 0
    };
    let all_right = checks.len() == times.len() && checks.iter().all(is_right) && times.iter().all(|&ms| ms > 0.0);
    Ok((!all_right || blank.wrong == 0).then(|| format!("{times:?} ms, {checks:?}, without work {blank:?}")))
}

/// What is wrong with a load as a reading.
async fn one_load(rig: &Rig, set: &Set) -> Result<Option<String>> {
    let probe = Probe::parse(&format!("{LOADS}{ARMS}"))?;
    let (setup, _served) = rig.setup(&paths::dist(), &[], true).await?;
    let bench = Bench { setup: &setup, probe: &probe, hardware: Hardware::OrSoftware, facts: RefCell::default() };
    let mut loads = Loads::new(&bench, set);
    let ms = loads.load(0).await?;
    setup.tidy(false);
    let [check] = loads.checks.as_slice() else { return Ok(Some(format!("{:?}", loads.checks))) };
    let is_right = ms > 0.0
        && check.before == check.after
        && check.before.contains(&set.digest)
        && Some(check.compared) == set.frames
        && loads.blank.wrong > 0;
    Ok((!is_right).then(|| format!("{ms} ms, {check:?}, without work {:?}", loads.blank)))
}

/// What is wrong with a page's pause: clause 1 counts pictures by it.
async fn draws_when_it_may(rig: &Rig, set: &Set) -> Result<Option<String>> {
    let (setup, _served) = rig.setup(&paths::dist(), &[], true).await?;
    let tuning = Tuning::new();
    let mut visit = Visit::start(&setup, &tuning).await?;
    visit.load(set, &tuning).await?;
    visit.ask("settled()").await?;
    let before = visit.ask("pause(true)").await?;
    let paused = visit.ask("drawnAfter({ product: 'com' })").await?;
    visit.ask("pause(false)").await?;
    let after = visit.ask("drawnAfter({ product: 'bf' })").await?;
    visit.end().await;
    setup.tidy(false);
    let is_right = before.is_u64() && before == paused && after.as_u64() > paused.as_u64();
    Ok((!is_right).then(|| format!("{before} pictures, then {paused} while paused, then {after}")))
}

/// What is wrong with how a probe came out.
async fn small_run(rig: &Rig, probe: &Probe, set: &Set) -> Result<Option<String>> {
    let outcome = session(rig, probe, set, Hardware::OrSoftware).await;
    let judged = match outcome {
        Ok(mut session) => {
            // Times of a software adapter say nothing; all else is judged as if it were a GPU.
            session.is_software = false;
            session.clock = Some(good_clock()?);
            session.check()
        }
        Err(error) => Err(super::void_in(&error).ok_or(error)?),
    };
    Ok(match (judged, probe.refused_by) {
        (Ok(()), None) => None,
        (Err(void), Some(clause)) if void.clause == clause => None,
        (Err(void), _) => Some(format!("refused by {void}")),
        (Ok(()), Some(clause)) => Some(format!("not refused, where {clause} must refuse it")),
    })
}

async fn session(rig: &Rig, probe: &Probe, set: &Set, hardware: Hardware) -> Result<Session> {
    if probe.kind != Kind::Shaders {
        let (setup, _served) = rig.setup(&paths::dist(), &[], true).await?;
        let bench = Bench { setup: &setup, probe, hardware, facts: RefCell::default() };
        let session = match probe.kind {
            Kind::Loads => bench.loads(set).await,
            _ => bench.calls(set).await,
        };
        setup.tidy(false);
        return session;
    }
    let folder = paths::target().join("ab-small");
    let mut assets = Assets::new(folder)?.with_most_chunks(FRAMES);
    let has_chunks = probe.buffers.iter().any(|buffer| buffer.contents.has_chunks());
    let mut experiment = probe.experiment(&mut |contents| assets.contents(contents, &probe.folder))?;
    let smaller = if has_chunks { SMALLER_CHUNKS } else { SMALLER };
    shrink(&mut experiment, smaller)?;
    let (setup, served) = rig.setup(&paths::dist(), &assets.files(), true).await?;
    let bench = Bench { setup: &setup, probe, hardware, facts: RefCell::default() };
    let session = bench.shaders(&experiment, &served.files).await;
    setup.tidy(false);
    session
}

/// The same experiment with a part of its words and workgroups, and one round.
fn shrink(experiment: &mut Experiment, smaller: u64) -> Result<()> {
    let mut whole = json!(experiment);
    shrink_words(&mut whole, smaller);
    *experiment = serde_json::from_value(whole).context("still an experiment")?;
    for step in experiment.arms.iter_mut().flat_map(|arm| &mut arm.steps) {
        let all: u64 = step.workgroups.iter().map(|&count| u64::from(count)).product();
        step.workgroups = [all.div_ceil(smaller) as u32, 1, 1];
    }
    Ok(())
}

fn shrink_words(value: &mut Value, smaller: u64) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value.as_u64().filter(|_| ["words", "random"].contains(&key.as_str())) {
                    Some(words) => *value = json!(words.div_ceil(smaller)),
                    None => shrink_words(value, smaller),
                }
            }
        }
        Value::Array(array) => array.iter_mut().for_each(|value| shrink_words(value, smaller)),
        _ => {}
    }
}

/// A clock against which any reading may stand.
pub fn good_clock() -> Result<Clock> {
    let readings = Readings {
        staircase_ns: (0..24).map(|step| 32 * (100_000 + 781 * step)).collect(),
        linearity: [0.2, 0.8, 3.2, 12.8].map(|ms| vec![ms; 5]).to_vec(),
        decomposition: vec![[1.0, 10.0, 10.0, 1.0, 23.0]; 5],
        positions: vec![vec![vec![1.0; 9]; 5]; 2],
        warm_up: vec![1.0; 30],
    };
    Ok(Clock::of(&readings)?)
}
