//! The calls of `window.__planescope`.

use std::{cell::RefCell, rc::Rc};

use gloo_timers::future::TimeoutFuture;
use js_sys::{
    Array, BigUint64Array, Float32Array, Int8Array, Int16Array, Int32Array, Promise, Uint8Array, Uint16Array,
    Uint32Array,
};
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::future_to_promise;
use web_sys::{HtmlInputElement, window};

use super::{
    experiment,
    hash::{digest, fnv1a64, hex},
    js::{error, json, object, parsed},
};
use crate::{
    Error, Kind, Result,
    acquisition::{AxisOrder, Change, Place, contents::Contents},
    app::Command,
    engine::{Engine, FrameState, Frames, Pattern, PixelSet, Product},
    load::{SourceKind, Tuning, USUAL, now_ms, variants},
    products::DetectorShape,
    session::{Active, Session, demo_files, files_of},
    shape::{Detector, Dtype},
};

/// `window.__planescope`.
#[wasm_bindgen(js_name = Planescope)]
pub struct Hooks {
    session: Rc<Session>,
    view: Rc<dyn View>,
    tuning: RefCell<JsValue>,
}

/// The view state, as JSON; the app answers.
pub trait View {
    fn state(&self) -> serde_json::Value;

    /// Copies were made or removed.
    fn look_at_copies(&self);

    /// # Errors
    /// What is not understood.
    fn set_state(&self, state: serde_json::Value) -> Result<()>;

    /// Stops drawing, or goes on.
    fn pause(&self, paused: bool);

    /// Pictures drawn since the page started.
    fn drawn(&self) -> u32;

    /// What is known of the sets that are open together; null without a series.
    fn series(&self) -> serde_json::Value;

    /// Does what a button of this name does.
    fn obey(&self, command: Command);

    /// Types the budget of the series.
    fn enter_budget(&self, text: String);
}

/// A rectangle of the scan: rows and columns, ends excluded.
#[derive(Deserialize)]
struct ScanRoi {
    rows: [u32; 2],
    cols: [u32; 2],
}

/// The frames of a rectangle of the scan; all of them without one.
fn frames_of(active: &Active, roi: Option<ScanRoi>) -> Frames {
    let scan = active.set.scan.shape;
    let Some(ScanRoi { rows, cols }) = roi else { return Frames::All };
    let rect = Frames::Rect { scan, rows: rows[0]..rows[1], cols: cols[0]..cols[1] };
    if active.order.is_plain() {
        return rect;
    }
    let positions =
        PixelSet::of(Detector { rows: scan.rows, cols: scan.cols }, |row, col| rect.contains(row * scan.cols + col));
    Frames::Bits(active.order.frames_of(scan, &positions.words, active.set.frames))
}

/// What is timed.
#[derive(Deserialize)]
#[serde(untagged)]
enum TimeRequest {
    Variant(variants::Request),
    Product(ProductRequest),
}

/// A product, over a shape of the detector or a rectangle of the scan where it is made of those.
#[derive(Deserialize)]
struct ProductRequest {
    #[serde(default = "virtual_image")]
    product: Product,
    #[serde(default)]
    shape: Option<DetectorShape>,
    #[serde(default)]
    roi: Option<ScanRoi>,
    #[serde(default = "one")]
    repeats: u32,
}

fn virtual_image() -> Product {
    Product::VirtualImage
}

fn one() -> u32 {
    1
}

fn no_gpu() -> Error {
    Error::new(Kind::Gpu, "no_webgpu", "Decode variants are timed on a graphics adapter").found("a set open on the CPU")
}

impl Hooks {
    pub fn new(session: Rc<Session>, view: Rc<dyn View>) -> Self {
        let tuning = RefCell::new(json(&session.loader().tuning()));
        Self { session, view, tuning }
    }

    fn active(&self) -> Result<Active> {
        self.session
            .active()
            .ok_or_else(|| Error::new(Kind::Internal, "no_set", "No set is open").action("Open a set first"))
    }

    /// Runs `work` on the active set as a promise.
    fn on_set<F: Future<Output = Result<JsValue>> + 'static>(&self, work: impl FnOnce(Active) -> F) -> Promise {
        match self.active() {
            Ok(active) => promise(work(active)),
            Err(cause) => Promise::reject(&error(&cause)),
        }
    }

    /// Opens the same files again with what `change` gives; resolves with the profile.
    fn changing(&self, change: impl AsyncFnOnce(Rc<Session>) -> Result<Change> + 'static) -> Promise {
        self.opening(async move |session| {
            let options = session.options().with(change(session.clone()).await?);
            session.reopen(options).await
        })
    }

    /// Opens, with the knobs as they are set now; resolves with the profile.
    fn opening(
        &self,
        open: impl AsyncFnOnce(Rc<Session>) -> Result<Rc<crate::load::LoadProfile>> + 'static,
    ) -> Promise {
        let session = self.session.clone();
        let tuning: Result<Tuning> = parsed(&self.tuning.borrow());
        promise(async move {
            session.loader().set_tuning(tuning?);
            Ok(json(&*open(session).await?))
        })
    }
}

#[wasm_bindgen(js_class = Planescope)]
impl Hooks {
    /// The page has started and the adapter is known: both are before this object is there.
    #[wasm_bindgen(getter)]
    pub fn ready(&self) -> Promise {
        Promise::resolve(&JsValue::TRUE)
    }

    #[wasm_bindgen(getter)]
    pub fn tuning(&self) -> JsValue {
        self.tuning.borrow().clone()
    }

    #[wasm_bindgen(setter)]
    pub fn set_tuning(&self, tuning: JsValue) {
        *self.tuning.borrow_mut() = tuning;
    }

    /// Opens an array of files, or what the file input holds.
    pub fn open(&self, files: JsValue) -> Promise {
        let files = if files.is_object() { files_of(&files) } else { files_of_input() };
        self.opening(async move |session| session.open(files, SourceKind::File).await)
    }

    #[wasm_bindgen(js_name = openUrl)]
    pub fn open_url(&self, master: String) -> Promise {
        self.opening(async move |session| session.open_url(&master).await)
    }

    #[wasm_bindgen(js_name = openDemo)]
    pub fn open_demo(&self) -> Promise {
        self.opening(async move |session| session.open_urls(&demo_files(), SourceKind::Demo).await)
    }

    /// Opens all sets of an array of files, or of what the file input holds, as a series; resolves with the profile of
    /// the first.
    #[wasm_bindgen(js_name = openSeries)]
    pub fn open_series(&self, files: JsValue) -> Promise {
        let files = if files.is_object() { files_of(&files) } else { files_of_input() };
        self.opening(async move |session| session.open_series(files, SourceKind::File).await)
    }

    /// `{active, reading, isPlaying, budgetBytes, residentBytes, panels: [place, ...], sets: [{place, name, label,
    /// tiltDeg, mark, isResident, isCurrent, isStarred, isHidden, bytes}, ...]}`; sets in the order in which they are
    /// shown, places as they were opened. Null without a series.
    #[wasm_bindgen(getter)]
    pub fn series(&self) -> JsValue {
        json(&self.view.series())
    }

    /// Looks at the set at `place`; resolves with the series once its patterns lie in memory and its picture is that of
    /// now.
    pub fn activate(&self, place: u32) -> Promise {
        self.view.obey(Command::Set(place));
        let view = self.view.clone();
        promise(async move { until(&view, move |series| is_there(series, place)).await })
    }

    /// Resolves with the series once nothing of it is left to be read, and the pictures of all panels are those of now.
    #[wasm_bindgen(js_name = seriesSettled)]
    pub fn series_settled(&self) -> Promise {
        let view = self.view.clone();
        promise(async move { until(&view, is_settled).await })
    }

    /// Sets how much memory the sets of a series may take, bytes; that of the adapter without a number.
    #[wasm_bindgen(js_name = setBudget)]
    pub fn set_budget(&self, bytes: Option<f64>) {
        let text = bytes.map_or_else(String::new, |bytes| format!("{} GB", bytes / 1e9));
        self.view.enter_budget(text);
    }

    /// Closes the set at `place`, or the active one.
    #[wasm_bindgen(js_name = closeSet)]
    pub fn close_set(&self, place: Option<u32>) {
        self.view.obey(place.map_or(Command::CloseActive, Command::CloseSet));
    }

    /// Closes everything; its memory is given back.
    pub fn close(&self) {
        self.view.obey(Command::CloseAll);
    }

    /// Keeps a copy of the open set's files in the browser's storage; resolves with true.
    pub fn keep(&self) -> Promise {
        let (session, view) = (self.session.clone(), self.view.clone());
        promise(async move {
            let kept = session.keep(&|_, _| ()).await;
            view.look_at_copies();
            kept.map(|()| JsValue::TRUE)
        })
    }

    /// `{sets, bytes, isKept}`: what is kept in this browser, and whether the open set is.
    pub fn copies(&self) -> Promise {
        let session = self.session.clone();
        promise(async move {
            let copies = session.copies().await?;
            Ok(object(&[
                ("sets", copies.sets.into()),
                ("bytes", (copies.bytes as f64).into()),
                ("isKept", copies.is_kept.into()),
            ]))
        })
    }

    /// Removes all copies from the browser's storage.
    #[wasm_bindgen(js_name = clearCopies)]
    pub fn clear_copies(&self) -> Promise {
        let (session, view) = (self.session.clone(), self.view.clone());
        promise(async move {
            let cleared = session.clear_copies().await;
            view.look_at_copies();
            cleared.map(|()| JsValue::TRUE)
        })
    }

    /// All groups and datasets of the files, as they are stored, with why a dataset cannot be shown.
    pub fn datasets(&self) -> Promise {
        let session = self.session.clone();
        promise(async move { Ok(json(&session.contents().await?)) })
    }

    /// Opens the same files again, with another dataset: its path, and the name of its file where several are open;
    /// without a path what the files are most likely about. Resolves with the profile.
    #[wasm_bindgen(js_name = setDataset)]
    pub fn set_dataset(&self, path: Option<String>, file: Option<String>) -> Promise {
        self.changing(async move |session| {
            let Some(path) = path else { return Ok(Change::Dataset(None)) };
            let files = session.contents().await?;
            let is_meant = |contents: &&Contents| match &file {
                Some(name) => contents.file == *name,
                None => contents.entries.iter().any(|entry| entry.path == path),
            };
            let found = files.iter().find(is_meant).map(|contents| contents.file.clone());
            let file = found.or(file).ok_or_else(|| {
                Error::new(Kind::File, "no_image_data", "There is no such dataset").at(&path).action("Ask datasets()")
            })?;
            Ok(Change::Dataset(Some(Place { file, path })))
        })
    }

    /// Opens the same files again, with another channel: its number.
    #[wasm_bindgen(js_name = setChannel)]
    pub fn set_channel(&self, channel: u32) -> Promise {
        self.changing(async move |_| Ok(Change::Channel(channel)))
    }

    /// Opens the same files again, with the axes in this order: a letter each, the slowest first; r scan row,
    /// c scan column, n pattern, k channel, y detector row, x detector column.
    #[wasm_bindgen(js_name = setAxes)]
    pub fn set_axes(&self, order: String) -> Promise {
        self.changing(async move |_| {
            let order = AxisOrder::try_from(order);
            order.map(Change::Axes).map_err(|why| Error::new(Kind::Internal, "bad_argument", why))
        })
    }

    pub fn state(&self) -> JsValue {
        json(&self.view.state())
    }

    /// Sets the view; throws what is not understood.
    pub fn set(&self, state: JsValue) -> Result<(), JsValue> {
        let state = parsed(&state).map_err(|cause| error(&cause))?;
        self.view.set_state(state).map_err(|cause| error(&cause))
    }

    /// `{usedBytes, peakBytes, budgetBytes}` of the page's own ledger of GPU memory; null without an adapter.
    #[wasm_bindgen(getter)]
    pub fn memory(&self) -> JsValue {
        let loader = self.session.loader();
        let Some(context) = loader.context() else { return JsValue::NULL };
        let ledger = context.ledger();
        object(&[
            ("usedBytes", (ledger.used_bytes() as f64).into()),
            ("peakBytes", (ledger.peak_bytes() as f64).into()),
            ("budgetBytes", (ledger.budget_bytes() as f64).into()),
        ])
    }

    pub fn errors(&self) -> JsValue {
        json(&self.session.errors())
    }

    /// `[{scanIndex, sum, min, max, n}]`, bad pixels counted as 0.
    #[wasm_bindgen(js_name = checksumFrames)]
    pub fn checksum_frames(&self, frames: Vec<u32>) -> Promise {
        self.on_set(async move |active: Active| {
            let rows = Array::new();
            for frame in frames {
                let pattern = active.engine.pattern(frame).await?;
                rows.push(&checksum(&active, frame, &pattern));
            }
            Ok(rows.into())
        })
    }

    /// `[{scanIndex, fnv1a64, weighted64}]`, over raw values before masking; null without data.
    #[wasm_bindgen(js_name = hashFrames)]
    pub fn hash_frames(&self, frames: Vec<u32>) -> Promise {
        self.on_set(async move |active: Active| {
            let weighted = active.engine.hash_frames(&frames).await?;
            let rows = Array::new();
            for (&frame, weighted) in frames.iter().zip(weighted) {
                let pattern = active.engine.pattern(frame).await?;
                let fnv = weighted.map(|_| fnv1a64(&bytes_of(&pattern.pixels, active.set.dtype)));
                rows.push(&object(&[
                    ("scanIndex", frame.into()),
                    ("fnv1a64", hash_or_null(fnv)),
                    ("weighted64", hash_or_null(weighted)),
                ]));
            }
            Ok(rows.into())
        })
    }

    /// `{weighted64: [...], digest}` of every frame of the active set, or of that at `place` of a series; a failed or
    /// missing frame is null and left out of the digest.
    #[wasm_bindgen(js_name = hashAll)]
    pub fn hash_all(&self, place: Option<u32>) -> Promise {
        let engine = match place {
            None => self.active().map(|active| active.engine),
            Some(place) => self.session.engine(place as usize).ok_or_else(|| not_resident(place)),
        };
        promise(async move {
            let engine = engine?;
            let frames: Vec<u32> = (0..engine.frame_states().len() as u32).collect();
            let hashes = engine.hash_frames(&frames).await?;
            let all: Array = hashes.iter().map(|hash| hash_or_null(*hash)).collect();
            Ok(object(&[("weighted64", all.into()), ("digest", hex(digest(&hashes)).into())]))
        })
    }

    /// `{rows, cols, data, bad}`: values of the source type, and 1 for each pixel that counts nowhere.
    pub fn frame(&self, frame: u32) -> Promise {
        self.on_set(async move |active: Active| {
            let mut pattern = active.engine.pattern(frame).await?;
            if pattern.pixels.is_empty() {
                return Err(no_data(frame, pattern.state));
            }
            let mut bad: Vec<u8> =
                (0..active.set.detector.pixels()).map(|pixel| u8::from(!active.good.contains(pixel))).collect();
            active.flip.values(active.set.detector, &mut pattern.pixels);
            active.flip.values(active.set.detector, &mut bad);
            Ok(object(&[
                ("rows", active.set.detector.rows.into()),
                ("cols", active.set.detector.cols.into()),
                ("data", typed(&pattern.pixels, active.set.dtype)),
                ("bad", Uint8Array::from(bad.as_slice()).into()),
            ]))
        })
    }

    /// `{rows, cols, data, valid}`: exact sums over a shape, one per scan position.
    #[wasm_bindgen(js_name = virtualImage)]
    pub fn virtual_image(&self, shape: JsValue) -> Promise {
        self.on_set(async move |active: Active| {
            let sums = active.engine.virtual_image(&pixels(&active, &shape)?).await?;
            Ok(scan_object(&active, &[("data", &sums.sum)], &sums.valid))
        })
    }

    /// `{rows, cols, sum, sumRow, sumCol, valid}`: exact moments; row = sumRow / sum, "no counts" where sum is 0.
    pub fn com(&self, shape: JsValue) -> Promise {
        self.on_set(async move |active: Active| {
            let mut moments = active.engine.moments(&pixels(&active, &shape)?).await?;
            active.flip.moments(active.set.detector, &mut moments);
            let parts = [("sum", &moments.sum), ("sumRow", &moments.sum_row), ("sumCol", &moments.sum_col)];
            Ok(scan_object(&active, &parts, &moments.valid))
        })
    }

    /// `{rows, cols, sum, max, frames}` over all frames or `{rows: [from, to], cols: [from, to]}` of the scan;
    /// bad pixels are 0.
    #[wasm_bindgen(js_name = meanPattern)]
    pub fn mean_pattern(&self, roi: JsValue) -> Promise {
        self.on_set(async move |active: Active| {
            let frames = frames_of(&active, parsed(&roi)?);
            let mut pattern = active.engine.sum_pattern(&frames).await?;
            let mut most = active.engine.max_pattern(&frames).await?;
            for pixel in (0..active.set.detector.pixels()).filter(|pixel| !active.good.contains(*pixel)) {
                pattern.sum[pixel as usize] = 0;
                most.max[pixel as usize] = 0;
            }
            active.flip.sums(active.set.detector, &mut pattern);
            active.flip.values(active.set.detector, &mut most.max);
            Ok(object(&[
                ("rows", active.set.detector.rows.into()),
                ("cols", active.set.detector.cols.into()),
                ("sum", BigUint64Array::from(pattern.sum.as_slice()).into()),
                ("max", typed(&most.max, active.set.dtype)),
                ("frames", pattern.frames.into()),
            ]))
        })
    }

    /// `{product, ms: [...]}`: GPU-timestamp times of one product on the resident set; `shape` as in
    /// `virtualImage`, `roi` as in `meanPattern`. With `variant` instead: times of a decode variant on the set, which
    /// must have been opened with `tuning.keepCompressed`. With `arms`: compute shaders against each other, see
    /// docs/measuring.md; no set need be open.
    pub fn time(&self, request: JsValue) -> Promise {
        if experiment::is_one(&request) {
            return promise(experiment::run(self.session.clone(), self.view.clone(), request));
        }
        let session = self.session.clone();
        self.on_set(async move |active: Active| {
            let request = match parsed(&request)? {
                TimeRequest::Variant(request) => {
                    let Engine::Gpu(engine) = &*active.engine else { return Err(no_gpu()) };
                    let variants = session.loader().variants().clone();
                    return Ok(json(&variants.time(engine.context(), &active.engine, request).await?));
                }
                TimeRequest::Product(request) => request,
            };
            let (pixels, frames) = (pixels_of(&active, request.shape), frames_of(&active, request.roi));
            let times = Array::new();
            for _ in 0..request.repeats {
                let ms = run_product(&active, request.product, &pixels, &frames).await?;
                times.push(&ms.map_or(JsValue::NULL, JsValue::from));
            }
            Ok(object(&[("product", json(&request.product)), ("ms", times.into())]))
        })
    }

    /// What the GPU's clock is worth; `allowSoftware` reads that of a software adapter, too, for tests.
    pub fn clock(&self, options: JsValue) -> Promise {
        promise(experiment::clock(self.session.clone(), options))
    }

    /// Stops drawing while something is measured, or goes on.
    pub fn pause(&self, paused: bool) {
        self.view.pause(paused);
    }

    /// Pictures drawn since the page started.
    #[wasm_bindgen(getter)]
    pub fn drawn(&self) -> u32 {
        self.view.drawn()
    }

    /// `[{name, outputs, workgroups}]`: the decode variants for the patterns of the open set.
    pub fn kernels(&self) -> JsValue {
        json(&variants::listed(&self.session.active().map_or(USUAL, |active| active.engine.layout())))
    }
}

/// Runs one product; its GPU time, ms.
async fn run_product(active: &Active, product: Product, pixels: &PixelSet, frames: &Frames) -> Result<Option<f64>> {
    let all: Vec<u32> = (0..active.set.frames).collect();
    match product {
        Product::VirtualImage => drop(active.engine.virtual_image(pixels).await?),
        Product::Moments => drop(active.engine.moments(pixels).await?),
        Product::Squares => drop(active.engine.squares(pixels).await?),
        Product::Pattern => drop(active.engine.pattern(0).await?),
        Product::SumPattern => drop(active.engine.sum_pattern(frames).await?),
        Product::MaxPattern => drop(active.engine.max_pattern(frames).await?),
        Product::SquarePattern => drop(active.engine.square_pattern(frames).await?),
        Product::Census => drop(active.engine.census(&active.good).await?),
        Product::HashFrames => drop(active.engine.hash_frames(&all).await?),
    }
    Ok(active.engine.last_gpu_ms(product))
}

/// Waits until what is known of the series holds.
async fn until(view: &Rc<dyn View>, holds: impl Fn(&serde_json::Value) -> bool) -> Result<JsValue> {
    let end = now_ms() + PATIENCE_MS;
    loop {
        let series = view.series();
        if holds(&series) {
            return Ok(json(&series));
        }
        if now_ms() > end {
            return Err(
                Error::new(Kind::Internal, "series_late", "The series did not settle").found(series.to_string())
            );
        }
        TimeoutFuture::new(POLL_MS).await;
    }
}

fn is_there(series: &serde_json::Value, place: u32) -> bool {
    let sets = series["sets"].as_array().into_iter().flatten();
    let is_meant = |set: &&serde_json::Value| set["place"] == place;
    let mut found = sets.filter(is_meant);
    series["active"] == place && found.any(|set| set["isResident"] == true && set["isCurrent"] == true)
}

fn is_settled(series: &serde_json::Value) -> bool {
    let panels = series["panels"].as_array().into_iter().flatten();
    let is_done = |place: &serde_json::Value| {
        let mut sets = series["sets"].as_array().into_iter().flatten();
        sets.any(|set| set["place"] == *place && (set["isCurrent"] == true || set["mark"] == "failed"))
    };
    series.is_null() || series["reading"].is_null() && panels.into_iter().all(is_done)
}

/// A series on a software adapter takes its time.
const PATIENCE_MS: f64 = 110_000.0;
const POLL_MS: u32 = 16;

fn not_resident(place: u32) -> Error {
    Error::new(Kind::Internal, "not_resident", "This set does not lie in memory")
        .at(format!("set {place}"))
        .action("Activate it first")
}

fn promise(work: impl Future<Output = Result<JsValue>> + 'static) -> Promise {
    future_to_promise(async move { work.await.map_err(|cause| error(&cause)) })
}

/// The good pixels, as stored, of a shape as it is shown; all of them without one.
fn pixels(active: &Active, shape: &JsValue) -> Result<PixelSet> {
    Ok(pixels_of(active, parsed(shape)?))
}

fn pixels_of(active: &Active, shape: Option<DetectorShape>) -> PixelSet {
    let Some(shape) = shape else { return active.good.clone() };
    let mut pixels = active.flip.pixels(&shape.pixels(active.set.detector));
    pixels.words.iter_mut().zip(&active.good.words).for_each(|(word, good)| *word &= good);
    pixels
}

/// Per-position values of the scan: surplus frames are left out, positions without a frame are 0, not valid.
fn scan_object(active: &Active, parts: &[(&str, &Vec<u64>)], valid: &[u8]) -> JsValue {
    let scan = active.set.scan.shape;
    let mut properties = vec![("rows", scan.rows.into()), ("cols", scan.cols.into())];
    for (name, values) in parts {
        let values = active.order.laid_out(scan, values, 0);
        properties.push((name, BigUint64Array::from(values.as_slice()).into()));
    }
    let valid = active.order.laid_out(scan, valid, 0);
    properties.push(("valid", Uint8Array::from(valid.as_slice()).into()));
    object(&properties)
}

fn checksum(active: &Active, frame: u32, pattern: &Pattern) -> JsValue {
    let mut properties = vec![("scanIndex", JsValue::from(frame))];
    if pattern.pixels.is_empty() {
        properties.extend(["sum", "min", "max", "n"].map(|key| (key, JsValue::NULL)));
        return object(&properties);
    }
    let is_signed = active.set.dtype.is_signed();
    let value = |(pixel, &raw): (u32, &u32)| match active.good.contains(pixel) {
        false => 0,
        true if is_signed => i64::from(raw as i32),
        true => i64::from(raw),
    };
    let values = || (0..).zip(&pattern.pixels).map(value);
    // A frame's sum stays below 2^53: 2^20 pixels of 2^32 counts.
    properties.push(("sum", (values().sum::<i64>() as f64).into()));
    properties.push(("min", (values().min().unwrap_or(0) as f64).into()));
    properties.push(("max", (values().max().unwrap_or(0) as f64).into()));
    properties.push(("n", (pattern.pixels.len() as f64).into()));
    object(&properties)
}

/// Little-endian bytes of values of the source type.
fn bytes_of(pixels: &[u32], dtype: Dtype) -> Vec<u8> {
    let bytes = dtype.bytes() as usize;
    pixels.iter().flat_map(|pixel| pixel.to_le_bytes().into_iter().take(bytes)).collect()
}

fn typed(pixels: &[u32], dtype: Dtype) -> JsValue {
    let bytes = bytes_of(pixels, dtype);
    let buffer = Uint8Array::from(bytes.as_slice()).buffer();
    match dtype {
        Dtype::U8 => Uint8Array::new(&buffer).into(),
        Dtype::U16 => Uint16Array::new(&buffer).into(),
        Dtype::I8 => Int8Array::new(&buffer).into(),
        Dtype::I16 => Int16Array::new(&buffer).into(),
        Dtype::I32 => Int32Array::new(&buffer).into(),
        Dtype::F32 => Float32Array::new(&buffer).into(),
        _ => Uint32Array::new(&buffer).into(),
    }
}

fn hash_or_null(hash: Option<u64>) -> JsValue {
    hash.map_or(JsValue::NULL, |hash| hex(hash).into())
}

fn no_data(frame: u32, state: FrameState) -> Error {
    let found = match state {
        FrameState::Unread => "not read yet",
        FrameState::Failed => "a chunk that could not be decoded",
        _ => "no data in the files",
    };
    Error::new(Kind::File, "no_data", "This pattern has no data").at(format!("pattern {frame}")).found(found)
}

fn files_of_input() -> Vec<crate::source::Picked> {
    let input = window()
        .and_then(|window| window.document())
        .and_then(|document| document.query_selector("input[type=file]").ok().flatten())
        .and_then(|input| input.dyn_into::<HtmlInputElement>().ok());
    input.and_then(|input| input.files()).map(|files| files_of(&files)).unwrap_or_default()
}
