//! One load, from the files handed over to the last decode confirmed: walk the metadata in a worker,
//! read in slices, upload, decode, and tell the app of each step.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use wasm_bindgen_futures::spawn_local;
use web_sys::window;

pub use clock::{BlockWatch, now_ms};
pub use prepared::USUAL;
pub use profile::{LoadProfile, SourceKind, Stage};
pub use series::Reading;
pub use tuning::Tuning;

use compressed::Equipment;
use job::Job;
use prepared::Prepared;
use variants::Variants;

use crate::{
    Error, Kind, Result,
    acquisition::{Acquisition, Opened, Options, Storage, contents::Contents},
    cpu,
    engine::Engine,
    gpu::{self, Context, Method},
    plan,
    reader::{Done, Outcome, Pool, Script, Task, cancelled},
    shape::FrameLayout,
    source::Picked,
};

mod clock;
mod compressed;
mod copies;
mod decoded;
mod job;
mod prepared;
mod profile;
mod series;
mod tuning;
pub mod variants;

/// What the app is told while a set is opened.
pub enum Event {
    /// The metadata is being read.
    Walking { files: u32 },
    /// Several sets were dropped: [`Loader::choose`] one. A single one has rivals in its own file: open again with
    /// a dataset chosen.
    Choice(Vec<Acquisition>),
    /// Several sets are open together; each is [`Loader::read`] when it is wanted. Told by the session.
    Series(Vec<Rc<Acquisition>>),
    /// The set is known and its engine is there; frames will follow.
    Started { set: Rc<Acquisition>, engine: Rc<Engine> },
    /// Bytes or frames have arrived.
    Progress(Progress),
    /// The engine holds more frames than before.
    Grown,
    /// Something to tell while the load goes on.
    Notice(Error),
    /// The end: done, cancelled, or failed (`profile.error`).
    Finished { profile: Rc<LoadProfile>, error: Option<Error> },
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub bytes_read: f64,
    pub bytes_total: f64,
    pub frames_decoded: u32,
    pub frames_total: u32,
    pub files_done: u32,
    pub files_total: u32,
    /// Since the hand-over of the files.
    pub elapsed_ms: f64,
}

/// Which engine frames go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    Gpu,
    /// The CPU twins, decoded in the workers: asked for by the user, never taken silently.
    Cpu,
}

/// Opens sets, one at a time. A newer load ends the one before.
pub struct Loader {
    pool: RefCell<Rc<Pool>>,
    context: Option<Rc<Context>>,
    prepared: Prepared,
    variants: Rc<Variants>,
    tuning: RefCell<Tuning>,
    generation: Cell<u32>,
    offered: RefCell<Option<Offer>>,
    /// Of the load that began last.
    is_stopped: RefCell<Rc<Cell<bool>>>,
}

/// Sets to choose from.
struct Offer {
    sets: Vec<Acquisition>,
    job: Job,
}

impl Loader {
    /// Readers at work, no set yet. `context` is `None` on a machine without WebGPU.
    pub fn new(context: Option<Rc<Context>>, tuning: Tuning) -> Self {
        let pool = RefCell::new(Rc::new(Pool::new(Script::of_page(), tuning.workers)));
        let (prepared, variants, generation, offered, is_stopped) = Default::default();
        Self { pool, context, prepared, variants, tuning: RefCell::new(tuning), generation, offered, is_stopped }
    }

    /// Makes what the first load would otherwise wait for.
    pub async fn prepare(&self) {
        if let Some(context) = &self.context {
            self.variants.recall(context);
            self.prepared.make(context, &self.tuning(), self.method()).await;
        }
    }

    pub fn context(&self) -> Option<&Rc<Context>> {
        self.context.as_ref()
    }

    pub fn tuning(&self) -> Tuning {
        self.tuning.borrow().clone()
    }

    /// Decode variants on the open set.
    pub fn variants(&self) -> &Rc<Variants> {
        &self.variants
    }

    /// How the next load decodes, if that decodes its layout.
    fn method(&self) -> Method {
        self.tuning.borrow().method(self.variants.choice().map(|choice| choice.method))
    }

    /// Knobs of the next load.
    pub fn set_tuning(&self, tuning: Tuning) {
        if tuning.workers != self.tuning.borrow().workers {
            *self.pool.borrow_mut() = Rc::new(Pool::new(Script::of_page(), tuning.workers));
        }
        *self.tuning.borrow_mut() = tuning;
    }

    /// Opens `files`; those of a copy (`kind`) after [`Loader::holds`] found it whole. Everything that happens goes to `sink`, in order; the last event is `Finished`, or
    /// `Choice` when there are several sets. `options` are what the user has chosen of the files; `started_ms` is when
    /// they were handed over.
    pub async fn open(
        &self,
        files: Vec<Picked>,
        kind: SourceKind,
        path: Path,
        options: Options,
        started_ms: f64,
        sink: Rc<dyn Fn(Event)>,
    ) {
        let job = self.begin(path, options, kind, files.len() as u32, started_ms, sink);
        (job.sink)(Event::Walking { files: files.len() as u32 });
        let pool = self.pool.borrow().clone();
        // Those of a copy were handed over when it was looked at.
        if kind != SourceKind::Opfs {
            pool.hand_over(&files);
        }
        let is_outlined = path == Path::Gpu && self.context.is_some();
        let task = Task::Walk { options: job.options.clone(), is_outlined };
        let walked = pool.run(task, Rc::new(|_| ())).await;
        if job.generation != self.generation.get() {
            return;
        }
        let parsed_ms = job.elapsed_ms();
        job.stage("metadata", 0.0, parsed_ms);
        let opened = match walked {
            Ok(done) => {
                let mut profile = job.profile.borrow_mut();
                profile.master_read_ms = done.read_ms;
                profile.parse_ms = parsed_ms;
                drop(profile);
                match done.outcome {
                    Outcome::Walked(opened) => opened,
                    _ => Opened::default(),
                }
            }
            Err(error) => return job.finish(self.context(), Some(error)),
        };
        let mut refused = opened.refused.into_iter().map(|refused| refused.error);
        if opened.sets.is_empty() {
            return job.finish(self.context(), Some(refused.next().unwrap_or_else(nothing_to_show)));
        }
        refused.for_each(|error| (job.sink)(Event::Notice(error)));
        let chosen = job.options.set.as_ref();
        let which = opened.sets.iter().position(|set| Some(&set.name) == chosen);
        match which.or((opened.sets.len() == 1).then_some(0)) {
            Some(which) => self.load_or_ask(job, which, opened.sets).await,
            None => {
                // Whoever hears of the sets may take them at once.
                let (sink, sets) = (job.sink.clone(), opened.sets.clone());
                *self.offered.borrow_mut() = Some(Offer { sets: opened.sets, job });
                sink(Event::Choice(sets));
            }
        }
    }

    /// Loads one of `sets`, unless its file holds other datasets that may be meant and the user has not chosen yet.
    async fn load_or_ask(&self, job: Job, which: usize, sets: Vec<Acquisition>) {
        let Some(set) = sets.into_iter().nth(which) else { return };
        let is_clear = set.stored.rivals.is_empty() || job.options != Options::default();
        match is_clear {
            true => self.load(job, which as u32, set).await,
            false => (job.sink)(Event::Choice(vec![set])),
        }
    }

    /// All groups and datasets of the files that were handed over last.
    ///
    /// # Errors
    /// When a reader is lost, or other files are handed over.
    pub async fn contents(&self) -> Result<Vec<Contents>> {
        let pool = self.pool.borrow().clone();
        match pool.run(Task::List, Rc::new(|_| ())).await?.outcome {
            Outcome::Listed(contents) => Ok(contents),
            _ => Ok(Vec::new()),
        }
    }

    /// Base names of the files that `master` links to. Ends the load under way.
    ///
    /// # Errors
    /// When a reader is lost.
    pub async fn linked_files(&self, master: &Picked) -> Result<Vec<String>> {
        let pool = self.pool.borrow().clone();
        pool.hand_over(std::slice::from_ref(master));
        let Outcome::Walked(opened) =
            pool.run(Task::Walk { options: Options::default(), is_outlined: true }, Rc::new(|_| ())).await?.outcome
        else {
            return Ok(Vec::new());
        };
        let missing = opened.sets.into_iter().flat_map(|set| set.files_missing);
        Ok(missing.chain(opened.refused.into_iter().flat_map(|refused| refused.files_missing)).collect())
    }

    /// Loads one of the sets offered last.
    pub async fn choose(&self, which: usize) {
        let Some(Offer { sets, job }) = self.offered.take() else { return };
        self.load_or_ask(job, which, sets).await;
    }

    /// Ends the load under way; what was decoded stays.
    pub fn cancel(&self) {
        self.is_stopped.borrow().set(true);
        self.pool.borrow().cancel();
    }

    /// The load under way is no longer wanted: nothing more is heard of it. Whether the next one is stopped.
    pub fn supersede(&self) -> Rc<Cell<bool>> {
        self.generation.set(self.generation.get() + 1);
        self.offered.take();
        self.variants.clear();
        let is_stopped = Rc::default();
        self.is_stopped.replace(Rc::clone(&is_stopped)).set(true);
        is_stopped
    }

    fn begin(
        &self,
        path: Path,
        options: Options,
        kind: SourceKind,
        files: u32,
        started_ms: f64,
        sink: Rc<dyn Fn(Event)>,
    ) -> Job {
        let is_stopped = self.supersede();
        let tuning = self.tuning();
        let mut profile = LoadProfile {
            source_kind: kind,
            local_files: if kind == SourceKind::File { files } else { 0 },
            worker_count: self.pool.borrow().workers(),
            slice_mib: tuning.slice_mib,
            ring_buffers: tuning.ring_buffers,
            ring_mib: tuning.ring_mib,
            tuning,
            ..LoadProfile::default()
        };
        if let Some(context) = &self.context {
            profile.adapter_info.clone_from(&context.adapter.info);
            profile.software_adapter = context.adapter.is_software;
            profile.timestamp_query = context.adapter.has_timestamps;
            profile.max_buffer_gb = context.limits.max_buffer_size as f64 / 1e9;
            profile.max_storage_buffer_gb = context.limits.max_storage_buffer_binding_size as f64 / 1e9;
        }
        Job {
            generation: self.generation.get(),
            path,
            options,
            is_stopped,
            sink,
            started_ms,
            profile: Rc::new(RefCell::new(profile)),
            blocked: Rc::new(BlockWatch::new()),
            errors_before: self.context.as_ref().map_or(0, |context| context.errors().len()),
        }
    }

    async fn load(&self, job: Job, which: u32, set: Acquisition) {
        let set = Rc::new(set);
        job.describe(&set);
        let engine = match self.engine(&job, &set).await {
            Ok(engine) => Rc::new(engine),
            Err(error) => return job.finish(self.context(), Some(error)),
        };
        (job.sink)(Event::Started { set: set.clone(), engine: engine.clone() });
        let pool = self.pool.borrow().clone();
        let loaded = match (&set.storage, &self.context, job.path) {
            (Storage::BitshuffleLz4 { .. }, Some(context), Path::Gpu) => {
                let equipment = Equipment { prepared: &self.prepared, variants: &self.variants, method: self.method() };
                compressed::load(&job, pool, context.clone(), equipment, &engine, &set).await
            }
            _ => decoded::load(&job, pool, &engine, &set, which).await,
        };
        if set.is_outlined() && matches!(&loaded, Err(error) if error.key == plan::IRREGULAR) {
            return self.load_walked(job, &set).await;
        }
        if job.generation == self.generation.get() {
            job.count_states(&engine);
            job.finish(self.context(), loaded.err());
            self.choose_variant(&engine);
        }
    }

    /// Times the decode variants on a batch of the set that was loaded first, in the background.
    fn choose_variant(&self, engine: &Engine) {
        let (Some(context), Some(batch)) = (self.context.clone(), self.variants.take_sample()) else { return };
        let layout = engine.layout();
        let variants = self.variants.clone();
        spawn_local(async move {
            // What fails here fails again, and is told, when a set is decoded.
            let _ = variants.choose(&context, layout, batch).await;
        });
    }

    /// Loads `set`, which is not what its outline says, after a walk through all of its index.
    async fn load_walked(&self, job: Job, set: &Acquisition) {
        if job.generation != self.generation.get() {
            return;
        }
        if job.is_stopped.get() {
            return job.finish(self.context(), Some(cancelled()));
        }
        let pool = self.pool.borrow().clone();
        pool.cancel();
        (job.sink)(Event::Walking { files: set.files.len() as u32 });
        let task = Task::Walk { options: job.options.clone(), is_outlined: false };
        let walked = pool.run(task, Rc::new(|_| ())).await;
        if job.generation != self.generation.get() {
            return;
        }
        let opened = match walked {
            Ok(Done { outcome: Outcome::Walked(opened), .. }) => opened,
            Ok(_) => Opened::default(),
            Err(error) => return job.finish(self.context(), Some(error)),
        };
        let place = opened.sets.iter().position(|other| (&other.name, &other.dataset) == (&set.name, &set.dataset));
        let found = place.and_then(|place| Some((place, opened.sets.into_iter().nth(place)?)));
        match found {
            Some((place, set)) => Box::pin(self.load(job, place as u32, set)).await,
            None => {
                let refused = opened.refused.into_iter().next().map(|refused| refused.error);
                job.finish(self.context(), Some(refused.unwrap_or_else(nothing_to_show)));
            }
        }
    }

    async fn engine(&self, job: &Job, set: &Acquisition) -> Result<Engine> {
        let block_px = match &set.storage {
            Storage::BitshuffleLz4 { block_px, .. } => *block_px,
            Storage::Decoded(_) => DECODED_BLOCK_PX,
        };
        let layout = FrameLayout { detector: set.detector, dtype: set.dtype, block_px };
        match (job.path, &self.context) {
            (Path::Gpu, Some(context)) => gpu::Engine::new(context.clone(), layout, set.frames).await.map(Engine::Gpu),
            (Path::Gpu, None) => Err(no_webgpu()),
            (Path::Cpu, _) => {
                cpu::Engine::new(layout, set.frames, Box::new(|| Box::pin(clock::breathe()))).map(Engine::Cpu)
            }
        }
    }
}

/// Hardware threads of this machine.
pub fn cores() -> u32 {
    window().map_or(1, |window| window.navigator().hardware_concurrency() as u32)
}

fn nothing_to_show() -> Error {
    Error::new(Kind::File, "no_image_data", "Not a 4D-STEM set")
        .expected("HDF5 files with a 3-D or 4-D dataset")
        .action("Open another file")
}

fn no_webgpu() -> Error {
    Error::new(Kind::Gpu, "no_webgpu", "No WebGPU here")
        .expected("WebGPU")
        .found("not offered by this browser")
        .action("Use Chrome or Edge 113 or later, or open the set on the CPU")
}

/// Block of frames that workers decode: that of an ARINA chunk of u16.
const DECODED_BLOCK_PX: u32 = 4096;
