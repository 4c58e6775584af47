//! The buffers that a reader fills and the page gives back: the same memory again and again.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use futures_channel::oneshot;
use js_sys::ArrayBuffer;

/// Buffers of one size.
#[derive(Default)]
pub struct Buffers {
    /// Those that came back from the page, and the jobs that wait for one.
    free: RefCell<Vec<ArrayBuffer>>,
    waiting: RefCell<VecDeque<oneshot::Sender<ArrayBuffer>>>,
    /// Buffers that are about.
    made: Cell<u32>,
    /// Size of each.
    bytes: Cell<u32>,
}

impl Buffers {
    /// A free buffer of `bytes`; waits for one to come back when all are under way.
    pub async fn take(&self, bytes: u32) -> ArrayBuffer {
        if self.bytes.replace(bytes) != bytes {
            self.made.set(0);
            self.free.take();
        }
        if let Some(buffer) = self.free.borrow_mut().pop() {
            return buffer;
        }
        if self.made.get() < MOST {
            self.made.set(self.made.get() + 1);
            return ArrayBuffer::new(bytes);
        }
        let (sender, returned) = oneshot::channel();
        self.waiting.borrow_mut().push_back(sender);
        // The sender lives as long as the reader.
        returned.await.unwrap_or_else(|_| ArrayBuffer::new(bytes))
    }

    /// Gives a buffer to the job that has waited longest, or keeps it. One of another size is dropped.
    pub fn put_back(&self, mut buffer: ArrayBuffer) {
        if buffer.byte_length() != self.bytes.get() {
            return;
        }
        loop {
            let waiting = self.waiting.borrow_mut().pop_front();
            match waiting.map(|waiting| waiting.send(buffer.clone())) {
                Some(Ok(())) => return,
                Some(Err(unsent)) => buffer = unsent,
                None => return self.free.borrow_mut().push(buffer),
            }
        }
    }

    /// One will not come back.
    pub fn lose(&self) {
        self.made.set(self.made.get().saturating_sub(1));
    }
}

/// Buffers that a reader has under way: enough to read ahead while the page copies.
const MOST: u32 = 6;
