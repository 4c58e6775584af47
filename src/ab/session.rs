//! All that one browser read, and whether it keeps to the clauses.

use serde::{Deserialize, Serialize};

use super::{Clause, Clock, Schedule, Series, Void};

/// Version of [`Session`] and of the reports that hold it.
pub const VERSION: u32 = 1;

/// Where readings come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Passes of one submit, by the GPU's clock.
    Submit,
    /// Calls of the page's hooks, by the GPU's clock.
    Calls,
    /// Whole loads, each in a browser of its own, by the page's clock.
    Loads,
}

/// One browser's readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub version: u32,
    pub source: Source,
    /// Different for every browser: when its page was opened, ms since 1970.
    pub opened_ms: f64,
    pub adapter: String,
    pub is_software: bool,
    /// Of the GPU; noted for loads, too, whose own clock is the page's.
    pub clock: Option<Clock>,
    /// Names; the first is the baseline.
    pub arms: Vec<String>,
    /// Whatever was taken off the readings.
    #[serde(default)]
    pub correction: Option<String>,
    /// The baseline in every slot.
    pub floor: Series,
    pub contests: Vec<Contest>,
    /// Each arm, before and after the readings.
    pub checks: Vec<Check>,
    /// What no work at all leaves in the outputs, against the baseline's.
    pub blank: Check,
    /// Pictures that the page has drawn since it opened: before the readings, and after.
    pub drawn: [u32; 2],
    #[serde(default)]
    pub cold: Vec<Cold>,
}

/// One arm against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// Index into [`Session::arms`].
    pub arm: usize,
    pub forward: Series,
    pub reversed: Series,
    /// Both without content, where the experiment has such a control.
    #[serde(default)]
    pub control: Option<Series>,
}

/// One arm that was run to see what it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub arm: usize,
    /// What must stay as it is: scene and pose, in a word or a hash.
    pub before: String,
    pub after: String,
    /// Units (words, frames) of the whole output, and those that are not the baseline's.
    pub compared: u64,
    pub wrong: u64,
}

/// How long an arm took from its source to the end of its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cold {
    pub arm: usize,
    /// The constant of this run, and what the shader wrote of it.
    pub unique: u32,
    pub found: u32,
    /// With a constant that no cache knows, ms by the page's clock.
    pub cold_ms: f64,
    /// The same once more.
    pub warm_ms: f64,
}

impl Session {
    /// Whether this browser's readings may be judged.
    ///
    /// # Errors
    /// The first clause that they break.
    pub fn check(&self) -> Result<(), Void> {
        Void::unless(!self.is_software, Clause::Hardware, || {
            format!("{} is a software adapter: its times say nothing about a GPU", self.adapter)
        })?;
        self.check_clock()?;
        self.check_arms()?;
        self.check_series()?;
        self.check_cold()
    }

    fn check_clock(&self) -> Result<(), Void> {
        match &self.clock {
            Some(clock) => clock.check(),
            None => Err(Void::new(Clause::Clock, "nothing is known about the GPU's clock")),
        }
    }

    fn check_arms(&self) -> Result<(), Void> {
        let name = |arm: usize| self.arms.get(arm).map_or("?", String::as_str);
        let scene = self.checks.first().map(|check| check.before.as_str()).unwrap_or_default();
        for (arm, _) in self.arms.iter().enumerate() {
            let times = self.checks.iter().filter(|check| check.arm == arm).count();
            Void::unless(times >= 2, Clause::Identical, || format!("{} was not compared before and after", name(arm)))?;
        }
        for check in &self.checks {
            let Check { before, after, compared, wrong, .. } = check;
            let arm = name(check.arm);
            Void::unless(*before == scene && *after == scene, Clause::Pinned, || {
                format!("the scene was {scene:?}, then {before:?} before {arm} and {after:?} after it")
            })?;
            Void::unless(*compared > 0 && *wrong == 0, Clause::Identical, || {
                format!("{arm} differs from the baseline in {wrong} of {compared}")
            })?;
        }
        Void::unless(self.blank.compared > 0 && self.blank.wrong > 0, Clause::Identical, || {
            format!("{} leaves what no work at all leaves: it has made nothing", name(0))
        })?;
        Void::unless(self.drawn[0] == self.drawn[1], Clause::Pinned, || {
            format!("the page drew {} pictures during the readings", self.drawn[1].wrapping_sub(self.drawn[0]))
        })
    }

    fn check_series(&self) -> Result<(), Void> {
        Void::unless(self.correction.is_none(), Clause::Interleaved, || {
            format!("readings were corrected: {}", self.correction.as_deref().unwrap_or_default())
        })?;
        let floor = &self.floor;
        Void::unless(!floor.rounds.is_empty() && floor.slots.iter().all(|&arm| arm == 0), Clause::Floor, || {
            "there is no noise floor: the baseline in every slot, in the same session".to_owned()
        })?;
        self.check_one(floor, &floor.schedule.forward(0), "the noise floor")?;
        for contest in &self.contests {
            let arm = self.arms.get(contest.arm).map_or("?", String::as_str);
            Void::unless(floor.rounds.len() >= contest.forward.rounds.len(), Clause::Floor, || {
                format!("the noise floor has fewer rounds than {arm}")
            })?;
            let schedule = contest.forward.schedule;
            let orders = [
                (&contest.forward, schedule.forward(contest.arm)),
                (&contest.reversed, schedule.reversed(contest.arm)),
            ];
            for (series, slots) in orders {
                self.check_one(series, &slots, arm)?;
            }
            self.check_control(contest, arm)?;
        }
        Void::unless(!self.contests.is_empty(), Clause::Content, || "there is no arm but the baseline".to_owned())
    }

    /// A series that has `slots`, floors, a warm-up and all its times.
    fn check_one(&self, series: &Series, slots: &[usize], what: &str) -> Result<(), Void> {
        Void::unless(series.has_floors_around(), Clause::Interleaved, || {
            format!("slots {:?} of {what} have no floor before and after each arm", series.slots)
        })?;
        Void::unless(series.slots == slots, Clause::Mirrored, || {
            format!("{what} ran in slots {:?}, not in {slots:?}", series.slots)
        })?;
        Void::unless(self.source != Source::Submit || series.submits == 1, Clause::Mirrored, || {
            format!("a round of {what} took {} submits", series.submits)
        })?;
        let (discarded, needed) = (series.discarded.len() * series.slots.len(), self.warm_up());
        Void::unless(discarded >= needed, Clause::Warm, || {
            format!("{discarded} readings of {what} were thrown away; it takes {needed} until they settle")
        })?;
        let is_full = |round: &Vec<f64>| round.len() == series.slots.len() && round.iter().all(|&ms| ms > 0.0);
        Void::unless(!series.rounds.is_empty() && series.rounds.iter().all(is_full), Clause::Clock, || {
            format!("a slot of {what} has no time")
        })
    }

    /// Readings to throw away before each series: as many as the GPU needs to settle, and of whole loads, between which
    /// it rests, a round.
    pub fn warm_up(&self) -> usize {
        match (self.source, &self.clock) {
            (Source::Loads, _) | (_, None) => 1,
            (_, Some(clock)) => clock.warm_up.max(1),
        }
    }

    /// Without content, arms may differ by no more than what the band resolves with it.
    fn check_control(&self, contest: &Contest, arm: &str) -> Result<(), Void> {
        let Some(control) = &contest.control else { return Ok(()) };
        self.check_one(control, &control.schedule.forward(contest.arm), "the control")?;
        let times = [contest.forward.ms(0), self.band(contest), control.ms(0), control.effect(contest.arm)];
        let [Some(with_ms), Some(band), Some(without_ms), Some(effect)] = times else {
            return Err(Void::new(Clause::Control, format!("the control of {arm} has no times")));
        };
        let (apart_ms, allowed_ms) = ((effect * without_ms).abs(), band * with_ms);
        Void::unless(apart_ms <= allowed_ms, Clause::Control, || {
            format!(
                "without content {arm} and the baseline are {apart_ms:.4} ms apart, where the band is {allowed_ms:.4} ms: \
                 their difference is not about the content"
            )
        })
    }

    fn check_cold(&self) -> Result<(), Void> {
        for (i, cold) in self.cold.iter().enumerate() {
            let arm = self.arms.get(cold.arm).map_or("?", String::as_str);
            let is_new = self.cold[..i].iter().all(|other| other.unique != cold.unique);
            Void::unless(cold.found == cold.unique && is_new, Clause::Cold, || match is_new {
                true => {
                    format!("{arm} was to write {}, but wrote {}: its constant is not live", cold.unique, cold.found)
                }
                false => format!("{arm} was compiled with the constant of another arm"),
            })?;
        }
        Ok(())
    }

    /// The band of a contest: the largest spread of floors, or the noise floor's own effect.
    pub fn band(&self, contest: &Contest) -> Option<f64> {
        let spreads = [&self.floor, &contest.forward, &contest.reversed].map(Series::floor_spread);
        let own = self.floor.inner_over_outer()?.abs();
        spreads.into_iter().try_fold(own, |band, spread| Some(band.max(spread?)))
    }

    /// The schedule of the source.
    pub fn schedule(source: Source) -> Schedule {
        match source {
            Source::Submit | Source::Calls => Schedule::Interleaved,
            Source::Loads => Schedule::Whole,
        }
    }
}
