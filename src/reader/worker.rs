//! The reader itself: takes a job, reads, posts pieces. Runs in a worker thread; `workers/reader.rs`
//! only registers it.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use gloo_worker::{HandlerId, WorkerScope};
use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

use super::{
    Answer, Outcome, Request, Task,
    buffers::Buffers,
    cancelled,
    copy::{copy, reserve, uncopied},
    leaves::Leaves,
    port::{object, post, property},
    stream::Stream,
};
use crate::{
    Error, Kind, Result,
    acquisition::{self, Acquisition, DecodedFrames, Opened, Options, contents::contents},
    kept::probe,
    plan::{Slice, locate},
    source::{ByteSource, Picked, PickedSource, unreadable},
};

/// A worker thread's end of the line.
pub struct Reader {
    desk: Rc<Desk>,
}

/// What a reader's jobs share.
struct Desk {
    port: RefCell<Option<MessagePort>>,
    files: RefCell<Vec<Picked>>,
    /// The same files; in place of those of a copy what they were made of.
    originals: RefCell<Vec<Picked>>,
    /// Acquisitions of the last walk, or as the page hands them over.
    sets: RefCell<Vec<Acquisition>>,
    /// What the user had chosen for that walk; `None` before the first one of these files.
    walked: RefCell<Option<Options>>,
    /// Jobs of this and of older generations are no longer wanted.
    forgotten: Cell<Option<u32>>,
    /// How often files were handed over.
    handed: Cell<u32>,
    buffers: Buffers,
}

impl gloo_worker::Worker for Reader {
    type Message = ();
    type Input = Request;
    type Output = Answer;

    fn create(_scope: &WorkerScope<Self>) -> Self {
        let desk = Rc::new(Desk {
            port: RefCell::default(),
            files: RefCell::default(),
            originals: RefCell::default(),
            sets: RefCell::default(),
            walked: RefCell::default(),
            forgotten: Cell::new(None),
            handed: Cell::new(0),
            buffers: Buffers::default(),
        });
        report_panics(desk.clone());
        Self { desk }
    }

    fn update(&mut self, _scope: &WorkerScope<Self>, _message: ()) {}

    fn received(&mut self, scope: &WorkerScope<Self>, request: Request, id: HandlerId) {
        match request {
            Request::Connect { ticket } => {
                self.desk.clone().connect(ticket);
                scope.respond(id, Answer::Connected { ticket });
            }
            Request::Forget { generation } => self.desk.forgotten.set(Some(generation)),
            Request::Job { job, generation, task } => {
                let (desk, scope) = (self.desk.clone(), scope.clone());
                wasm_bindgen_futures::spawn_local(async move {
                    let answer = match desk.work(job, generation, task).await {
                        Ok((outcome, bytes, read_ms)) => Answer::Done { job, outcome, bytes, read_ms },
                        Err(error) => Answer::Failed { job, error },
                    };
                    scope.respond(id, answer);
                });
            }
        }
    }
}

impl Desk {
    /// Opens a port and posts its other end to the page.
    fn connect(self: Rc<Self>, ticket: u32) {
        let Ok(channel) = MessageChannel::new() else { return };
        let port = channel.port1();
        let desk = self.clone();
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| desk.hear(&event.data()));
        port.set_onmessage(Some(on_message.into_js_value().unchecked_ref()));
        *self.port.borrow_mut() = Some(port);
        let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
        let message = object(&[("ticket", &ticket.into()), ("port", &channel.port2())]);
        // The page notices by its deadline when this fails.
        let _ = scope.post_message_with_transfer(&message, &[channel.port2()].iter().collect::<Array>());
    }

    fn say(&self, message: &JsValue, transfer: &[&JsValue]) {
        if let Some(port) = &*self.port.borrow() {
            post(port, message, transfer);
        }
    }

    /// A message on the port: a buffer that comes back, new files, or a question whether we live.
    fn hear(self: &Rc<Self>, message: &JsValue) {
        if let Some(buffer) = property(message, "buffer").and_then(|buffer| buffer.dyn_into::<ArrayBuffer>().ok()) {
            self.buffers.put_back(buffer);
        }
        if let Some(files) = property(message, "files") {
            let files: Vec<Picked> = Array::from(&files).iter().filter_map(|file| Picked::from_js(&file)).collect();
            self.sets.borrow_mut().clear();
            self.walked.take();
            // Those of a copy are closed, should they be opened again.
            self.files.borrow_mut().clear();
            self.handed.set(self.handed.get() + 1);
            *self.originals.borrow_mut() = files.iter().map(Picked::original).collect();
            if files.iter().any(|file| matches!(file, Picked::Kept(_))) {
                let (desk, generation) = (self.clone(), property(message, "generation"));
                return wasm_bindgen_futures::spawn_local(async move { desk.open_copy(files, generation).await });
            }
            *self.files.borrow_mut() = files;
        }
        for key in ["generation", "ping"] {
            if let Some(value) = property(message, key) {
                self.say(&object(&[(key, &value)]), &[]);
            }
        }
    }

    /// Opens the files of a copy, then says that they are held, unless others were handed over meanwhile.
    async fn open_copy(&self, files: Vec<Picked>, generation: Option<JsValue>) {
        let handed = self.handed.get();
        let mut opened = Vec::new();
        for file in files {
            opened.push(match file {
                // What is gone is told when it is read: nothing is, as it is not open.
                Picked::Kept(kept) => kept.clone().opened().await.unwrap_or(Picked::Kept(kept)),
                other => other,
            });
        }
        if handed == self.handed.get() {
            *self.files.borrow_mut() = opened;
            self.say(&object(&[("generation", &generation.unwrap_or(JsValue::UNDEFINED))]), &[]);
        }
    }

    async fn work(&self, job: u32, generation: u32, task: Task) -> Result<(Outcome, f64, f64)> {
        let started = now_ms();
        match task {
            Task::Walk { options, is_outlined } => {
                let opened = self.walk(options, is_outlined);
                Ok((Outcome::Walked(opened), 0.0, now_ms() - started))
            }
            Task::Probe => {
                let originals = self.originals.borrow().clone();
                let probes = originals.into_iter().map(|file| probe(&PickedSource::new(file)));
                Ok((Outcome::Probed(probes.collect::<Result<_>>()?), 0.0, now_ms() - started))
            }
            Task::Reserve { folder, name, len_bytes } => {
                let reserved = reserve(&folder, &name, len_bytes).await;
                let reserved = reserved.map_err(|cause| uncopied(&name, &cause))?;
                Ok((Outcome::Reserved(reserved), 0.0, now_ms() - started))
            }
            Task::Copy { picked, folder, offset, len_bytes } => {
                let file = self.file(picked)?;
                copy(&file, &folder, offset, len_bytes).await.map_err(|cause| uncopied(&file.name(), &cause))?;
                Ok((Outcome::Copied, 0.0, now_ms() - started))
            }
            Task::List => {
                let sources = self.sources();
                let sources: Vec<&dyn ByteSource> = sources.iter().map(|source| source as &dyn ByteSource).collect();
                Ok((Outcome::Listed(contents(&sources)), 0.0, now_ms() - started))
            }
            Task::Read { picked, slice, sections, piece_bytes } => {
                let mut leaves = Leaves::of(&sections);
                let source = PickedSource::new(self.file(picked)?);
                let read_ms = self.read(job, generation, source.picked(), slice, piece_bytes, &mut leaves).await?;
                let located = locate(&slice, &sections, &leaves.finish(&source)?, source.len_bytes())?;
                Ok((Outcome::Read(located), f64::from(slice.len_bytes), read_ms))
            }
            Task::Decode { options, set, first, count } => {
                if self.walked.borrow().as_ref() != Some(&options) {
                    self.walk(options, false);
                }
                let (outcome, bytes) = self.decode(job, set, first, count)?;
                Ok((outcome, bytes, now_ms() - started))
            }
        }
    }

    fn walk(&self, options: Options, is_outlined: bool) -> Opened {
        let sources = self.sources();
        let sources: Vec<&dyn ByteSource> = sources.iter().map(|source| source as &dyn ByteSource).collect();
        let opened = match is_outlined {
            true => acquisition::outline(&sources, &options),
            false => acquisition::open(&sources, &options),
        };
        if opened.sets.iter().any(Acquisition::is_outlined) {
            return opened;
        }
        self.sets.borrow_mut().clone_from(&opened.sets);
        *self.walked.borrow_mut() = Some(options);
        opened
    }

    fn sources(&self) -> Vec<PickedSource> {
        self.files.borrow().iter().cloned().map(PickedSource::new).collect()
    }

    fn file(&self, picked: u32) -> Result<Picked> {
        let file = self.files.borrow().get(picked as usize).cloned();
        file.ok_or_else(|| Error::new(Kind::Internal, "no_such_file", "A job names no file"))
    }

    /// Reads a slice into recycled buffers and posts each full one; `leaves` picks from them what it needs. Returns
    /// the time spent reading, ms.
    async fn read(
        &self,
        job: u32,
        generation: u32,
        file: &Picked,
        slice: Slice,
        piece_bytes: u32,
        leaves: &mut Leaves,
    ) -> Result<f64> {
        let name = file.name();
        let mut stream = Stream::open(file, slice.offset, u64::from(slice.len_bytes)).await?;
        let (mut done, mut read_ms) = (0, 0.0);
        while done < slice.len_bytes {
            let len = piece_bytes.min(slice.len_bytes - done);
            let buffer = self.buffers.take(piece_bytes).await;
            if self.forgotten.get().is_some_and(|forgotten| generation <= forgotten) {
                self.buffers.put_back(buffer);
                return Err(cancelled());
            }
            let started = now_ms();
            let filled = stream.fill(buffer, len).await;
            let buffer = filled.map_err(|cause| {
                // A stream that fails keeps the buffer.
                self.buffers.lose();
                unreadable(&name, &cause)
            })?;
            read_ms += now_ms() - started;
            leaves.pick(slice.offset + u64::from(done), &Uint8Array::new_with_byte_offset_and_length(&buffer, 0, len));
            self.piece(job, slice.dest + done, len, &buffer);
            done += len;
        }
        Ok(read_ms)
    }

    fn piece(&self, job: u32, dest: u32, len: u32, buffer: &ArrayBuffer) {
        let (job, dest, len) = (job.into(), dest.into(), len.into());
        self.say(&object(&[("job", &job), ("dest", &dest), ("len", &len), ("buffer", buffer)]), &[buffer]);
    }

    fn decode(&self, job: u32, set: u32, first: u32, count: u32) -> Result<(Outcome, f64)> {
        let sets = self.sets.borrow();
        let set = sets.get(set as usize);
        let set = set.ok_or_else(|| Error::new(Kind::Internal, "no_such_set", "A job names no acquisition"))?;
        let sources = self.sources();
        let sources: Vec<&dyn ByteSource> = sources.iter().map(|source| source as &dyn ByteSource).collect();
        let DecodedFrames { pixels, failed, missing } = acquisition::decode(set, &sources, first..first + count)?;
        let len = pixels.len() as u32;
        let buffer = ArrayBuffer::new(len);
        Uint8Array::new(&buffer).copy_from(&pixels);
        self.piece(job, 0, len, &buffer);
        Ok((Outcome::Decoded { failed, missing }, f64::from(len)))
    }
}

/// A panic is told on the port before the worker stops answering.
fn report_panics(desk: Rc<Desk>) {
    thread_local! {
        // The panic hook has to be `Send`, ports are not: it finds this thread's desk here.
        static DESK: RefCell<Option<Rc<Desk>>> = const { RefCell::new(None) };
    }
    DESK.set(Some(desk));
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        DESK.with_borrow(|desk| {
            if let Some(desk) = desk {
                desk.say(&object(&[("panic", &info.to_string().into())]), &[]);
            }
        });
    }));
}

fn now_ms() -> f64 {
    js_sys::global().unchecked_into::<DedicatedWorkerGlobalScope>().performance().map_or(0.0, |clock| clock.now())
}
