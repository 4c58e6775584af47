//! The readings of one browser: shaders by the page's instrument, calls of the page's hooks, or whole loads.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};
use planescope::ab::{
    Check, Clause, Clock, Contest, Experiment, Schedule, Series, Session, Source, VERSION, Void,
    experiment::Contents as Page,
};
use serde_json::{Value, json};

use super::probe::{Kind, Probe};
use crate::bench::{
    set::Set,
    sweep::Tuning,
    visit::{Facts, Setup, Visit},
};

/// Whether a software adapter is let through. Only tests of the harness itself do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    Only,
    OrSoftware,
}

/// What all browsers of a run have in common.
pub struct Bench<'a> {
    pub setup: &'a Setup,
    pub probe: &'a Probe,
    pub hardware: Hardware,
    /// Of the last browser that was started.
    pub facts: RefCell<Facts>,
}

/// What a browser says of its GPU's clock.
pub async fn clock(setup: &Setup) -> Result<(Value, Facts)> {
    let mut visit = Visit::start(setup, &Tuning::new()).await?;
    let facts = visit.facts.clone();
    let options = json!({"allowSoftware": false});
    let answer = visit.ask(&format!("clock({options})")).await?;
    visit.end().await;
    Ok((answer, facts))
}

impl Bench<'_> {
    /// Shaders, in one submit a round.
    pub async fn shaders(&self, experiment: &Experiment, addresses: &BTreeMap<String, String>) -> Result<Session> {
        let mut experiment = experiment.clone();
        experiment.allow_software = self.hardware == Hardware::OrSoftware;
        let buffers =
            experiment.buffers.iter_mut().flat_map(|buffer| buffer.truth.iter_mut().chain([&mut buffer.contents]));
        let arms = experiment.arms.iter_mut().flat_map(|arm| arm.contents.values_mut());
        for contents in buffers.chain(arms).chain(experiment.control.values_mut()) {
            if let Page::File { url, .. } = contents {
                // A file that is not there is asked for by its name: the page must say that it is missing.
                if let Some(address) = addresses.get(url) {
                    url.clone_from(address);
                }
            }
        }
        let mut visit = self.visit(&Tuning::new()).await?;
        let answer = visit.ask(&format!("time({})", json!(experiment))).await?;
        visit.end().await;
        if answer["session"].is_null() {
            let void: Void = serde_json::from_value(answer["void"].clone()).context("the page gives no readings")?;
            return Err(void.into());
        }
        let mut session: Session = serde_json::from_value(answer["session"].clone())?;
        session.correction.clone_from(&self.probe.correction);
        Ok(session)
    }

    async fn visit(&self, tuning: &Tuning) -> Result<Visit<'_>> {
        let visit = Visit::start(self.setup, tuning).await?;
        self.facts.replace(visit.facts.clone());
        let is_let = !visit.facts.is_software || self.hardware == Hardware::OrSoftware;
        Void::unless(is_let, Clause::Hardware, || {
            format!("{} is a software adapter: its times say nothing about a GPU", visit.facts.adapter)
        })?;
        Ok(visit)
    }

    /// Decode variants and products: one call a slot, on one open set.
    pub async fn calls(&self, set: &Set) -> Result<Session> {
        let (mut visit, mut session) = self.open(set).await?;
        (session.checks, session.blank) = self.check_calls(&mut visit).await?;
        let schedule = Schedule::Interleaved;
        let warm_up = session.warm_up().div_ceil(schedule.forward(0).len());
        session.floor = self.series(&mut visit, schedule.forward(0), warm_up).await?;
        for arm in 1..self.probe.arms.len() {
            let forward = self.series(&mut visit, schedule.forward(arm), warm_up).await?;
            let reversed = self.series(&mut visit, schedule.reversed(arm), warm_up).await?;
            session.contests.push(Contest { arm, forward, reversed, control: None });
        }
        session.checks.extend(self.check_calls(&mut visit).await?.0);
        session.drawn[1] = drawn(&mut visit).await?;
        visit.end().await;
        Ok(session)
    }

    /// A browser with the set on show, which draws no more, and a session without readings.
    pub async fn open(&self, set: &Set) -> Result<(Visit<'_>, Session)> {
        // Either way nothing but the calls is on the GPU: no variant is chosen in the background.
        let knob = if self.probe.kind == Kind::Decodes { ("keepCompressed", true) } else { ("chooseVariant", false) };
        let tuning = Tuning::from_iter([(knob.0.to_owned(), json!(knob.1))]);
        set.warm()?;
        let mut visit = self.visit(&tuning).await?;
        let clock = self.clock(&mut visit).await?;
        visit.load(set, &tuning).await?;
        let mut session = self.session(Source::Calls, &visit.facts);
        session.clock = Some(clock);
        // The view comes to rest and is pinned before the GPU settles: the readings that are thrown away come after.
        visit.ask("settled()").await?;
        visit.ask("pause(true)").await?;
        session.drawn[0] = drawn(&mut visit).await?;
        Ok((visit, session))
    }

    /// The GPU's clock in this browser, which has to be good.
    async fn clock(&self, visit: &mut Visit<'_>) -> Result<Clock> {
        let allows_software = self.hardware == Hardware::OrSoftware;
        let answer = visit.ask(&format!("clock({})", json!({"allowSoftware": allows_software}))).await?;
        match serde_json::from_value::<Void>(answer["void"].clone()) {
            Ok(void) if !allows_software => Err(void.into()),
            _ => serde_json::from_value(answer["clock"].clone()).context("the page tells nothing of its clock"),
        }
    }

    async fn series(&self, visit: &mut Visit<'_>, slots: Vec<usize>, warm_up: usize) -> Result<Series> {
        let (mut discarded, mut rounds) = (Vec::new(), Vec::new());
        for round in 0..warm_up + self.probe.rounds {
            let mut ms = Vec::new();
            for &arm in &slots {
                ms.push(self.call(visit, arm).await?);
            }
            if round < warm_up { &mut discarded } else { &mut rounds }.push(ms);
        }
        Ok(Series { schedule: Schedule::Interleaved, submits: slots.len(), slots, discarded, rounds })
    }

    /// The GPU time of one call, ms.
    pub async fn call(&self, visit: &mut Visit<'_>, arm: usize) -> Result<f64> {
        let mut request = self.probe.arms[arm].request.clone();
        request.insert("repeats".to_owned(), json!(1));
        let answer = visit.ask(&format!("time({})", json!(request))).await?;
        let ms = answer["gpuMs"][0].as_f64().or(answer["ms"][0].as_f64());
        let name = &self.probe.arms[arm].name;
        if answer["hashOk"] == false {
            return Err(Void::new(Clause::Identical, format!("{name} decodes wrongly")).into());
        }
        Ok(ms.ok_or_else(|| Void::new(Clause::Clock, format!("{name} has no GPU time: {answer}")))?)
    }

    /// What each arm makes, in full, and whether it leaves the scene as it is; then what no work makes.
    pub async fn check_calls(&self, visit: &mut Visit<'_>) -> Result<(Vec<Check>, Check)> {
        let (mut checks, mut baseline, mut blank) = (Vec::new(), None, Check::default());
        for (arm, described) in self.probe.arms.iter().enumerate() {
            let before = scene(visit).await?;
            let (compared, wrong) = match self.probe.kind {
                Kind::Products => {
                    let result = visit.ask(&format!("result({})", json!(described.request))).await?;
                    let values = result["values"].as_u64().unwrap_or_default();
                    let baseline = baseline.get_or_insert_with(|| result.clone());
                    // Nothing but zeros is what no work leaves.
                    let nonzero = baseline["nonzero"].as_u64().unwrap_or_default();
                    blank = Check { compared: values, wrong: nonzero, ..blank };
                    (values, if *baseline == result { 0 } else { values })
                }
                _ => {
                    let mut request = described.request.clone();
                    request.extend([("repeats".to_owned(), json!(1)), ("check".to_owned(), json!(true))]);
                    let answer = visit.ask(&format!("time({})", json!(request))).await?;
                    // `hashOk` compares the hash of every frame with that of the resident one.
                    let [frames, counted] = frames(visit).await?;
                    blank = Check { compared: frames, wrong: counted, ..blank };
                    (frames, if answer["hashOk"] == true { 0 } else { frames })
                }
            };
            let after = scene(visit).await?;
            checks.push(Check { arm, before, after, compared, wrong });
        }
        Ok((checks, blank))
    }

    /// Whole loads, each in a browser of its own, with the arms' knobs.
    pub async fn loads(&self, set: &Set) -> Result<Session> {
        let schedule = Schedule::Whole;
        set.warm()?;
        // Loads go by the page's clock; that of the GPU is noted all the same.
        let mut visit = self.visit(&Tuning::new()).await?;
        let clock = self.clock(&mut visit).await?;
        visit.end().await;
        let mut session = self.session(Source::Loads, &self.facts.borrow());
        session.clock = Some(clock);
        let mut loads = Loads::new(self, set);
        session.floor = loads.series(schedule.forward(0)).await?;
        for arm in 1..self.probe.arms.len() {
            let forward = loads.series(schedule.forward(arm)).await?;
            let reversed = loads.series(schedule.reversed(arm)).await?;
            session.contests.push(Contest { arm, forward, reversed, control: None });
        }
        (session.checks, session.blank) = (loads.checks, loads.blank);
        Ok(session)
    }

    /// A session without readings.
    fn session(&self, source: Source, facts: &Facts) -> Session {
        let opened = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let schedule = Session::schedule(source);
        let floor = Series { schedule, slots: Vec::new(), submits: 0, discarded: Vec::new(), rounds: Vec::new() };
        Session {
            version: VERSION,
            source,
            opened_ms: opened.as_millis() as f64,
            adapter: facts.adapter.clone(),
            is_software: facts.is_software,
            clock: None,
            arms: self.probe.arms.iter().map(|arm| arm.name.clone()).collect(),
            correction: self.probe.correction.clone(),
            floor,
            contests: Vec::new(),
            checks: Vec::new(),
            blank: Check::default(),
            drawn: [0, 0],
            cold: Vec::new(),
        }
    }
}

/// Loads of one session; every one of them is checked.
pub struct Loads<'a> {
    bench: &'a Bench<'a>,
    set: &'a Set,
    pub checks: Vec<Check>,
    /// Frames, and those that hold counts.
    pub blank: Check,
}

impl<'a> Loads<'a> {
    /// None yet.
    pub fn new(bench: &'a Bench<'a>, set: &'a Set) -> Self {
        Self { bench, set, checks: Vec::new(), blank: Check::default() }
    }

    async fn series(&mut self, slots: Vec<usize>) -> Result<Series> {
        let (mut discarded, mut rounds) = (Vec::new(), Vec::new());
        for round in 0..1 + self.bench.probe.rounds {
            let mut ms = Vec::new();
            for &arm in &slots {
                ms.push(self.load(arm).await?);
            }
            if round == 0 { &mut discarded } else { &mut rounds }.push(ms);
        }
        Ok(Series { schedule: Schedule::Whole, submits: slots.len(), slots, discarded, rounds })
    }

    /// One load: hand-over to the last decode, ms by the page's clock. [`Visit::load`] compares the digest of all
    /// frames.
    pub async fn load(&mut self, arm: usize) -> Result<f64> {
        let tuning = &self.bench.probe.arms[arm].tuning;
        let mut visit = self.bench.visit(tuning).await?;
        let profile = visit.load(self.set, tuning).await?;
        visit.ask("settled()").await?;
        let before = scene(&mut visit).await?;
        let [compared, counted] = frames(&mut visit).await?;
        let after = scene(&mut visit).await?;
        self.checks.push(Check { arm, before, after, compared, wrong: 0 });
        // The first load is one of the baseline.
        if self.blank.compared == 0 {
            self.blank = Check { compared, wrong: counted, ..Check::default() };
        }
        visit.end().await;
        match profile["totalMs"].as_f64() {
            Some(ms) => Ok(ms),
            None => bail!("a load of {} has no time", self.set.name),
        }
    }
}

async fn drawn(visit: &mut Visit<'_>) -> Result<u32> {
    Ok(serde_json::from_value(visit.ask("drawn()").await?)?)
}

/// Frames that are decoded, and those of them that hold counts: without any work, none would.
async fn frames(visit: &mut Visit<'_>) -> Result<[u64; 2]> {
    let hashes = visit.ask("hashes()").await?;
    Ok(["decoded", "counted"].map(|key| hashes[key].as_u64().unwrap_or_default()))
}

async fn scene(visit: &mut Visit<'_>) -> Result<String> {
    Ok(visit.ask("scene()").await?.as_str().unwrap_or_default().to_owned())
}
