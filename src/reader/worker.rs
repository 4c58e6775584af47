//! The reader itself: takes a job, reads, posts pieces. Runs in a worker thread; `workers/reader.rs`
//! only registers it.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use futures_channel::oneshot;
use gloo_worker::{HandlerId, WorkerScope};
use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DedicatedWorkerGlobalScope, Headers, MessageChannel, MessageEvent, MessagePort, ReadableStream,
    ReadableStreamByobReader, ReadableStreamReadResult, RequestInit, Response,
};

use super::{
    Answer, Outcome, Request, Task, cancelled,
    leaves::Leaves,
    port::{object, post, property},
};
use crate::{
    Error, Kind, Result,
    acquisition::{self, Acquisition, DecodedFrames, Opened, Options, contents::contents},
    plan::{Slice, locate},
    source::{ByteSource, Picked, PickedSource, range_header, unreadable},
};

/// A worker thread's end of the line.
pub struct Reader {
    desk: Rc<Desk>,
}

/// What a reader's jobs share.
struct Desk {
    port: RefCell<Option<MessagePort>>,
    files: RefCell<Vec<Picked>>,
    /// Acquisitions of the last walk, or as the page hands them over.
    sets: RefCell<Vec<Acquisition>>,
    /// What the user had chosen for that walk; `None` before the first one of these files.
    walked: RefCell<Option<Options>>,
    /// Jobs of this and of older generations are no longer wanted.
    forgotten: Cell<Option<u32>>,
    /// Buffers that came back from the page, and the jobs that wait for one.
    free: RefCell<Vec<ArrayBuffer>>,
    waiting: RefCell<VecDeque<oneshot::Sender<ArrayBuffer>>>,
    /// Buffers that are about, and their size.
    made: Cell<u32>,
    buffer_bytes: Cell<u32>,
}

/// Buffers a reader has under way: enough to read ahead while the page copies.
const BUFFERS: u32 = 6;

impl gloo_worker::Worker for Reader {
    type Message = ();
    type Input = Request;
    type Output = Answer;

    fn create(_scope: &WorkerScope<Self>) -> Self {
        let desk = Rc::new(Desk {
            port: RefCell::default(),
            files: RefCell::default(),
            sets: RefCell::default(),
            walked: RefCell::default(),
            forgotten: Cell::new(None),
            free: RefCell::default(),
            waiting: RefCell::default(),
            made: Cell::new(0),
            buffer_bytes: Cell::new(0),
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
    fn hear(&self, message: &JsValue) {
        if let Some(buffer) = property(message, "buffer").and_then(|buffer| buffer.dyn_into::<ArrayBuffer>().ok()) {
            self.put_back(buffer);
        }
        if let Some(files) = property(message, "files") {
            *self.files.borrow_mut() = Array::from(&files).iter().filter_map(|file| Picked::from_js(&file)).collect();
            self.sets.borrow_mut().clear();
            self.walked.take();
        }
        for key in ["generation", "ping"] {
            if let Some(value) = property(message, key) {
                self.say(&object(&[(key, &value)]), &[]);
            }
        }
    }

    async fn work(&self, job: u32, generation: u32, task: Task) -> Result<(Outcome, f64, f64)> {
        let started = now_ms();
        match task {
            Task::Walk { options, is_outlined } => {
                let opened = self.walk(options, is_outlined);
                Ok((Outcome::Walked(opened), 0.0, now_ms() - started))
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
            let buffer = self.buffer(piece_bytes).await;
            if self.forgotten.get().is_some_and(|forgotten| generation <= forgotten) {
                self.put_back(buffer);
                return Err(cancelled());
            }
            let started = now_ms();
            let filled = stream.fill(buffer, len).await;
            let buffer = filled.map_err(|cause| {
                // A stream that fails keeps the buffer.
                self.made.set(self.made.get().saturating_sub(1));
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

    /// A free buffer of `bytes`; waits for one to come back when all are under way.
    async fn buffer(&self, bytes: u32) -> ArrayBuffer {
        if self.buffer_bytes.replace(bytes) != bytes {
            self.made.set(0);
            self.free.take();
        }
        if let Some(buffer) = self.free.borrow_mut().pop() {
            return buffer;
        }
        if self.made.get() < BUFFERS {
            self.made.set(self.made.get() + 1);
            return ArrayBuffer::new(bytes);
        }
        let (sender, returned) = oneshot::channel();
        self.waiting.borrow_mut().push_back(sender);
        // The sender lives as long as the desk.
        returned.await.unwrap_or_else(|_| ArrayBuffer::new(bytes))
    }

    /// Gives a buffer to the job that has waited longest, or keeps it. One of another size is dropped.
    fn put_back(&self, mut buffer: ArrayBuffer) {
        if buffer.byte_length() != self.buffer_bytes.get() {
            return;
        }
        while let Some(waiting) = self.waiting.borrow_mut().pop_front() {
            match waiting.send(buffer) {
                Ok(()) => return,
                Err(unsent) => buffer = unsent,
            }
        }
        self.free.borrow_mut().push(buffer);
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

/// A byte stream that fills buffers it is given (BYOB), so that nothing is allocated per piece.
struct Stream {
    reader: ReadableStreamByobReader,
}

impl Stream {
    async fn open(file: &Picked, offset: u64, len_bytes: u64) -> Result<Self> {
        let name = file.name();
        let stream = match file {
            Picked::File(_) => file.slice(offset, len_bytes).map(|blob| blob.stream()),
            Picked::Url { url, .. } => {
                fetch(url, offset, len_bytes).await.map_err(|cause| unreadable(&name, &cause))?
            }
        };
        let stream = stream.ok_or_else(|| unreadable(&name, &"no byte stream".into()))?;
        let reader = ReadableStreamByobReader::new(&stream).map_err(|cause| unreadable(&name, &cause))?;
        Ok(Self { reader })
    }

    /// Fills the first `len` bytes of `buffer`; the buffer that comes back is the same memory.
    async fn fill(&mut self, mut buffer: ArrayBuffer, len: u32) -> Result<ArrayBuffer, JsValue> {
        let mut filled = 0;
        while filled < len {
            let view = Uint8Array::new_with_byte_offset_and_length(&buffer, filled, len - filled);
            let read = JsFuture::from(self.reader.read_with_array_buffer_view(&view)).await?;
            let read: ReadableStreamReadResult = read.unchecked_into();
            let view: Uint8Array =
                read.get_value().dyn_into().map_err(|_| JsValue::from_str("the file ended early"))?;
            filled += view.length();
            buffer = view.buffer().unchecked_into();
            if read.get_done() == Some(true) && filled < len {
                return Err("the file ended early".into());
            }
        }
        Ok(buffer)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A stream that was read to its end, or that failed, is closed already.
        let cancelled = self.reader.cancel();
        wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(cancelled).await) });
    }
}

/// The body of a Range request.
async fn fetch(url: &str, offset: u64, len_bytes: u64) -> Result<Option<ReadableStream>, JsValue> {
    let headers = Headers::new()?;
    headers.append("Range", &range_header(offset, len_bytes))?;
    let init = RequestInit::new();
    init.set_headers(&headers);
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let response: Response = JsFuture::from(scope.fetch_with_str_and_init(url, &init)).await?.dyn_into()?;
    match response.status() {
        206 => Ok(response.body()),
        status => Err(format!("HTTP status {status} to a Range request").into()),
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
