//! The page's side: a few readers with a job or two each, the rest queued.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use futures_channel::oneshot;
use gloo_timers::callback::Interval;
use gloo_worker::{Spawnable, WorkerBridge};
use js_sys::{Array, ArrayBuffer};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{MessageEvent, MessagePort, Worker};

use super::{
    Answer, Outcome, Ported, Reader, Request, Task, capture,
    port::{number, object, post, property},
};
use crate::{Error, Kind, Result, source::Picked};

/// Reader threads. Jobs belong to the files handed over last; older ones are dropped.
pub struct Pool {
    inner: Rc<Inner>,
    _watch: Interval,
}

/// What a reader runs.
#[derive(Clone, Debug)]
pub enum Script {
    /// A module at this address, relative to the page, with its WebAssembly beside it.
    Beside(String),
    /// A classic script at this address that brings all it needs: a page that is one file cannot load modules.
    Whole(String),
}

impl Script {
    /// That of the page: beside it, or, where the page is one file, what its loader has made and named in
    /// `planescopeReader`.
    pub fn of_page() -> Self {
        let whole = js_sys::Reflect::get(&js_sys::global(), &"planescopeReader".into());
        match whole.ok().and_then(|url| url.as_string()) {
            Some(url) => Self::Whole(url),
            None => Self::Beside("./reader.js".to_owned()),
        }
    }
}

/// Bytes of a job, as they arrive. Goes back to its reader when dropped.
pub struct Piece {
    /// Where the bytes belong: `Slice::dest` plus what came before.
    pub dest: u32,
    /// Valid bytes of `buffer`.
    pub len_bytes: u32,
    pub buffer: ArrayBuffer,
    port: MessagePort,
}

/// A job's end.
#[derive(Debug)]
pub struct Done {
    pub outcome: Outcome,
    /// Time that the worker spent reading, ms.
    pub read_ms: f64,
}

struct Inner {
    script: Script,
    members: RefCell<Vec<Rc<Member>>>,
    queue: RefCell<VecDeque<Pending>>,
    files: RefCell<Array>,
    generation: Cell<u32>,
    next: Cell<u32>,
}

struct Member {
    ticket: u32,
    bridge: WorkerBridge<Reader>,
    worker: Option<Worker>,
    port: RefCell<Option<MessagePort>>,
    /// Files that the worker says it holds.
    holds: Cell<Option<u32>>,
    running: RefCell<Vec<Running>>,
    heard_ms: Cell<f64>,
}

struct Pending {
    task: Task,
    sink: Rc<dyn Fn(Piece)>,
    done: oneshot::Sender<Result<Done>>,
}

struct Running {
    job: u32,
    sink: Rc<dyn Fn(Piece)>,
    done: oneshot::Sender<Result<Done>>,
    received: f64,
    answer: Option<(Done, f64)>,
    patience_ms: f64,
    is_read: bool,
}

impl Pool {
    /// `count` readers that run `script`.
    pub fn new(script: Script, count: u32) -> Self {
        let inner = Rc::new(Inner {
            script,
            members: RefCell::default(),
            queue: RefCell::default(),
            files: RefCell::default(),
            generation: Cell::new(0),
            next: Cell::new(0),
        });
        for _ in 0..count.max(1) {
            inner.clone().hire();
        }
        let watched = Rc::downgrade(&inner);
        let watch = Interval::new(1000, move || {
            if let Some(inner) = watched.upgrade() {
                inner.replace_the_silent();
            }
        });
        Self { inner, _watch: watch }
    }

    pub fn workers(&self) -> u32 {
        self.inner.members.borrow().len() as u32
    }

    /// Hands `files` to every reader; jobs for earlier files are dropped and fail as cancelled.
    pub fn hand_over(&self, files: &[Picked]) {
        *self.inner.files.borrow_mut() = files.iter().map(Picked::to_js).collect();
        self.cancel();
    }

    /// Drops every queued and running job; their futures end with the error `cancelled`. Readers are briefed once for
    /// each generation: one that held it with the files before would be taken to hold those of now.
    pub fn cancel(&self) {
        let generation = self.inner.generation.replace(self.inner.generation.get() + 1);
        for pending in self.inner.queue.take() {
            let _ = pending.done.send(Err(cancelled()));
        }
        for member in self.inner.members.borrow().iter() {
            for running in member.running.take() {
                member.bridge.send(Request::Forget { generation });
                let _ = running.done.send(Err(cancelled()));
            }
            self.inner.brief(member);
        }
    }

    /// Runs `task` on the next free reader; `sink` takes its pieces, in order.
    ///
    /// # Errors
    /// What the reader says; `Internal` (`reader_lost`) when it crashed or stopped answering; `cancelled`.
    pub async fn run(&self, task: Task, sink: Rc<dyn Fn(Piece)>) -> Result<Done> {
        let (done, ended) = oneshot::channel();
        self.inner.queue.borrow_mut().push_back(Pending { task, sink, done });
        self.inner.clone().assign();
        ended.await.unwrap_or_else(|_| Err(cancelled()))
    }
}

impl Inner {
    fn number(&self) -> u32 {
        self.next.replace(self.next.get().wrapping_add(1))
    }

    /// Spawns a reader and asks it for its port.
    fn hire(self: Rc<Self>) {
        let ticket = self.number();
        let inner = Rc::downgrade(&self);
        let on_answer = move |answer| {
            if let Some(inner) = inner.upgrade() {
                inner.hear(ticket, answer);
            }
        };
        let mut spawner = Reader::spawner();
        let mut spawner = spawner.callback(on_answer).encoding::<Ported>();
        let (bridge, worker) = capture::seen(|| match &self.script {
            Script::Beside(url) => spawner.spawn(url),
            Script::Whole(url) => spawner.as_module(false).with_loader(true).spawn(url),
        });
        bridge.send(Request::Connect { ticket });
        self.members.borrow_mut().push(Rc::new(Member {
            ticket,
            bridge,
            worker,
            port: RefCell::default(),
            holds: Cell::new(None),
            running: RefCell::default(),
            heard_ms: Cell::new(now_ms()),
        }));
    }

    fn member(&self, ticket: u32) -> Option<Rc<Member>> {
        self.members.borrow().iter().find(|member| member.ticket == ticket).cloned()
    }

    /// Tells a reader which files it works for; it answers with their generation.
    fn brief(&self, member: &Member) {
        member.holds.set(None);
        if let Some(port) = &*member.port.borrow() {
            let generation = self.generation.get().into();
            post(port, &object(&[("files", &self.files.borrow()), ("generation", &generation)]), &[]);
        }
    }

    /// Gives queued jobs to readers that can take one.
    fn assign(self: Rc<Self>) {
        let generation = self.generation.get();
        while let Some(member) = self.next_free() {
            let Some(Pending { task, sink, done }) = self.queue.borrow_mut().pop_front() else { return };
            let job = self.number();
            let is_read = matches!(task, Task::Read { .. });
            let patience_ms = if is_read { READ_PATIENCE_MS } else { WORK_PATIENCE_MS };
            let running = Running { job, sink, done, received: 0.0, answer: None, patience_ms, is_read };
            member.running.borrow_mut().push(running);
            member.heard_ms.set(now_ms());
            member.bridge.send(Request::Job { job, generation, task });
        }
    }

    /// The reader with the fewest jobs that can take the next one. A reader reads two slices at a time, so that one is
    /// opened while the other flows; whatever else it does, it does alone.
    fn next_free(&self) -> Option<Rc<Member>> {
        let is_read = matches!(self.queue.borrow().front()?.task, Task::Read { .. });
        let most = if is_read { READS_EACH } else { 1 };
        let members = self.members.borrow();
        let can_take = |member: &&Rc<Member>| {
            let running = member.running.borrow();
            let is_fit = running.len() < most && running.iter().all(|running| running.is_read);
            is_fit && member.holds.get() == Some(self.generation.get())
        };
        members.iter().filter(can_take).min_by_key(|member| member.running.borrow().len()).cloned()
    }

    fn hear(self: Rc<Self>, ticket: u32, answer: Answer) {
        let Some(member) = self.member(ticket) else { return };
        member.heard_ms.set(now_ms());
        match answer {
            Answer::Connected { ticket } => {
                let Some(port) = Ported::take_port(ticket) else { return };
                let inner = Rc::downgrade(&self);
                let listened = port.clone();
                let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
                    if let Some(inner) = inner.upgrade() {
                        inner.hear_port(ticket, &listened, &event.data());
                    }
                });
                port.set_onmessage(Some(on_message.into_js_value().unchecked_ref()));
                *member.port.borrow_mut() = Some(port);
                self.brief(&member);
            }
            Answer::Done { job, outcome, bytes, read_ms } => {
                if let Some(running) = member.running.borrow_mut().iter_mut().find(|running| running.job == job) {
                    running.answer = Some((Done { outcome, read_ms }, bytes));
                }
                self.finish(&member, job);
            }
            Answer::Failed { job, error } => self.end(&member, job, Err(error)),
        }
    }

    /// A message on a reader's port: a piece, the files it holds, a sign of life, or its last words.
    fn hear_port(self: Rc<Self>, ticket: u32, port: &MessagePort, message: &JsValue) {
        let Some(member) = self.member(ticket) else { return };
        member.heard_ms.set(now_ms());
        if let Some(generation) = number(message, "generation") {
            member.holds.set(Some(generation as u32));
            self.clone().assign();
        }
        if let Some(words) = property(message, "panic") {
            self.clone().replace(&member, &words.as_string().unwrap_or_default());
        }
        let Some(buffer) = property(message, "buffer").and_then(|buffer| buffer.dyn_into::<ArrayBuffer>().ok()) else {
            return;
        };
        let count = |key| number(message, key).unwrap_or_default() as u32;
        let job = count("job");
        let piece = Piece { dest: count("dest"), len_bytes: count("len"), buffer, port: port.clone() };
        let sink = match member.running.borrow_mut().iter_mut().find(|running| running.job == job) {
            Some(running) => {
                running.received += f64::from(piece.len_bytes);
                running.sink.clone()
            }
            // A late piece of a job that is no longer wanted: its buffer goes straight back.
            None => return,
        };
        sink(piece);
        self.finish(&member, job);
    }

    /// Ends a job whose answer and whose bytes have all arrived: they come by different ways.
    fn finish(self: Rc<Self>, member: &Member, job: u32) {
        let is_whole = |running: &Running| running.answer.as_ref().is_some_and(|(_, bytes)| running.received >= *bytes);
        let ended = member.take_job(job, is_whole);
        if let Some(Running { answer: Some((done, _)), done: ended, .. }) = ended {
            let _ = ended.send(Ok(done));
            self.assign();
        }
    }

    fn end(self: Rc<Self>, member: &Member, job: u32, result: Result<Done>) {
        if let Some(running) = member.take_job(job, |_| true) {
            let _ = running.done.send(result);
            self.assign();
        }
    }

    /// Fails the jobs of a lost reader and puts a new one in its place.
    fn replace(self: Rc<Self>, member: &Rc<Member>, words: &str) {
        self.members.borrow_mut().retain(|other| !Rc::ptr_eq(other, member));
        // One that hangs would go on for ever.
        if let Some(worker) = &member.worker {
            worker.terminate();
        }
        for running in member.running.take() {
            let lost = Error::new(Kind::Internal, "reader_lost", "A reading worker was lost")
                .found(words)
                .action("It was replaced; read the rest again");
            let _ = running.done.send(Err(lost));
        }
        self.hire();
    }

    /// Asks busy readers for a sign of life and replaces those that gave none for too long.
    fn replace_the_silent(self: Rc<Self>) {
        let members = self.members.borrow().clone();
        for member in members {
            let running = member.running.borrow().iter().map(|running| running.patience_ms).reduce(f64::max);
            let patience_ms = match running {
                Some(patience_ms) => patience_ms,
                // Idle readers are asked when they get a job; one that never connected cannot get any.
                None if member.port.borrow().is_some() => continue,
                None => WORK_PATIENCE_MS,
            };
            let silent_ms = now_ms() - member.heard_ms.get();
            if silent_ms > patience_ms {
                self.clone().replace(&member, &format!("no answer for {:.0} s", silent_ms / 1000.0));
            } else if let Some(port) = &*member.port.borrow() {
                post(port, &object(&[("ping", &1.into())]), &[]);
            }
        }
    }
}

impl Member {
    /// Takes out a running job if `may_end`.
    fn take_job(&self, job: u32, may_end: impl Fn(&Running) -> bool) -> Option<Running> {
        let mut running = self.running.borrow_mut();
        let place = running.iter().position(|running| running.job == job && may_end(running))?;
        Some(running.remove(place))
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        post(&self.port, &object(&[("buffer", &self.buffer)]), &[&self.buffer]);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(port) = self.port.borrow_mut().take() {
            port.set_onmessage(None);
            port.close();
        }
    }
}

/// What a job ends with that is no longer wanted.
pub fn cancelled() -> Error {
    Error::new(Kind::Io, "cancelled", "Reading was cancelled")
}

fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}

/// Slices that a reader reads at a time.
const READS_EACH: usize = 2;
/// A reader that reads answers pings between two pieces.
const READ_PATIENCE_MS: f64 = 20_000.0;
/// One that walks or decodes answers when it is done with its step.
const WORK_PATIENCE_MS: f64 = 120_000.0;
