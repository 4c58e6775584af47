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

#[cfg(test)]
pub mod tests {
    use planescope::ab::{Check, Contest, Schedule, Series, Session, Source, VERSION, judge};

    use super::*;
    use crate::ab::{html, probe::Probe, report::RigFacts, software};

    /// A report of a made-up GPU; the arm takes `ms`, the baseline 2 ms.
    pub fn report(ms: f64, opened_ms: f64) -> Report {
        let schedule = Schedule::Interleaved;
        let series = |slots: Vec<usize>| {
            let round: Vec<f64> = (0..)
                .zip(&slots)
                .map(|(slot, &arm)| {
                    let ms = if arm == 0 { 2.0 } else { ms };
                    ms * (1.0 + 0.001 * f64::from(slot % 3))
                })
                .collect();
            Series { schedule, slots, submits: 1, discarded: vec![round.clone(); 4], rounds: vec![round; 4] }
        };
        let check =
            |arm| Check { arm, before: "as uploaded".into(), after: "as uploaded".into(), compared: 9, wrong: 0 };
        let session = |opened_ms| Session {
            version: VERSION,
            source: Source::Submit,
            opened_ms,
            adapter: "a GPU".into(),
            is_software: false,
            clock: software::good_clock().ok(),
            arms: vec!["plain".into(), "clever <b>".into()],
            correction: None,
            floor: series(schedule.forward(0)),
            contests: vec![Contest {
                arm: 1,
                forward: series(schedule.forward(1)),
                reversed: series(schedule.reversed(1)),
                control: None,
            }],
            checks: vec![check(0), check(1), check(0), check(1)],
            blank: Check { compared: 9, wrong: 9, ..Check::default() },
            drawn: [1, 1],
            cold: Vec::new(),
        };
        let probe = "purpose = \"p\"\nkind = \"loads\"\n[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";
        let probe = Probe::parse(probe).expect("a probe");
        let mut report = Report::new(&probe, RigFacts::default(), "seed".into());
        report.sessions = vec![session(opened_ms), session(opened_ms + 1.0)];
        report.outcomes = judge(&report.sessions).expect("a run that counts");
        report
    }

    #[test]
    fn a_report_is_null_better_or_worse_than_another_by_the_band() {
        let old = report(1.5, 1.0);
        let words = |ms| {
            let text = compare(&old, &report(ms, 10.0)).expect("they compare");
            text.lines().last().and_then(|line| line.split_whitespace().next()).map(str::to_owned)
        };
        assert_eq!(words(1.5).as_deref(), Some("null"));
        assert_eq!(words(1.3).as_deref(), Some("better"));
        assert_eq!(words(1.7).as_deref(), Some("worse"));
    }

    #[test]
    fn a_report_of_another_rig_or_with_another_verdict_than_its_readings_compares_with_nothing() {
        let (old, mut other) = (report(1.5, 1.0), report(1.5, 10.0));
        other.rig.adapter = "another GPU".into();
        assert!(compare(&old, &other).is_err());
        let mut claimed = report(2.0, 1.0);
        claimed.outcomes[0].verdict = planescope::ab::Verdict::Faster;
        assert!(compare(&claimed, &report(2.0, 10.0)).is_err());
    }

    #[test]
    fn a_report_survives_json_and_its_page_needs_nothing_else() {
        let report = report(1.5, 1.0);
        let text = serde_json::to_string(&report).expect("JSON");
        let again: Report = serde_json::from_str(&text).expect("a report");
        assert_eq!(again.text(), report.text());
        assert_eq!(again.sessions.len(), 2);
        let page = html::report(&report);
        assert!(page.contains("clever &lt;b&gt;") && page.contains("faster") && page.matches("<svg").count() == 7);
        assert!(!page.contains("http") && !page.contains("src="), "nothing is fetched");
        assert!(report.text().contains("faster  clever <b>: 1.5015 ms"), "{}", report.text());
    }
}
