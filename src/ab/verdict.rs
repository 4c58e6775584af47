//! What the readings of two browsers say.

use serde::{Deserialize, Serialize};

use super::{Clause, Session, Void, median};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No effect outside the band.
    Null,
    /// The arm takes less time than the baseline.
    Faster,
    /// It takes more.
    Slower,
}

/// What one arm came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub arm: String,
    /// Medians of the slots of all browsers, ms.
    pub baseline_ms: f64,
    pub ms: f64,
    /// By how much the arm takes longer, as a part: forward and reversed, browser by browser.
    pub effects: Vec<f64>,
    /// Their median.
    pub effect: f64,
    /// The largest band of all browsers, as a part.
    pub band: f64,
    pub verdict: Verdict,
}

/// Judges all arms by the readings of two browsers or more.
///
/// # Errors
/// The first clause that is broken.
pub fn judge(sessions: &[Session]) -> Result<Vec<Outcome>, Void> {
    let opened: Vec<f64> = sessions.iter().map(|session| session.opened_ms).collect();
    let differ = (1..opened.len()).all(|i| !opened[..i].contains(&opened[i]));
    Void::unless(sessions.len() >= 2 && differ, Clause::Second, || {
        "an effect must come out in two browsers that know nothing of each other".to_owned()
    })?;
    judge_alone(sessions)
}

/// The same for any number of browsers; what a page says about its own readings.
///
/// # Errors
/// As [`judge`].
pub fn judge_alone(sessions: &[Session]) -> Result<Vec<Outcome>, Void> {
    sessions.iter().try_for_each(Session::check)?;
    let Some(first) = sessions.first() else { return Ok(Vec::new()) };
    let same = |session: &Session| {
        session.arms == first.arms
            && session.contests.iter().map(|contest| contest.arm).eq(first.contests.iter().map(|contest| contest.arm))
    };
    Void::unless(sessions.iter().all(same), Clause::Pinned, || "the browsers ran different arms".to_owned())?;
    (0..first.contests.len()).map(|contest| outcome(sessions, contest)).collect()
}

fn outcome(sessions: &[Session], at: usize) -> Result<Outcome, Void> {
    let arm = sessions[0].contests[at].arm;
    let name = sessions[0].arms.get(arm).cloned().unwrap_or_default();
    let (mut effects, mut bands, mut times, mut baselines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for session in sessions {
        let contest = &session.contests[at];
        bands.extend(session.band(contest));
        for series in [&contest.forward, &contest.reversed] {
            effects.extend(series.effect(arm));
            times.extend(series.ms(arm));
            baselines.extend(series.ms(0));
        }
    }
    let band = bands.iter().copied().fold(0.0, f64::max);
    let (Some(effect), Some(ms), Some(baseline_ms)) = (median(&effects), median(&times), median(&baselines)) else {
        return Err(Void::new(Clause::Clock, format!("{name} has no times")));
    };
    let verdict = verdict(&effects, band).ok_or_else(|| {
        Void::new(Clause::Sign, format!("the effect of {name} changes its sign: {}", parts(&effects)))
    })?;
    Ok(Outcome { arm: name, baseline_ms, ms, effects, effect, band, verdict })
}

/// `None` where effects outside the band have different signs.
fn verdict(effects: &[f64], band: f64) -> Option<Verdict> {
    if effects.iter().any(|effect| effect.abs() <= band) {
        return Some(Verdict::Null);
    }
    let slower = effects.iter().filter(|&&effect| effect > 0.0).count();
    match slower {
        0 => Some(Verdict::Faster),
        all if all == effects.len() => Some(Verdict::Slower),
        _ => None,
    }
}

/// Whether what was written down is what the readings say.
///
/// # Errors
/// [`Clause::Null`] where it claims something else, else as [`judge`].
pub fn confirm(sessions: &[Session], claimed: &[Outcome]) -> Result<(), Void> {
    for (said, found) in claimed.iter().zip(judge(sessions)?) {
        Void::unless(said.arm == found.arm && said.verdict == found.verdict, Clause::Null, || {
            format!(
                "{} is called {:?}, but its effect of {} with a band of {:.2} % is {:?}",
                said.arm,
                said.verdict,
                parts(&found.effects),
                100.0 * found.band,
                found.verdict
            )
        })?;
    }
    Ok(())
}

/// Signed percentages.
fn parts(effects: &[f64]) -> String {
    effects.iter().map(|effect| format!("{:+.2} %", 100.0 * effect)).collect::<Vec<_>>().join(", ")
}
