//! From the loader's events to the page's.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use wasm_bindgen_futures::spawn_local;

use super::Shell;
use crate::{
    app::{
        Computer, Event,
        event::{GpuSupport, Memory, Progress, Report, StageTime},
    },
    load::{self, LoadProfile, Path},
    session::{Reset, Session},
};

/// The machine, as the session found it.
pub fn computer(session: &Session) -> Computer {
    let loader = session.loader();
    let Some(context) = loader.context() else {
        let reason = session.no_gpu().map(ToString::to_string).unwrap_or_default();
        return Computer { gpu: GpuSupport::None, reason, ..Computer::default() };
    };
    let gpu = if context.adapter.is_software { GpuSupport::Software } else { GpuSupport::Ready };
    let largest_buffer = context.limits.max_buffer_size.min(context.limits.max_storage_buffer_binding_size);
    // WebGPU does not tell how much memory there is; what it lets one buffer take is a measure of it.
    let memory = BUFFERS_OF_SETS * context.limits.max_buffer_size;
    Computer { adapter: context.adapter.info.clone(), gpu, largest_buffer, memory, ..Computer::default() }
}

/// Sets may take as much memory as so many of the largest buffers that the adapter allows.
const BUFFERS_OF_SETS: u64 = 2;

/// Tells the page of every step of every load.
pub fn listen(shell: &Rc<Shell>) {
    shell.send(Event::Computer(computer(&shell.session)));
    let page = Rc::downgrade(shell);
    let resets = page.clone();
    shell.session.on_reset(Rc::new(move |reset| {
        let Some(shell) = resets.upgrade() else { return };
        match reset {
            Reset::Lost(_) => shell.send(Event::GpuLost),
            Reset::Back => shell.send(Event::Computer(computer(&shell.session))),
            Reset::Gone(error) => shell.send(Event::GpuGone(error.clone())),
        }
    }));
    let load = Rc::new(RefCell::new(Load::default()));
    shell.session.listen(Rc::new(move |event| {
        if let Some(shell) = page.upgrade() {
            tell(&shell, &load, event);
        }
    }));
}

/// What is remembered of the load under way.
#[derive(Default)]
struct Load {
    has_grown: bool,
    /// (ms, bytes) of the last two seconds.
    rate: VecDeque<(f64, f64)>,
}

/// The rate is a mean over so long.
const RATE_MS: f64 = 2000.0;

fn tell(shell: &Rc<Shell>, load: &Rc<RefCell<Load>>, event: &load::Event) {
    let of = Of { place: shell.session.reading(), is_of_series: shell.session.is_of_series() };
    match event {
        load::Event::Walking { files } => {
            *load.borrow_mut() = Load::default();
            of.send(shell, Event::Opening { files: *files });
        }
        load::Event::Choice(sets) => shell.send(Event::Choice(sets.iter().cloned().map(Rc::new).collect())),
        load::Event::Series(sets) => shell.send(Event::Series(sets.clone())),
        load::Event::Started { set, .. } => {
            *load.borrow_mut() = Load::default();
            of.send(shell, Event::Metadata(set.clone()));
            of.tell_memory(shell);
        }
        load::Event::Progress(progress) => {
            let bytes_per_s = load.borrow_mut().rate(progress.elapsed_ms, progress.bytes_read);
            let progress = Event::Progress(Progress {
                bytes_read: progress.bytes_read as u64,
                bytes_total: progress.bytes_total as u64,
                bytes_per_s,
                frames_decoded: progress.frames_decoded,
                files_done: progress.files_done,
                files_total: progress.files_total,
            });
            of.send(shell, progress);
        }
        load::Event::Grown if std::mem::replace(&mut load.borrow_mut().has_grown, true) => {
            of.tell_memory(shell);
            of.send(shell, Event::BatchReady);
        }
        load::Event::Grown => {
            // The patterns are summed while the census is taken.
            of.send(shell, Event::BatchReady);
            of.take_census(shell, Event::FirstBatch);
        }
        load::Event::Notice(error) => of.send(shell, Event::Notice(error.clone())),
        load::Event::Finished { profile, error } => {
            of.tell_memory(shell);
            of.send(shell, Event::Report(report(profile)));
            match error {
                None => of.take_census(shell, Event::Done),
                Some(error) if error.key == "cancelled" => of.send(shell, Event::Cancelled),
                Some(error) => of.send(shell, Event::Failed(error.clone())),
            }
        }
    }
}

impl Load {
    /// Bytes per second, over the last two seconds.
    fn rate(&mut self, now_ms: f64, bytes: f64) -> f64 {
        self.rate.push_back((now_ms, bytes));
        while self.rate.front().is_some_and(|(ms, _)| now_ms - ms > RATE_MS) && self.rate.len() > 2 {
            self.rate.pop_front();
        }
        let (from_ms, from) = self.rate.front().copied().unwrap_or_default();
        if now_ms > from_ms { 1e3 * (bytes - from) / (now_ms - from_ms) } else { 0.0 }
    }
}

/// The set that is being read.
#[derive(Clone, Copy)]
struct Of {
    place: usize,
    is_of_series: bool,
}

impl Of {
    fn send(self, shell: &Rc<Shell>, event: Event) {
        match self.is_of_series {
            true => shell.send(Event::Member { place: self.place, event: Box::new(event) }),
            false => shell.send(event),
        }
    }

    /// Pixels and patterns that hold sentinels only are found first, then `then` is told.
    fn take_census(self, shell: &Rc<Shell>, then: Event) {
        let shell = shell.clone();
        let engine = shell.session.engine(self.place);
        spawn_local(async move {
            let census = shell.session.take_census(self.place).await;
            let is_same = match (&engine, shell.session.engine(self.place)) {
                (Some(before), Some(now)) => Rc::ptr_eq(before, &now),
                _ => false,
            };
            // What was put out, or is read anew, has nothing more to tell.
            if !is_same {
                return;
            }
            match census {
                Ok(Some(bad)) => self.send(&shell, Event::BadPixelsFound(bad)),
                Ok(None) => {}
                Err(error) => self.send(&shell, Event::Notice(error)),
            }
            self.send(&shell, then);
        });
    }

    fn tell_memory(self, shell: &Rc<Shell>) {
        if let Some(engine) = shell.session.engine(self.place) {
            let on_cpu = shell.session.path() == Path::Cpu;
            self.send(shell, Event::Memory(Memory { on_cpu, bytes: engine.len_bytes(), budget: 0 }));
        }
    }
}

fn report(profile: &LoadProfile) -> Report {
    let mut rows = vec![
        ("form".to_owned(), profile.resident.clone()),
        ("decoder".to_owned(), profile.decode_variant.clone()),
        ("decoders timed here".to_owned(), profile.decode_choice.clone().unwrap_or_default()),
        ("readers".to_owned(), profile.worker_count.to_string()),
        ("compressed, decoded".to_owned(), format!("{:.3} GB, {:.3} GB", profile.compressed_gb, profile.decoded_gb)),
        ("total".to_owned(), format!("{:.0} ms", profile.total_ms)),
    ];
    rows.retain(|(_, text)| !text.is_empty());
    if let Some(ms) = profile.gpu_decode_ms {
        rows.push(("decode passes on the GPU".to_owned(), format!("{ms:.1} ms")));
    }
    let stage =
        |stage: &load::Stage| StageTime { name: stage.name.clone(), start_ms: stage.start_ms, end_ms: stage.end_ms };
    Report { rows, stages: profile.stages.iter().map(stage).collect() }
}
