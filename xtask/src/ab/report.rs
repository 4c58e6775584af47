//! What a run came to: for people, and as JSON (docs/measuring.md has its schema).

use std::fmt::Write;

use planescope::ab::{Clock, Outcome, Session, VERSION, Verdict, Void, clock::ITERATIONS};
use serde::{Deserialize, Serialize};

use super::probe::Kind;

/// One run of one probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub version: u32,
    pub probe: String,
    pub purpose: String,
    pub kind: Kind,
    pub rig: RigFacts,
    /// Data preset and pose.
    pub data: String,
    /// One a browser; none of a void run.
    pub sessions: Vec<Session>,
    pub outcomes: Vec<Outcome>,
    pub void: Option<Void>,
}

/// What a run was on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RigFacts {
    pub adapter: String,
    pub browser: String,
    pub flags: Vec<String>,
    pub date: String,
    pub cores: usize,
    /// The GPU as the host's own tool describes it, before and after: name, driver, SM clock and its maximum,
    /// temperature, reasons for a lowered clock. Empty where there is no such tool.
    pub host: Vec<String>,
}

impl RigFacts {
    /// The GPU by the host's name for it, which says more than the browser's, where there is one.
    pub fn gpu(&self) -> String {
        let name = self.host.first().and_then(|line| line.split(',').next());
        name.map_or_else(|| self.adapter.clone(), |name| name.trim().to_owned())
    }

    /// The driver's version, where the host tells it.
    pub fn driver(&self) -> String {
        let part = self.host.first().and_then(|line| line.split(',').nth(1));
        part.map_or_else(|| "not told by the host".to_owned(), |version| version.trim().to_owned())
    }
}

/// What the clock of a GPU is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClockReport {
    pub version: u32,
    pub rig: RigFacts,
    /// One a browser.
    pub clocks: Vec<Clock>,
    /// The same GPU in a browser that rounds timestamps.
    pub rounded: Rounded,
}

/// A clock that is no good, to compare with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounded {
    pub flags: Vec<String>,
    pub clock: Option<Clock>,
    /// The clause by which its readings are refused.
    pub void: Option<Void>,
    /// Why there is none.
    pub missing: Option<String>,
}

impl Report {
    pub fn new(probe: &super::probe::Probe, rig: RigFacts, data: String) -> Self {
        Self {
            version: VERSION,
            probe: probe.name.clone(),
            purpose: probe.purpose.clone(),
            kind: probe.kind,
            rig,
            data,
            sessions: Vec::new(),
            outcomes: Vec::new(),
            void: None,
        }
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}\n{}", self.probe, self.purpose.trim(), head(&self.rig));
        let _ = writeln!(text, "data: {}", self.data);
        for (number, session) in (1..).zip(&self.sessions) {
            if let Some(clock) = &session.clock {
                let _ = writeln!(
                    text,
                    "browser {number}: clock in steps of {} ns, {} of {} readings distinct, {} readings of warm-up",
                    clock.lattice_ns,
                    clock.distinct,
                    clock.of,
                    session.warm_up()
                );
            }
            let _ = writeln!(text, "  noise floor by slot, ms: {}", list(&session.floor.positions()));
            for contest in &session.contests {
                let name = session.arms.get(contest.arm).map_or("", String::as_str);
                let _ = writeln!(text, "  {name}, forward:  {}", list(&contest.forward.positions()));
                let _ = writeln!(text, "  {name}, reversed: {}", list(&contest.reversed.positions()));
            }
            for cold in &session.cold {
                let name = session.arms.get(cold.arm).map_or("", String::as_str);
                let _ =
                    writeln!(text, "  {name}: {:.1} ms from a cold cache, {:.1} ms warm", cold.cold_ms, cold.warm_ms);
            }
        }
        text.push_str(&self.verdicts());
        text
    }

    /// One line an arm.
    pub fn verdicts(&self) -> String {
        let mut text = String::new();
        for outcome in &self.outcomes {
            let effects = outcome.effects.iter().map(|effect| percent(*effect)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(
                text,
                "{:7} {}: {:.4} ms against {:.4}, effect {} ({effects}), band {:.2} %",
                word(outcome.verdict),
                outcome.arm,
                outcome.ms,
                outcome.baseline_ms,
                percent(outcome.effect),
                100.0 * outcome.band
            );
        }
        text
    }
}

impl ClockReport {
    pub fn text(&self) -> String {
        let mut text = head(&self.rig);
        for (number, clock) in (1..).zip(&self.clocks) {
            let _ = writeln!(text, "browser {number}");
            let _ = writeln!(
                text,
                "  quantization   {} of {} readings distinct, steps of {} ns",
                clock.distinct, clock.of, clock.lattice_ns
            );
            let _ = writeln!(
                text,
                "  linearity      {:?} iterations: {} ms; ratios {}",
                ITERATIONS,
                list(&clock.linearity_ms),
                clock.ratios.iter().map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(" ")
            );
            let _ = writeln!(
                text,
                "  decomposition  {} ms; the two heavy passes differ by {}; {:.1} % of the wall time",
                list(&clock.passes_ms),
                percent(clock.heavy_difference),
                100.0 * clock.wall_share
            );
            for bias in &clock.bias {
                let _ = writeln!(
                    text,
                    "  position bias  {}",
                    bias.iter().map(|part| percent(*part)).collect::<Vec<_>>().join(" ")
                );
            }
            let _ = writeln!(
                text,
                "  warm-up        {} readings until within {:.2} % of the plateau; the first five {} to {}",
                clock.warm_up,
                100.0 * clock.warm_within,
                percent(clock.first_five[0]),
                percent(clock.first_five[1])
            );
        }
        let Rounded { flags, clock, void, missing } = &self.rounded;
        let _ = writeln!(text, "in a browser that rounds timestamps ({})", flags.join(" "));
        if let Some(clock) = clock {
            let _ = writeln!(
                text,
                "  quantization   {} of {} readings distinct, steps of {} ns",
                clock.distinct, clock.of, clock.lattice_ns
            );
        }
        let refused = void.iter().map(|void| format!("refused, {void}"));
        let missing = missing.iter().map(|why| format!("no clock: {why}"));
        refused.chain(missing).for_each(|words| {
            let _ = writeln!(text, "  {words}");
        });
        text
    }
}

fn head(rig: &RigFacts) -> String {
    let mut text = format!("{}, {}, {} cores, {}\n", rig.adapter, rig.browser, rig.cores, rig.date);
    match rig.host.is_empty() {
        true => text.push_str("host: tells nothing about clock and temperature\n"),
        false => rig.host.iter().for_each(|line| {
            let _ = writeln!(text, "host: {line}");
        }),
    }
    text
}

fn list(ms: &[f64]) -> String {
    ms.iter().map(|ms| format!("{ms:.4}")).collect::<Vec<_>>().join(" ")
}

pub fn percent(part: f64) -> String {
    format!("{:+.2} %", 100.0 * part)
}

pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Null => "null",
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
    }
}
