//! All decode variants against each other and the named baseline, by GPU timestamps, in one run on one page.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    figures::Figure,
    set::Set,
    sweep::Tuning,
    visit::{Facts, Setup, Visit, Void},
};
use crate::setup::say;

/// The published frame-cooperative design, which every other one is compared with.
pub const BASELINE: &str = "frame-coop";
/// The output in which they are compared.
pub const COMPARED: &str = "u16";

/// A variant as `__planescope.kernels()` lists it.
#[derive(Deserialize)]
struct Listed {
    name: String,
    outputs: Vec<String>,
    workgroups: Vec<u32>,
}

/// One runner: a variant that writes one output, with one workgroup size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Runner {
    pub variant: String,
    pub output: String,
    /// Threads.
    pub workgroup: u32,
}

impl Runner {
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.variant, self.output, self.workgroup)
    }
}

/// What one runner came to: milliseconds to decode all frames of the set, everything included.
#[derive(Serialize)]
pub struct Raced {
    #[serde(flatten)]
    pub runner: Runner,
    #[serde(flatten)]
    pub gpu_ms: Figure,
    /// The same, pass by pass.
    pub passes: BTreeMap<String, Figure>,
}

/// A race that was run to its end with every frame right.
pub struct Race {
    pub raced: Vec<Raced>,
    /// The baseline, entered a second time as if it were another variant.
    pub twin: Option<Raced>,
    pub facts: Facts,
}

/// Opens the set once and lets all variants whose name (`variant/output/workgroup`) contains one of the words in
/// `only` decode it in turn, `repeats` times. The baseline runs in any case, twice.
pub async fn race(setup: &Setup, set: &Set, only: &[String], repeats: usize) -> Result<Race> {
    let tuning = Tuning::from_iter([("keepCompressed".to_owned(), json!(true))]);
    let mut visit = Visit::start(setup, &tuning).await?;
    visit.load(set, &tuning).await?;
    let listed = visit.ask("kernels()").await?;
    let listed: Vec<Listed> =
        serde_json::from_value(listed.clone()).with_context(|| format!("kernels() lists no variants: {listed}"))?;
    let (mut runners, twin) = runners(&listed, only);
    ensure!(!runners.is_empty(), "no variant's name contains {}", only.join(" or "));
    runners.extend(twin.clone());

    let mut times = vec![Times::default(); runners.len()];
    for repeat in 1..=repeats {
        say(&format!("{}: race {repeat} of {repeats}, {} runners", set.name, runners.len()));
        for (runner, times) in runners.iter().zip(&mut times) {
            times.add(&mut visit, runner).await.with_context(|| runner.name())?;
        }
    }
    let facts = visit.facts.clone();
    visit.end().await;
    let raced = runners.into_iter().zip(times).map(|(runner, times)| times.into_raced(runner));
    let mut raced = raced.collect::<Result<Vec<_>>>()?;
    let twin = twin.and_then(|_| raced.pop());
    Ok(Race { raced, twin, facts })
}

/// Who runs, and the baseline's second entry.
fn runners(listed: &[Listed], only: &[String]) -> (Vec<Runner>, Option<Runner>) {
    let each = listed.iter().flat_map(|variant| {
        variant.outputs.iter().flat_map(move |output| {
            let runner = |&workgroup| Runner { variant: variant.name.clone(), output: output.clone(), workgroup };
            variant.workgroups.iter().map(runner)
        })
    });
    let is_baseline = |runner: &Runner| runner.variant == BASELINE && runner.output == COMPARED;
    let is_wanted = |runner: &Runner| {
        is_baseline(runner) || only.is_empty() || only.iter().any(|word| runner.name().contains(word.as_str()))
    };
    let all: Vec<Runner> = each.filter(is_wanted).collect();
    let twin = all.iter().find(|runner| is_baseline(runner)).cloned();
    (all, twin)
}

#[derive(Clone, Default)]
struct Times {
    gpu_ms: Vec<f64>,
    passes: BTreeMap<String, Vec<f64>>,
}

impl Times {
    /// Lets a runner decode the set once more.
    async fn add(&mut self, visit: &mut Visit<'_>, runner: &Runner) -> Result<()> {
        let mut request = json!(runner);
        request["repeats"] = json!(1);
        let answer = visit.ask(&format!("time({request})")).await?;
        if answer["hashOk"] != true {
            return Err(Void(format!("{} decodes wrongly: hashOk is {}", runner.name(), answer["hashOk"])).into());
        }
        let Some(gpu_ms) = answer["gpuMs"][0].as_f64() else {
            bail!("no GPU time: does the adapter have timestamps? time() answered {answer}")
        };
        self.gpu_ms.push(gpu_ms);
        for (pass, ms) in answer["passes"].as_object().into_iter().flatten() {
            self.passes.entry(pass.clone()).or_default().extend(ms[0].as_f64());
        }
        Ok(())
    }

    fn into_raced(self, runner: Runner) -> Result<Raced> {
        let gpu_ms = Figure::of(self.gpu_ms).with_context(|| format!("{} was never timed", runner.name()))?;
        let passes = self.passes.into_iter().filter_map(|(pass, raw)| Some((pass, Figure::of(raw)?)));
        Ok(Raced { runner, gpu_ms, passes: passes.collect() })
    }
}

impl Race {
    /// The fastest of those that hold.
    pub fn fastest(&self, holds: impl Fn(&Runner) -> bool) -> Option<&Raced> {
        let those = self.raced.iter().filter(|raced| holds(&raced.runner));
        those.min_by(|a, b| a.gpu_ms.median.total_cmp(&b.gpu_ms.median))
    }

    /// The baseline at its fastest workgroup.
    pub fn baseline(&self) -> Option<&Raced> {
        self.fastest(|runner| runner.variant == BASELINE && runner.output == COMPARED)
    }

    /// What two entries of the very same kernel differ by, as a part of its time.
    pub fn noise(&self) -> Option<f64> {
        let twin = self.twin.as_ref()?;
        let same = self.raced.iter().find(|raced| raced.runner == twin.runner)?;
        Some((same.gpu_ms.median - twin.gpu_ms.median).abs() / same.gpu_ms.median)
    }

    /// The figures of the table: the fastest variant of each output, and the baseline.
    pub fn figures(&self) -> Vec<(&'static str, &Raced)> {
        let of = |output: &'static str| self.fastest(move |runner| runner.output == output);
        let figures = [
            ("decode_planes_ms", of("planes")),
            ("decode_frame_coop_ms", self.baseline()),
            ("decode_u16_ms", of("u16")),
            ("decode_u8_clip_ms", of("u8-clip")),
            ("decode_u8_low_ms", of("u8-low")),
        ];
        figures.into_iter().filter_map(|(name, raced)| Some((name, raced?))).collect()
    }

    /// As it stands in the JSON file, see tests/probes/README.md.
    pub fn json(&self) -> serde_json::Map<String, Value> {
        let mut object = serde_json::Map::new();
        for (name, raced) in self.figures() {
            object.insert(name.to_owned(), json!(raced));
        }
        object.insert("kernels".to_owned(), json!(self.raced));
        object.insert("baseline_again".to_owned(), json!(self.twin));
        object.insert("kernels_noise".to_owned(), json!(self.noise()));
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Vec<Listed> {
        serde_json::from_value(json!([
            {"name": "planes", "outputs": ["planes", "u16"], "workgroups": [32, 64]},
            {"name": "frame-coop", "outputs": ["u16", "u8-low"], "workgroups": [64]},
        ]))
        .expect("a list of variants")
    }

    #[test]
    fn every_variant_runs_with_every_output_and_workgroup_and_the_baseline_twice() {
        let (all, twin) = runners(&listed(), &[]);
        let names: Vec<String> = all.iter().map(Runner::name).collect();
        assert_eq!(
            names,
            [
                "planes/planes/32",
                "planes/planes/64",
                "planes/u16/32",
                "planes/u16/64",
                "frame-coop/u16/64",
                "frame-coop/u8-low/64"
            ]
        );
        assert_eq!(twin.map(|twin| twin.name()), Some("frame-coop/u16/64".to_owned()));
    }

    #[test]
    fn a_choice_of_variants_keeps_the_baseline() {
        let (some, _) = runners(&listed(), &["planes/planes".to_owned()]);
        let names: Vec<String> = some.iter().map(Runner::name).collect();
        assert_eq!(names, ["planes/planes/32", "planes/planes/64", "frame-coop/u16/64"]);
    }

    #[test]
    fn the_fastest_by_median_stands_for_its_output_and_the_twin_tells_the_noise() {
        let raced = |variant: &str, output: &str, raw: [f64; 3]| Raced {
            runner: Runner { variant: variant.into(), output: output.into(), workgroup: 64 },
            gpu_ms: Figure::of(raw.to_vec()).expect("three numbers"),
            passes: BTreeMap::new(),
        };
        let race = Race {
            raced: vec![
                raced("planes", "u16", [40.0, 41.0, 900.0]),
                raced("block", "u16", [39.0, 60.0, 61.0]),
                raced("frame-coop", "u16", [200.0, 200.0, 200.0]),
            ],
            twin: Some(raced("frame-coop", "u16", [198.0, 198.0, 198.0])),
            facts: Facts::default(),
        };
        let figures = race.figures();
        let names: Vec<(&str, &str)> = figures.iter().map(|(name, raced)| (*name, &*raced.runner.variant)).collect();
        assert_eq!(names, [("decode_frame_coop_ms", "frame-coop"), ("decode_u16_ms", "planes")]);
        assert_eq!(race.noise(), Some(0.01));
    }
}
