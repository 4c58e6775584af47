//! Loads and products, each repeat in a fresh browser.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::{
    figures::{Figure, median},
    set::Set,
    sweep::{Tuning, in_words},
    visit::{Facts, Setup, Visit},
};
use crate::setup::say;

/// What one setting of the knobs came to on one set.
#[derive(Default)]
pub struct Measured {
    pub tuning: Tuning,
    /// By the name of the figure, see [`LOAD_FIGURES`] and [`products`].
    pub figures: BTreeMap<&'static str, Figure>,
    /// The profile of every load, without its stages.
    pub loads: Vec<Value>,
    /// The stages of the load whose time is nearest to the median.
    pub stages: Value,
    /// The same of every load from the browser's copy.
    pub reopens: Vec<Value>,
    pub reopen_stages: Value,
    pub facts: Facts,
}

/// Figures of a load: their names, and the field of `__loadprof` that holds them.
const LOAD_FIGURES: [(&str, &str); 11] = [
    ("load_ms", "totalMs"),
    ("first_image_ms", "firstImageMs"),
    ("upload_tail_ms", "uploadTailMs"),
    ("main_thread_block_ms", "mainBlockMs"),
    ("resident_gb", "residentGB"),
    ("metadata_ms", "parseMs"),
    ("read_ms", "readMs"),
    ("read_worker_ms", "readWorkerMs"),
    ("upload_ms", "uploadMs"),
    ("map_wait_ms", "mapWaitMs"),
    ("load_decode_ms", "gpuDecodeMs"),
];

/// How often a product is timed in each browser, after once that is not counted.
const PRODUCT_REPEATS: usize = 3;

/// Measures all settings, `repeats` times each, one after the other and then all over again, so that whatever
/// changes on the machine meanwhile meets all of them alike.
pub async fn measure(setup: &Setup, set: &Set, tunings: &[Tuning], repeats: usize) -> Result<Vec<Measured>> {
    let mut runs: Vec<Run> = tunings.iter().map(Run::new).collect();
    for repeat in 1..=repeats {
        for run in &mut runs {
            say(&format!("{}, {}: load {repeat} of {repeats}", set.name, in_words(run.tuning)));
            run.add(setup, set).await?;
        }
    }
    runs.into_iter().map(Run::into_measured).collect()
}

/// The numbers of one setting so far.
struct Run<'a> {
    tuning: &'a Tuning,
    numbers: BTreeMap<&'static str, Vec<f64>>,
    loads: Vec<Value>,
    facts: Facts,
}

impl<'a> Run<'a> {
    fn new(tuning: &'a Tuning) -> Self {
        Self { tuning, numbers: BTreeMap::new(), loads: Vec::new(), facts: Facts::default() }
    }

    /// One more browser.
    async fn add(&mut self, setup: &Setup, set: &Set) -> Result<()> {
        let mut visit = Visit::start(setup, self.tuning).await?;
        let profile = visit.load(set, self.tuning).await?;
        for (figure, field) in LOAD_FIGURES {
            // Null: without timestamp queries, or when no image of the scan was shown.
            self.numbers.entry(figure).or_default().extend(profile[field].as_f64());
        }
        for (figure, request) in products(&profile)? {
            let times = time_product(&mut visit, &request).await.with_context(|| figure.to_owned())?;
            self.numbers.entry(figure).or_default().extend(times);
        }
        self.facts = visit.facts.clone();
        self.loads.push(profile);
        visit.end().await;
        Ok(())
    }

    fn into_measured(mut self) -> Result<Measured> {
        ensure!(self.loads.iter().any(|load| load["totalMs"].is_number()), "no load has a time");
        let stages = nearest_stages(&mut self.loads);
        let figures = self.numbers.into_iter().filter_map(|(name, raw)| Some((name, Figure::of(raw)?)));
        Ok(Measured {
            tuning: self.tuning.clone(),
            figures: figures.collect(),
            loads: self.loads,
            stages,
            facts: self.facts,
            ..Measured::default()
        })
    }
}

/// Takes the stages out of all profiles: those of the load whose time is nearest to the median.
pub fn nearest_stages(loads: &mut [Value]) -> Value {
    let totals: Vec<f64> = loads.iter().filter_map(|load| load["totalMs"].as_f64()).collect();
    let middle = median(&totals).unwrap_or_default();
    let distance = |load: &&Value| (load["totalMs"].as_f64().unwrap_or(f64::INFINITY) - middle).abs();
    let nearest = loads.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let stages = nearest.map(|load| load["stages"].clone()).unwrap_or_default();
    for load in loads.iter_mut().filter_map(Value::as_object_mut) {
        load.remove("stages");
    }
    stages
}

/// The products of the table, each with what it is asked for at its n-th time: the mask moves every time.
fn products(profile: &Value) -> Result<[(&'static str, Request); 6]> {
    let size = |key: &str| profile[key].as_u64().with_context(|| format!("__loadprof has no {key}"));
    let (rows, cols) = (size("detRows")?, size("detCols")?);
    let (scan_rows, scan_cols) = (size("scanRows")?, size("scanCols")?);
    // The radii of tests/data/bench are those of a detector of 192 px.
    let px = rows.min(cols) as f64 / 192.0;
    let ring = move |inner: f64, outer: f64| -> Request {
        Box::new(move |turn| {
            let centre = [(rows / 2) as f64 + turn as f64, (cols / 2) as f64];
            json!({"product": "virtual_image", "shape": {"shape": "annulus", "centre": centre,
                   "inner": inner * px, "outer": outer * px}})
        })
    };
    let quarter = json!({"product": "sum_pattern", "roi": {
        "rows": [scan_rows / 4, scan_rows / 4 + scan_rows.div_ceil(2)],
        "cols": [scan_cols / 4, scan_cols / 4 + scan_cols.div_ceil(2)],
    }});
    Ok([
        // All pixels but those within half a pixel of the centre: as many as a mask can have.
        ("mask_change_ms", ring(0.5, 1e6)),
        ("bright_field_ms", ring(0.0, 8.5)),
        ("dark_field_ms", ring(20.5, 80.5)),
        ("com_ms", Box::new(|_| json!({"product": "moments"}))),
        ("mean_pattern_ms", Box::new(|_| json!({"product": "sum_pattern"}))),
        ("mean_quarter_ms", Box::new(move |_| quarter.clone())),
    ])
}

type Request = Box<dyn Fn(usize) -> Value>;

/// GPU times of one product, ms; none where the adapter has no timestamps.
async fn time_product(visit: &mut Visit<'_>, request: &Request) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for turn in 0..=PRODUCT_REPEATS {
        let mut request = request(turn);
        request["repeats"] = json!(1);
        let answer = visit.ask(&format!("time({request})")).await?;
        ensure!(answer["ms"].is_array(), "time() answered {answer}");
        if turn > 0 {
            times.extend(answer["ms"][0].as_f64());
        }
    }
    Ok(times)
}

impl Measured {
    /// Nothing yet.
    pub fn of(tuning: &Tuning) -> Self {
        Self { tuning: tuning.clone(), ..Self::default() }
    }

    /// As it stands in the JSON file, see tests/probes/README.md.
    pub fn json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        for (name, figure) in &self.figures {
            object.insert((*name).to_owned(), json!(figure));
        }
        let noise: BTreeMap<_, _> =
            self.figures.iter().filter_map(|(name, figure)| Some((name, figure.noise()?))).collect();
        object.insert("noise".to_owned(), json!(noise));
        object.insert("loads".to_owned(), json!(self.loads));
        object.insert("stages_of_the_median_load".to_owned(), self.stages.clone());
        object.insert("reopens".to_owned(), json!(self.reopens));
        object.insert("stages_of_the_median_reopen".to_owned(), self.reopen_stages.clone());
        object
    }
}
