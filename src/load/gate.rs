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

    /// Waits for room. Whoever stops waiting after room was made for it takes that room along, so a gate serves
    /// futures that end together.
    pub async fn enter(&self) -> Pass<'_> {
        if self.free.get() > 0 {
            self.free.set(self.free.get() - 1);
            return Pass(self);
        }
        let (sender, room) = oneshot::channel();
        self.waiting.borrow_mut().push_back(sender);
        // Whoever leaves hands over its place; the gate outlives those who wait.
        let _ = room.await;
        Pass(self)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        loop {
            let next = self.0.waiting.borrow_mut().pop_front();
            match next.map(|next| next.send(())) {
                Some(Ok(())) => return,
                Some(Err(())) => {}
                None => return self.0.free.set(self.0.free.get() + 1),
            }
        }
    }
}
