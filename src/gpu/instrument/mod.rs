//! The instrument of [`crate::ab`]: runs the arms of an experiment in mirrored slots of one submit, by the GPU's clock.
//!
//! It only reads; what the readings are worth is for [`crate::ab`] to say. Whatever an arm writes is cleared between
//! the timed passes, and compared in full before and after the readings.

mod characterise;
mod scene;

use std::collections::BTreeMap;

use super::{Context, Stopwatch, compare_words::CompareWords};
use crate::{
    ab::{
        Check, Clause, Clock, Cold, Contest, Experiment, Schedule, Series, Session, Source, VERSION, Void,
        experiment::Contents,
    },
    error::{Error, Kind},
};
pub use characterise::readings;
use scene::{Bound, Scene, bind, compile};

/// Bytes of files by their address, one copy of each.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why there are no readings.
#[derive(Debug)]
pub enum Stop {
    /// A clause was broken before there was anything to judge.
    Void(Void),
    Error(Error),
}

impl From<Void> for Stop {
    fn from(void: Void) -> Self {
        Self::Void(void)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// An experiment that is ready to run.
pub struct Instrument<'a> {
    context: &'a Context,
    experiment: &'a Experiment,
    compare: CompareWords,
    scenes: Vec<Scene>,
    arms: Vec<Runner>,
    /// Each arm without content, where the experiment has such a control.
    controls: Vec<Runner>,
}

/// An arm on its scene.
struct Runner {
    scene: usize,
    steps: Vec<Bound>,
}

/// Times of one round.
pub struct Round {
    /// By slot, ms.
    pub ms: Vec<f64>,
    /// From the submit to the answer, ms by the processor's clock.
    pub wall_ms: f64,
}

impl<'a> Instrument<'a> {
    /// Makes all buffers and pipelines.
    ///
    /// # Errors
    /// Void on a software adapter, without fine timestamps, or where contents are missing; an error where a shader is
    /// refused or memory is short.
    pub async fn new(context: &'a Context, experiment: &'a Experiment, files: &Files) -> Result<Self, Stop> {
        Void::unless(experiment.allow_software || !context.adapter.is_software, Clause::Hardware, || {
            format!("{} is a software adapter: its times say nothing about a GPU", context.adapter.info)
        })?;
        Void::unless(context.adapter.has_timestamps, Clause::Clock, || {
            format!("{} has no timestamp queries", context.adapter.info)
        })?;
        let mut instrument = Self {
            context,
            experiment,
            compare: context.guarded("compare_words", || Ok(CompareWords::new(context))).await?,
            scenes: Vec::new(),
            arms: Vec::new(),
            controls: Vec::new(),
        };
        let mut made: Vec<&BTreeMap<String, Contents>> = Vec::new();
        for (index, arm) in experiment.arms.iter().enumerate() {
            let pipelines = compile(context, arm, None).await?;
            let scene = match made.iter().position(|contents| **contents == arm.contents) {
                Some(scene) => scene,
                None => {
                    instrument.scenes.push(Scene::new(context, experiment, &arm.contents, files).await?);
                    made.push(&arm.contents);
                    made.len() - 1
                }
            };
            let steps = bind(context, arm, &pipelines, &instrument.scenes[scene]).await?;
            instrument.arms.push(Runner { scene, steps });
            if !experiment.control.is_empty() {
                if index == 0 {
                    let control = Scene::new(context, experiment, &experiment.control, files).await?;
                    instrument.scenes.push(control);
                    made.push(&experiment.control);
                }
                // The control follows the baseline's scene.
                let steps = bind(context, arm, &pipelines, &instrument.scenes[1]).await?;
                instrument.controls.push(Runner { scene: 1, steps });
            }
        }
        instrument.set_references().await?;
        Ok(instrument)
    }

    /// Lets the baseline's steps fill every scene once: what the other arms are compared with.
    async fn set_references(&mut self) -> Result<(), Stop> {
        let Some(baseline) = self.experiment.arms.first() else {
            return Err(Void::new(Clause::Content, "there are no arms").into());
        };
        let pipelines = compile(self.context, baseline, None).await?;
        for scene in &mut self.scenes {
            let steps = bind(self.context, baseline, &pipelines, scene).await?;
            self.context
                .submit("instrument.reference", |encoder| {
                    scene.clear(encoder);
                    run(encoder, &steps, None);
                    scene.keep_reference(encoder);
                    Ok(())
                })
                .await?;
        }
        Ok(())
    }

    /// The slots that the caller has named: readings without a verdict.
    ///
    /// # Errors
    /// As [`Context::submit`].
    pub async fn rounds(&self, slots: &[usize], rounds: usize) -> Result<Vec<Round>, Stop> {
        let runners = slots.iter().map(|&arm| self.arms.get(arm)).collect::<Option<Vec<_>>>();
        let runners = runners.ok_or_else(|| unknown("slot", format!("{slots:?}")))?;
        let Some(stopwatch) = Stopwatch::new(self.context, slots.len() as u32)? else {
            return Err(Void::new(Clause::Clock, "there are no timestamps").into());
        };
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(self.round(None, &runners, &stopwatch).await?);
        }
        Ok(all)
    }

    /// One submit: `lead` once without a time, then all slots.
    async fn round(&self, lead: Option<&Runner>, runners: &[&Runner], stopwatch: &Stopwatch) -> Result<Round, Stop> {
        let began_ms = now_ms();
        self.context
            .submit("instrument.round", |encoder| {
                let lead = lead.map(|runner| (runner, None));
                let timed = (0..).zip(runners).map(|(slot, &runner)| (runner, Some(stopwatch.notes(slot))));
                for (runner, notes) in lead.into_iter().chain(timed) {
                    self.scenes[runner.scene].clear(encoder);
                    run(encoder, &runner.steps, notes);
                }
                stopwatch.record(encoder);
                Ok(())
            })
            .await?;
        let laps = stopwatch.laps_ms(self.context).await?;
        let wall_ms = now_ms() - began_ms;
        Ok(Round { ms: laps.iter().map(|[begin, end]| end - begin).collect(), wall_ms })
    }

    /// All contests of the experiment, with everything that is needed to judge them.
    ///
    /// # Errors
    /// As [`Instrument::rounds`].
    pub async fn session(&self, clock: Clock, opened_ms: f64) -> Result<Session, Stop> {
        let mut session = Session {
            version: VERSION,
            source: Source::Submit,
            opened_ms,
            adapter: self.context.adapter.info.clone(),
            is_software: self.context.adapter.is_software,
            clock: Some(clock),
            arms: self.experiment.arms.iter().map(|arm| arm.name.clone()).collect(),
            correction: None,
            floor: Series {
                schedule: Schedule::Interleaved,
                slots: Vec::new(),
                submits: 1,
                discarded: Vec::new(),
                rounds: Vec::new(),
            },
            contests: Vec::new(),
            checks: self.checks().await?,
            blank: self.blank().await?,
            drawn: [0, 0],
            cold: Vec::new(),
        };
        let schedule = Schedule::Interleaved;
        let warm_up = session.warm_up().div_ceil(schedule.forward(0).len());
        session.floor = self.series(&self.arms, schedule.forward(0), warm_up).await?;
        for arm in 1..self.arms.len() {
            let forward = self.series(&self.arms, schedule.forward(arm), warm_up).await?;
            let reversed = self.series(&self.arms, schedule.reversed(arm), warm_up).await?;
            let control = match self.controls.is_empty() {
                true => None,
                false => Some(self.series(&self.controls, schedule.forward(arm), warm_up).await?),
            };
            session.contests.push(Contest { arm, forward, reversed, control });
        }
        session.checks.extend(self.checks().await?);
        if self.experiment.cold {
            session.cold = self.cold().await?;
        }
        Ok(session)
    }

    async fn series(&self, runners: &[Runner], slots: Vec<usize>, warm_up: usize) -> Result<Series, Stop> {
        let in_slots = slots.iter().map(|&arm| &runners[arm]).collect::<Vec<_>>();
        let Some(stopwatch) = Stopwatch::new(self.context, slots.len() as u32)? else {
            return Err(Void::new(Clause::Clock, "there are no timestamps").into());
        };
        let (mut discarded, mut rounds) = (Vec::new(), Vec::new());
        for round in 0..warm_up + self.experiment.rounds {
            // The baseline leads, so that no slot is the one that wakes the GPU.
            let ms = self.round(runners.first(), &in_slots, &stopwatch).await?.ms;
            if round < warm_up { &mut discarded } else { &mut rounds }.push(ms);
        }
        Ok(Series { schedule: Schedule::Interleaved, slots, submits: 1, discarded, rounds })
    }

    /// Runs each arm once: what it writes, and whether it leaves the scene as it is.
    async fn checks(&self) -> Result<Vec<Check>, Stop> {
        let mut checks = Vec::new();
        for (arm, runner) in self.arms.iter().enumerate() {
            let scene = &self.scenes[runner.scene];
            let before = scene.state(self.context, &self.compare).await?;
            self.context
                .submit("instrument.check", |encoder| {
                    scene.clear(encoder);
                    run(encoder, &runner.steps, None);
                    Ok(())
                })
                .await?;
            let [compared, wrong] = scene.compare_outputs(self.context, &self.compare).await?;
            let after = scene.state(self.context, &self.compare).await?;
            checks.push(Check { arm, before, after, compared, wrong });
        }
        Ok(checks)
    }

    /// What no work leaves, against what the baseline leaves.
    async fn blank(&self) -> Result<Check, Stop> {
        let scene = &self.scenes[0];
        self.context
            .submit("instrument.blank", |encoder| {
                scene.clear(encoder);
                Ok(())
            })
            .await?;
        let [compared, wrong] = scene.compare_outputs(self.context, &self.compare).await?;
        Ok(Check { compared, wrong, ..Check::default() })
    }

    /// Compiles each arm with a constant that no cache knows, runs it, and does both once more.
    async fn cold(&self) -> Result<Vec<Cold>, Stop> {
        let mut all = Vec::new();
        for (index, arm) in self.experiment.arms.iter().enumerate() {
            let unique = unique();
            let scene = &self.scenes[self.arms[index].scene];
            let Some(buffer) = scene.buffer(UNIQUE) else {
                let why = format!("an experiment with cold times needs a buffer called {UNIQUE}");
                return Err(Void::new(Clause::Cold, why).into());
            };
            let mut ms = [0.0; 2];
            let mut found = 0;
            for ms in &mut ms {
                self.context
                    .submit("instrument.cold", |encoder| {
                        scene.clear(encoder);
                        Ok(())
                    })
                    .await?;
                self.context.read_words(buffer, 0, 1).await?;
                let began_ms = now_ms();
                let pipelines = compile(self.context, arm, Some(unique)).await?;
                let steps = bind(self.context, arm, &pipelines, scene).await?;
                self.context
                    .submit("instrument.cold", |encoder| {
                        run(encoder, &steps, None);
                        Ok(())
                    })
                    .await?;
                found = self.context.read_words(buffer, 0, 1).await?.first().copied().unwrap_or_default();
                *ms = now_ms() - began_ms;
            }
            all.push(Cold { arm: index, unique, found, cold_ms: ms[0], warm_ms: ms[1] });
        }
        Ok(all)
    }
}

/// The buffer into which shaders with cold times write their constant.
const UNIQUE: &str = "unique";

/// Records an arm: one pass, timed as a whole.
fn run(encoder: &mut wgpu::CommandEncoder, steps: &[Bound], notes: Option<wgpu::ComputePassTimestampWrites<'_>>) {
    let descriptor = wgpu::ComputePassDescriptor { label: Some("instrument.arm"), timestamp_writes: notes };
    let mut pass = encoder.begin_compute_pass(&descriptor);
    for step in steps {
        step.record(&mut pass);
    }
}

fn unknown(what: &str, name: impl Into<String>) -> Stop {
    Error::new(Kind::Internal, "bad_argument", format!("An experiment names a {what} that it does not have"))
        .found(name)
        .into()
}

/// Milliseconds of a clock that only rises.
#[cfg(target_arch = "wasm32")]
fn now_ms() -> f64 {
    crate::load::now_ms()
}

/// Milliseconds of a clock that only rises.
#[cfg(not(target_arch = "wasm32"))]
fn now_ms() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

/// Lets the GPU come to rest.
async fn rest(ms: u32) {
    #[cfg(target_arch = "wasm32")]
    gloo_timers::future::TimeoutFuture::new(ms).await;
    #[cfg(not(target_arch = "wasm32"))]
    std::thread::sleep(std::time::Duration::from_millis(u64::from(ms)));
}

/// Another number every time: f64 constants hold 32 bits exactly.
fn unique() -> u32 {
    #[cfg(target_arch = "wasm32")]
    return (js_sys::Math::random() * f64::from(u32::MAX)) as u32 | 1;
    #[cfg(not(target_arch = "wasm32"))]
    {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0) as u32 | 1
    }
}
