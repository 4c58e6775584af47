//! Lets so many through at a time, in the order of their coming.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
};

use futures_channel::oneshot;

pub struct Gate {
    free: Cell<usize>,
    waiting: RefCell<VecDeque<oneshot::Sender<()>>>,
}

/// Who has come through; makes room when dropped.
pub struct Pass<'a>(&'a Gate);

impl Gate {
    pub fn new(most: usize) -> Self {
        Self { free: Cell::new(most), waiting: RefCell::default() }
    }

    pub async fn enter(&self) -> Pass<'_> {
        if self.free.get() == 0 {
            let (sender, room) = oneshot::channel();
            self.waiting.borrow_mut().push_back(sender);
            // Whoever leaves hands over its place; the gate outlives those who wait.
            let _ = room.await;
        } else {
            self.free.set(self.free.get() - 1);
        }
        Pass(self)
    }
}

impl Gate {
    fn next_waiting(&self) -> Option<oneshot::Sender<()>> {
        self.waiting.borrow_mut().pop_front()
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        while let Some(next) = self.0.next_waiting() {
            if next.send(()).is_ok() {
                return;
            }
        }
        self.0.free.set(self.0.free.get() + 1);
    }
}
