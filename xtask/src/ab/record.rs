//! The permanent record in a probe's header, which only a report can fill, and the graveyard that all of them make.

use std::{fmt::Write, path::Path};

use anyhow::{Context, Result, bail, ensure};
use planescope::ab::{Clause, Outcome, Verdict, confirm, median};
use serde::{Deserialize, Serialize};

use super::{probe::Probe, report::Report};

/// What came out, on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub date: String,
    pub gpu: String,
    pub driver: String,
    pub browser: String,
    pub flags: String,
    /// Data preset and pose.
    pub data: String,
    /// Independent runs, which agree; each has two browsers.
    pub runs: usize,
    /// win, null, refuted, reverted; refused for a trap.
    pub verdict: String,
    /// The clause that refused a trap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<Clause>,
    #[serde(default, rename = "arm", skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<ArmRecord>,
    /// How long arms took to compile and run once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold: Vec<ColdRecord>,
}

/// Medians of all browsers, ms by the page's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColdRecord {
    pub name: String,
    pub cold_ms: f64,
    pub warm_ms: f64,
}

/// One arm against the baseline, ms and percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmRecord {
    pub name: String,
    pub baseline_ms: f64,
    pub ms: f64,
    pub effect_percent: f64,
    /// The noise floor: what the baseline's own slots differ by.
    pub floor_percent: f64,
    pub band_percent: f64,
    pub verdict: Verdict,
}

/// Above this line of a probe is its record.
pub const BELOW: &str = "# The experiment.";

impl Record {
    /// Of reports of the same probe, which must agree.
    fn of(probe: &Probe, reports: &[Report]) -> Result<Self> {
        let first = reports.first().context("no report")?;
        let rig = &first.rig;
        let mut record = Self {
            date: rig.date.split('T').next().unwrap_or_default().to_owned(),
            gpu: rig.gpu(),
            driver: rig.driver(),
            browser: rig.browser.clone(),
            flags: rig.flags.join(" "),
            data: first.data.clone(),
            runs: reports.len(),
            verdict: String::new(),
            clause: None,
            arms: Vec::new(),
            cold: Vec::new(),
        };
        if let Some(void) = &first.void {
            let same =
                reports.iter().all(|report| report.void.as_ref().is_some_and(|other| other.clause == void.clause));
            ensure!(same && probe.refused_by == Some(void.clause), "{}: refused by {void}", probe.name);
            record.verdict = "refused".to_owned();
            record.clause = Some(void.clause);
            return Ok(record);
        }
        ensure!(probe.refused_by.is_none(), "{} was to be refused, and was not", probe.name);
        for report in reports {
            confirm(&report.sessions, &report.outcomes)?;
            let said =
                |report: &Report| report.outcomes.iter().map(|arm| (arm.arm.clone(), arm.verdict)).collect::<Vec<_>>();
            ensure!(
                said(report) == said(first),
                "{}: the runs do not agree: {:?}, {:?}",
                probe.name,
                said(first),
                said(report)
            );
        }
        record.verdict = verdict(probe, &first.outcomes).to_owned();
        let floors = first.sessions.iter().filter_map(|session| session.floor.floor_spread());
        let floor = floors.fold(0.0, f64::max);
        record.arms = first.outcomes.iter().map(|outcome| ArmRecord::of(outcome, floor)).collect();
        record.cold = cold(reports);
        Ok(record)
    }

    /// As it stands in the file.
    fn text(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Whole<'a> {
            record: &'a Record,
        }
        Ok(toml::to_string(&Whole { record: self })?)
    }
}

/// Cold and warm times of each arm.
fn cold(reports: &[Report]) -> Vec<ColdRecord> {
    let sessions = || reports.iter().flat_map(|report| &report.sessions);
    let names = sessions().next().map(|session| session.arms.clone()).unwrap_or_default();
    let of = |arm: usize, name: String| {
        let all: Vec<_> = sessions().flat_map(|session| &session.cold).filter(|cold| cold.arm == arm).collect();
        let tenth = |ms: Vec<f64>| median(&ms).map(|ms| (10.0 * ms).round() / 10.0);
        let cold_ms = tenth(all.iter().map(|cold| cold.cold_ms).collect())?;
        Some(ColdRecord { name, cold_ms, warm_ms: tenth(all.iter().map(|cold| cold.warm_ms).collect())? })
    };
    names.into_iter().enumerate().filter_map(|(arm, name)| of(arm, name)).collect()
}

/// One word for all arms: a probe is won by any arm that is faster.
fn verdict(probe: &Probe, outcomes: &[Outcome]) -> &'static str {
    let has = |verdict| outcomes.iter().any(|outcome| outcome.verdict == verdict);
    match () {
        () if probe.reverted.is_some() => "reverted",
        () if has(Verdict::Faster) => "win",
        () if has(Verdict::Slower) => "refuted",
        () => "null",
    }
}

impl ArmRecord {
    fn of(outcome: &Outcome, floor: f64) -> Self {
        let percent = |part: f64| (1e4 * part).round() / 100.0;
        let ms = |ms: f64| (1e4 * ms).round() / 1e4;
        Self {
            name: outcome.arm.clone(),
            baseline_ms: ms(outcome.baseline_ms),
            ms: ms(outcome.ms),
            effect_percent: percent(outcome.effect),
            floor_percent: percent(floor),
            band_percent: percent(outcome.band),
            verdict: outcome.verdict,
        }
    }
}

/// Writes the record of each probe that the reports are about into its file.
pub fn write(folder: &Path, reports: &[Report]) -> Result<()> {
    let mut names: Vec<&str> = reports.iter().map(|report| report.probe.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let probe = Probe::named(folder, name)?;
        let own: Vec<Report> = reports.iter().filter(|report| report.probe == name).cloned().collect();
        let record = Record::of(&probe, &own).with_context(|| name.to_owned())?;
        let path = folder.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path)?;
        std::fs::write(&path, replaced(&text, &record)?).with_context(|| path.display().to_string())?;
        println!("{name}: {} in {} runs", record.verdict, record.runs);
    }
    Ok(())
}

/// The file with another record.
fn replaced(text: &str, record: &Record) -> Result<String> {
    let Some(below) = text.find(BELOW) else { bail!("the file has no line {BELOW:?}") };
    let above = text.find("[record]").unwrap_or(below).min(below);
    Ok(format!("{}\n\n{}\n{}", text[..above].trim_end(), record.text()?, &text[below..]))
}

/// All probes as a table.
pub fn list(probes: &[Probe]) -> String {
    let mut text =
        format!("{:24} {:9} {:10} {:>9} {:>8} {:>7}  {}\n", "probe", "verdict", "date", "ms", "effect", "band", "arm");
    for probe in probes {
        let Some(record) = &probe.record else {
            let _ = writeln!(text, "{:24} no record", probe.name);
            continue;
        };
        let head = format!("{:24} {:9} {:10}", probe.name, record.verdict, record.date);
        if let Some(clause) = record.clause {
            let _ = writeln!(text, "{head} {:27} by {clause}", "");
        }
        for arm in &record.arms {
            let _ = writeln!(
                text,
                "{head} {:>9.4} {:>+7.2}% {:>6.2}%  {}",
                arm.ms, arm.effect_percent, arm.band_percent, arm.name
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_a_filled_record() {
        let probes = Probe::all(&crate::paths::root().join("tests/probes")).expect("all probes can be read");
        assert!(!probes.is_empty());
        for probe in &probes {
            let wrong = unfilled(probe);
            assert!(wrong.is_none(), "{}: {}", probe.name, wrong.unwrap_or_default());
        }
    }

    /// What is missing in a record.
    fn unfilled(probe: &Probe) -> Option<&'static str> {
        let Some(record) = &probe.record else { return Some("no record") };
        let texts = [&record.date, &record.gpu, &record.driver, &record.browser, &record.flags, &record.data];
        if texts.iter().any(|text| text.is_empty()) {
            return Some("a part of the rig is not said");
        }
        if record.runs < 2 {
            return Some("fewer than two independent runs");
        }
        match &*record.verdict {
            "refused" if record.clause.is_none() || record.clause != probe.refused_by => {
                Some("another clause refuses it")
            }
            "refused" => None,
            "win" | "null" | "refuted" | "reverted" if record.arms.len() + 1 != probe.arms.len() => {
                Some("an arm has no numbers")
            }
            "win" | "null" | "refuted" | "reverted" => None,
            _ => Some("no verdict"),
        }
    }

    const PROBE: &str = "purpose = \"p\"\nkind = \"loads\"\n\n[record]\ndate = \"old\"\n\n# The experiment.\n\
                         [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

    fn record() -> Record {
        Record {
            date: "2026-01-01".into(),
            gpu: "a GPU".into(),
            driver: "1".into(),
            browser: "Chrome".into(),
            flags: "--x".into(),
            data: "seed".into(),
            runs: 2,
            verdict: "null".into(),
            clause: None,
            arms: vec![ArmRecord {
                name: "b".into(),
                baseline_ms: 1.0,
                ms: 1.01,
                effect_percent: 1.0,
                floor_percent: 0.5,
                band_percent: 2.0,
                verdict: Verdict::Null,
            }],
            cold: Vec::new(),
        }
    }

    #[test]
    fn a_record_takes_the_place_of_the_old_one_and_nothing_else() {
        let text = replaced(PROBE, &record()).expect("a probe with both parts");
        let probe = Probe::parse(&text).expect("still a probe");
        assert_eq!(probe.record, Some(record()));
        assert!(text.starts_with("purpose") && text.ends_with("name = \"b\"\n") && !text.contains("old"), "{text}");
        assert_eq!(replaced(&text, &record()).expect("again"), text);
    }

    #[test]
    fn a_record_that_lacks_a_part_is_found() {
        let whole = replaced(PROBE, &record()).expect("a probe");
        assert_eq!(unfilled(&Probe::parse(&whole).expect("a probe")), None);
        for (part, instead) in [
            ("driver = \"1\"", "driver = \"\""),
            ("runs = 2", "runs = 1"),
            ("\"null\"\n\n[[record.arm]]", "\"\"\n\n[[record.arm]]"),
            ("name = \"b\"\n[[", "name = \"b\"\n[["),
        ] {
            let broken = whole.replacen(part, instead, 1);
            if broken != whole {
                assert!(unfilled(&Probe::parse(&broken).expect("a probe")).is_some(), "{part}");
            }
        }
        let (head, tail) = (whole.find("[record]").expect("it"), whole.find(BELOW).expect("it"));
        let bare = format!("{}{}", &whole[..head], &whole[tail..]);
        assert!(unfilled(&Probe::parse(&bare).expect("a probe")).is_some());
    }
}
