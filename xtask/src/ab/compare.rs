//! Two reports of one probe: better, worse, or null by the rule of a single run.

use anyhow::{Result, ensure};
use planescope::ab::{Outcome, confirm};

use super::report::{Report, percent};

/// One line an arm, the baseline included.
pub fn compare(old: &Report, new: &Report) -> Result<String> {
    ensure!(old.probe == new.probe, "{} was measured, but the old report is about {}", new.probe, old.probe);
    ensure!(
        old.rig.adapter == new.rig.adapter && old.rig.flags == new.rig.flags && old.data == new.data,
        "the old report was measured on another rig or other data: {}, {}",
        old.rig.adapter,
        old.data
    );
    ensure!(old.void.is_none() && new.void.is_none(), "a void run compares with nothing");
    confirm(&old.sessions, &old.outcomes)?;
    let mut text = format!("compared with {}\n", old.rig.date);
    for (was, is) in old.outcomes.iter().zip(&new.outcomes) {
        ensure!(was.arm == is.arm, "the arms differ: {}, {}", was.arm, is.arm);
        text += &line(&format!("{}, baseline", was.arm), was.baseline_ms, is.baseline_ms, was, is);
        text += &line(&was.arm, was.ms, is.ms, was, is);
    }
    Ok(text)
}

fn line(name: &str, was_ms: f64, is_ms: f64, was: &Outcome, is: &Outcome) -> String {
    let (effect, band) = (is_ms / was_ms - 1.0, was.band.max(is.band));
    let word = match effect {
        inside if inside.abs() <= band => "null",
        less if less < 0.0 => "better",
        _ => "worse",
    };
    format!("{word:7} {name}: {was_ms:.4} -> {is_ms:.4} ms, {}, band {:.2} %\n", percent(effect), 100.0 * band)
}
