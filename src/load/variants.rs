//! Decode variants on a set that stays compressed in GPU memory: their times for a measurement, and which of them this
//! adapter does best with.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use serde::{Deserialize, Serialize};
use web_sys::window;

use crate::{
    Error, Kind, Result,
    cpu::{self, block_pixels::PixelOutput},
    engine::Engine,
    gpu::{
        Context, Method, Variant,
        decode::trial::{Compressed, Output, Trial},
    },
    shape::{Dtype, FrameLayout},
};

/// Batches of the open set that were kept compressed, and what is known of variants that decode them.
#[derive(Default)]
pub struct Variants {
    kept: RefCell<Vec<Compressed>>,
    /// The longest batch so far, where a variant is still to be chosen.
    sample: RefCell<Option<Compressed>>,
    is_joined: Cell<bool>,
    /// Variant, output, workgroup -> whether every hash was right.
    checked: RefCell<BTreeMap<String, bool>>,
    choice: RefCell<Option<Choice>>,
}

/// The method that was fastest on this adapter, with all that were tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    pub method: Method,
    /// Name of the adapter and version of the page: with others it counts no more.
    key: String,
    /// Method and median GPU time for one batch, ms.
    tried: Vec<(String, f64)>,
}

impl Choice {
    /// "lane/64 1.2 ms, team/64 8.3 ms".
    pub fn words(&self) -> String {
        let tried: Vec<_> = self.tried.iter().map(|(name, ms)| format!("{name} {ms:.2} ms")).collect();
        tried.join(", ")
    }
}

/// A variant as `__planescope.kernels()` lists it.
#[derive(Debug, Serialize)]
pub struct Listed {
    pub name: Variant,
    pub outputs: Vec<String>,
    pub workgroups: Vec<u32>,
}

/// What `__planescope.time` is asked about a variant.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    pub variant: Variant,
    #[serde(default = "planes")]
    pub output: String,
    #[serde(default)]
    pub workgroup: u32,
    #[serde(default = "one")]
    pub repeats: u32,
    /// Compare all frames although this variant was found right before.
    #[serde(default)]
    pub check: bool,
}

/// What it answers: GPU time for all kept frames in each repeat, ms, as a whole and pass by pass.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timed {
    variant: Variant,
    output: String,
    workgroup: u32,
    frames: usize,
    gpu_ms: Vec<f64>,
    passes: BTreeMap<&'static str, Vec<f64>>,
    /// Runs before the first that counts, until two in succession agree.
    warm_up: u32,
    /// Exact outputs: the hash of every frame is that of the resident frame. 8 bits: those of up to 256 frames are
    /// the CPU twin's.
    hash_ok: bool,
    /// Pixels outside 0 to 255, where 8 bits are written.
    outside: u64,
}

fn planes() -> String {
    PLANES.into()
}

fn one() -> u32 {
    1
}

/// The variants that decode `layout`, with what they write.
pub fn listed(layout: &FrameLayout) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for Method { variant, workgroup } in Method::all(layout) {
        match listed.last_mut() {
            Some(last) if last.name == variant => last.workgroups.push(workgroup),
            _ => {
                let outputs = Output::of(variant).iter().map(|&output| output_name(output, layout.dtype)).collect();
                listed.push(Listed { name: variant, outputs, workgroups: vec![workgroup] });
            }
        }
    }
    listed
}

/// "planes", "u8-clip", "u8-low", or for exact pixels the element type: "u16".
fn output_name(output: Output, dtype: Dtype) -> String {
    match output {
        Output::Planes => PLANES.into(),
        Output::Pixels(PixelOutput::U8Clip) => "u8-clip".into(),
        Output::Pixels(PixelOutput::U8Low) => "u8-low".into(),
        Output::Pixels(PixelOutput::Exact) => dtype.name().replace("uint", "u").replace("int", "i"),
    }
}

impl Variants {
    /// Forgets the batches of the set before.
    pub fn clear(&self) {
        self.kept.borrow_mut().clear();
        self.sample.take();
        self.checked.borrow_mut().clear();
        self.is_joined.set(false);
    }

    pub fn keep(&self, batch: Compressed) {
        self.kept.borrow_mut().push(batch);
    }

    /// Offers a batch to choose a variant with.
    pub fn offer(&self, batch: Compressed) {
        let mut sample = self.sample.borrow_mut();
        if sample.as_ref().is_none_or(|sample| sample.slots.len() < batch.slots.len()) {
            *sample = Some(batch);
        }
    }

    pub fn take_sample(&self) -> Option<Compressed> {
        self.sample.take()
    }

    pub fn choice(&self) -> Option<Choice> {
        self.choice.borrow().clone()
    }

    /// The choice made on this adapter before, from the browser's storage.
    pub fn recall(&self, context: &Context) {
        let stored = storage().and_then(|storage| storage.get_item(STORED_AS).ok().flatten());
        let choice = stored.and_then(|text| serde_json::from_str::<Choice>(&text).ok());
        self.choice.replace(choice.filter(|choice| choice.key == key(context)));
    }

    /// Times each method on one batch and keeps the fastest, for the loads to come. Methods that do not decode it as
    /// the first does are out.
    ///
    /// # Errors
    /// As [`Trial::run`]; without timestamps nothing is chosen.
    pub async fn choose(&self, context: &Rc<Context>, layout: FrameLayout, batch: Compressed) -> Result<()> {
        let mut batch = batch;
        let (most_frames, repeats) = if context.adapter.is_software { (64, 1) } else { (usize::MAX, 5) };
        batch.slots.truncate(most_frames);
        let frames = batch.slots.iter().map(|slot| slot.frame + 1).max().unwrap_or_default();
        let set = [batch];
        let mut right = None;
        let mut tried = Vec::new();
        for method in Method::all(&layout) {
            if !Output::of(method.variant).contains(&Output::Planes) {
                continue;
            }
            let trial = Trial::new(context, layout, method, Output::Planes, &set).await?;
            let (hashes, _) = trial.hashes(context, &set, frames).await?;
            if *right.get_or_insert_with(|| hashes.clone()) != hashes {
                continue;
            }
            let (Some(runs), _) = timed(context, &trial, &set, repeats).await? else { return Ok(()) };
            tried.push((method, median(runs.iter().map(|run| run.values().sum()).collect())));
        }
        let Some(&(method, _)) = tried.iter().min_by(|(_, a), (_, b)| a.total_cmp(b)) else { return Ok(()) };
        let names = tried.iter().map(|(method, ms)| (method.name(), *ms)).collect();
        let choice = Choice { method, key: key(context), tried: names };
        if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(&choice)) {
            // Without room or permission it is chosen anew next time.
            let _ = storage.set_item(STORED_AS, &text);
        }
        self.choice.replace(Some(choice));
        Ok(())
    }

    /// Times a variant on the kept batches, warm, and checks what it makes against the open set.
    ///
    /// # Errors
    /// `bad_argument` for a variant that there is not, `not_kept` when the set was opened without
    /// `tuning.keepCompressed`, `no_timestamps`; `Gpu` without memory.
    pub async fn time(&self, context: &Rc<Context>, engine: &Engine, request: Request) -> Result<Timed> {
        let layout = engine.layout();
        let (method, output) = named(&layout, &request)?;
        let set = self.joined(context).await?;
        let trial = Trial::new(context, layout, method, output, &set).await?;
        let key = format!("{} {}", method.name(), request.output);
        let known = self.checked.borrow().get(&key).copied().filter(|_| !request.check);
        let mut outside = 0;
        let hash_ok = match known {
            Some(hash_ok) => hash_ok,
            None => {
                let hash_ok;
                (hash_ok, outside) = check(context, engine, &trial, output, &set).await?;
                self.checked.borrow_mut().insert(key, hash_ok);
                hash_ok
            }
        };
        let (Some(runs), warm_up) = timed(context, &trial, &set, request.repeats).await? else {
            return Err(Error::new(Kind::Unsupported, "no_timestamps", "This adapter has no timestamps to time with"));
        };
        let mut passes: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
        for (name, ms) in runs.iter().flatten() {
            passes.entry(name).or_default().push(*ms);
        }
        Ok(Timed {
            variant: method.variant,
            output: request.output,
            workgroup: method.workgroup,
            frames: set.iter().map(|part| part.slots.len()).sum(),
            gpu_ms: runs.iter().map(|run| run.values().sum()).collect(),
            passes,
            warm_up,
            hash_ok,
            outside,
        })
    }

    async fn joined(&self, context: &Context) -> Result<Vec<Compressed>> {
        let kept = self.kept.borrow().clone();
        if kept.is_empty() {
            return Err(Error::new(Kind::Internal, "not_kept", "The open set was not kept compressed")
                .action("Set tuning.keepCompressed and open it again"));
        }
        if self.is_joined.replace(true) {
            return Ok(kept);
        }
        let joined = Compressed::joined(context, &kept).await?;
        self.kept.replace(joined.clone());
        Ok(joined)
    }
}

fn named(layout: &FrameLayout, request: &Request) -> Result<(Method, Output)> {
    let methods = Method::all(layout);
    let is_meant = |method: &&Method| {
        method.variant == request.variant && (request.workgroup == 0 || method.workgroup == request.workgroup)
    };
    let output =
        Output::of(request.variant).iter().find(|output| output_name(**output, layout.dtype) == request.output);
    match (methods.iter().find(is_meant), output) {
        (Some(method), Some(output)) => Ok((*method, *output)),
        _ => Err(Error::new(Kind::Internal, "bad_argument", "There is no such decode variant for these patterns")
            .expected("what kernels() lists")
            .found(format!("{request:?}"))),
    }
}

/// Whether every hash is right, and the pixels outside 0 to 255.
async fn check(
    context: &Rc<Context>,
    engine: &Engine,
    trial: &Trial,
    output: Output,
    set: &[Compressed],
) -> Result<(bool, u64)> {
    let own: Vec<u32> = set.iter().flat_map(|part| part.slots.iter().map(|slot| slot.frame)).collect();
    let frames = own.iter().max().map_or(0, |last| last + 1);
    let (hashes, outside) = trial.hashes(context, set, frames).await?;
    let hash_of = |frame: u32| hashes.get(frame as usize).copied().flatten();
    let Output::Pixels(output @ (PixelOutput::U8Clip | PixelOutput::U8Low)) = output else {
        let expected = engine.hash_frames(&own).await?;
        return Ok((own.iter().zip(expected).all(|(&frame, expected)| hash_of(frame) == expected), outside));
    };
    let layout = engine.layout();
    let step = own.len().div_ceil(CHECKED_BY_CPU).max(1);
    for &frame in own.iter().step_by(step) {
        let pattern = engine.pattern(frame).await?;
        let bytes: Vec<u8> =
            pattern.pixels.iter().map(|&stored| output.value(stored, layout.dtype.is_signed()) as u8).collect();
        let expected = (!bytes.is_empty()).then(|| cpu::hash_frames::weighted64_of_bytes(&layout, &bytes));
        if hash_of(frame) != expected {
            return Ok((false, outside));
        }
    }
    Ok((true, outside))
}

/// `repeats` runs once two in succession have agreed within 1 %, or [`MOST_WARM_UP`] have passed: a GPU at rest takes a
/// while to come to speed. Also how many runs that took; no runs without timestamps.
async fn timed(
    context: &Context,
    trial: &Trial,
    set: &[Compressed],
    repeats: u32,
) -> Result<(Option<Vec<BTreeMap<&'static str, f64>>>, u32)> {
    let mut last = f64::INFINITY;
    let mut warm_up = 0;
    while !context.adapter.is_software && warm_up < MOST_WARM_UP {
        let Some(run) = trial.run(context, set).await? else { return Ok((None, warm_up)) };
        let ms: f64 = run.values().sum();
        warm_up += 1;
        if (ms - last).abs() < 0.01 * ms {
            break;
        }
        last = ms;
    }
    let mut runs = Vec::new();
    for _ in 0..repeats {
        let Some(run) = trial.run(context, set).await? else { return Ok((None, warm_up)) };
        runs.push(run);
    }
    Ok((Some(runs), warm_up))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::INFINITY)
}

fn storage() -> Option<web_sys::Storage> {
    window()?.local_storage().ok().flatten()
}

fn key(context: &Context) -> String {
    format!("{} {}", context.adapter.info, env!("CARGO_PKG_VERSION"))
}

const PLANES: &str = "planes";
const STORED_AS: &str = "planescope.decode";
const CHECKED_BY_CPU: usize = 256;
const MOST_WARM_UP: u32 = 12;
