//! The harness in Chrome on a software adapter: everything but the times.
//!
//! Small versions of all probes of shaders are run: honest ones must come out byte for byte, traps must be refused by
//! the clause that they are made for. The refusal of software adapters is lifted here and nowhere else.

use std::{cell::RefCell, path::Path};

use anyhow::{Context, Result};
use planescope::ab::{Clause, Clock, Session, Void, clock::Readings, experiment::Experiment};
use serde_json::{Value, json};

use super::{
    contents::Assets,
    probe::{Kind, Probe},
    sessions::{Bench, Hardware},
};
use crate::{bench::rig::Rig, paths, test::Tally};

/// Frames of a small version, and by how much it is smaller.
const FRAMES: usize = 4;
const SMALLER_CHUNKS: u64 = 2048;
const SMALLER: u64 = 4096;

/// Runs all of it in `chrome` with these flags.
pub fn checks(chrome: &Path, flags: &str) -> Result<Tally> {
    tokio::runtime::Runtime::new()?.block_on(run(chrome, flags))
}

async fn run(chrome: &Path, flags: &str) -> Result<Tally> {
    let mut tally = Tally::default();
    let rig = Rig {
        dist: Some(paths::dist()),
        chrome: Some(chrome.to_owned()),
        flags: Some(flags.to_owned()),
        headed: false,
        limit: 120,
    };
    for probe in Probe::all(&paths::root().join("tests/probes"))? {
        // What an empty control says is a matter of times.
        if probe.kind == Kind::Shaders && probe.refused_by != Some(Clause::Control) {
            let name = format!("ab: {}", probe.name);
            match small_run(&rig, &probe).await {
                Ok(None) => tally.pass(&name),
                Ok(Some(wrong)) => tally.fail(&name, &wrong),
                Err(error) => tally.fail(&name, &format!("{error:#}")),
            }
        }
    }
    let probe = Probe::named(&paths::root().join("tests/probes"), "null")?;
    let refused = session(&rig, &probe, Hardware::Only).await;
    let clause = refused.as_ref().err().and_then(|error| error.downcast_ref::<Void>()).map(|void| void.clause);
    match clause == Some(Clause::Hardware) {
        true => tally.pass("ab: a software adapter is refused"),
        false => tally.fail("ab: a software adapter is refused", &format!("{refused:?}")),
    }
    Ok(tally)
}

/// What is wrong with how a probe came out.
async fn small_run(rig: &Rig, probe: &Probe) -> Result<Option<String>> {
    let outcome = session(rig, probe, Hardware::OrSoftware).await;
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

async fn session(rig: &Rig, probe: &Probe, hardware: Hardware) -> Result<Session> {
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
    experiment.rounds = 1;
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
