//! Sets of a series: found in one walk, read one at a time, in any order and again.

use std::rc::Rc;

use super::{Event, Loader, Path, SourceKind};
use crate::acquisition::{Acquisition, Options};

/// How a set of a series is read.
pub struct Reading {
    pub kind: SourceKind,
    pub path: Path,
    pub options: Options,
    pub started_ms: f64,
}

impl Loader {
    /// The sets that were offered last, to be read one by one.
    pub fn take_offer(&self) -> Option<Vec<Acquisition>> {
        self.offered.take().map(|offer| offer.sets)
    }

    /// Nothing more is heard of the load under way, nor of what it still reads.
    pub fn stop(&self) {
        self.supersede();
        self.pool.borrow().cancel();
    }

    /// Loads `set`, the `which`-th of the walk through the files that readers hold. Everything that happens goes to
    /// `sink`, in order; the last event is `Finished`.
    pub async fn read(&self, set: Acquisition, which: u32, how: Reading, sink: Rc<dyn Fn(Event)>) {
        let Reading { kind, path, options, started_ms } = how;
        let job = self.begin(path, options, kind, set.files.len() as u32, started_ms, sink);
        self.pool.borrow().cancel();
        self.load(job, which, set).await;
    }

    /// Gives back the memory that a next load would use again: nothing is open.
    pub async fn let_go(&self) {
        self.variants.clear();
        self.prepared.let_go().await;
    }
}
