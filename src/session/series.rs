//! Several sets that are open together. Their files were walked once; each is read when the page asks for it, put out
//! when there is no room for it, and read again.

use std::rc::Rc;

use super::{Active, Ended, Session, remote};
use crate::{
    acquisition::{Acquisition, Options},
    engine::Engine,
    load::{Event, Path, Reading, SourceKind, now_ms},
    source::Picked,
};

/// The sets that are open: one, or those of a series.
#[derive(Default)]
pub(super) struct OpenSets {
    pub sets: Vec<Held>,
    /// The set on show.
    pub shown: usize,
    /// The set that is, or was last, read.
    pub reading: usize,
    /// Of a series, the files that readers have to hold.
    pub series: Option<SeriesFiles>,
}

pub(super) struct Held {
    pub set: Rc<Acquisition>,
    /// What it holds in memory; `None` when it was put out.
    pub active: Option<Active>,
}

pub(super) struct SeriesFiles {
    pub files: Vec<Picked>,
    pub kind: SourceKind,
    pub options: Options,
    /// As what they were picked.
    pub picked: (Vec<Picked>, SourceKind),
    /// When readers got them last, see [`Session::hands`].
    pub hand: u32,
}

impl Session {
    /// Opens all sets of `files` together, and waits until the first of them is read; a single one as any other.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn open_series(self: &Rc<Self>, files: Vec<Picked>, kind: SourceKind) -> Ended {
        self.open_with(files, kind, Options::default(), true).await
    }

    /// The same for files at these addresses.
    ///
    /// # Errors
    /// As [`Session::open_url`].
    pub async fn open_series_urls(self: &Rc<Self>, urls: &[String], kind: SourceKind) -> Ended {
        let files = remote::all(urls).await?;
        self.open_series(files, kind).await
    }

    /// Whether several sets are open together.
    pub fn is_series(&self) -> bool {
        self.open.borrow().series.is_some()
    }

    /// The place of the set that is, or was last, read.
    pub fn reading(&self) -> usize {
        self.open.borrow().reading
    }

    /// Whether the load under way is that of a set of the series, not of another opening.
    pub fn is_of_series(&self) -> bool {
        self.is_of_series.get()
    }

    /// Opens all sets that were offered.
    pub fn open_all(&self) {
        let Some(sets) = self.loader().take_offer() else { return };
        let sets: Vec<Rc<Acquisition>> = sets.into_iter().map(Rc::new).collect();
        let (files, kind) = self.held.borrow().clone();
        let series = SeriesFiles {
            files,
            kind,
            options: self.options(),
            picked: self.picked.borrow().clone(),
            hand: self.hands.get(),
        };
        let held = sets.iter().map(|set| Held { set: set.clone(), active: None }).collect();
        *self.open.borrow_mut() = OpenSets { sets: held, shown: 0, reading: 0, series: Some(series) };
        self.is_of_series.set(true);
        self.tell(&Event::Series(sets));
    }

    /// Reads the set at `place`; what is being read is no longer wanted.
    pub async fn read(self: &Rc<Self>, place: usize) {
        let (set, kind, options) = {
            let mut open = self.open.borrow_mut();
            let Some(set) = open.sets.get(place).map(|held| held.set.clone()) else { return };
            open.reading = place;
            let Some(series) = &mut open.series else { return };
            if series.hand != self.hands.get() {
                // Other files were looked at meanwhile.
                self.loader().hand_over(&series.files);
                self.picked.borrow_mut().clone_from(&series.picked);
                self.options.borrow_mut().clone_from(&series.options);
                series.hand = self.next_hand();
            }
            (set, series.kind, series.options.clone())
        };
        self.is_of_series.set(true);
        self.is_reading.set(true);
        let session = Rc::downgrade(self);
        let sink = Rc::new(move |event: Event| {
            if let Some(session) = session.upgrade() {
                session.note(event);
            }
        });
        let how = Reading { kind, path: self.path(), options, started_ms: now_ms() };
        self.loader().read((*set).clone(), place as u32, how, sink).await;
    }

    /// The patterns of the set at `place` go; if they are being read, that ends.
    pub fn put_out(&self, place: usize) {
        let mut open = self.open.borrow_mut();
        if self.is_of_series.get() && open.reading == place && self.is_reading.replace(false) {
            self.loader().stop();
        }
        if let Some(held) = open.sets.get_mut(place) {
            held.active = None;
        }
    }

    /// The set at `place` is on show from now on.
    pub fn show(&self, place: usize) {
        self.open.borrow_mut().shown = place;
    }

    /// The engine of the set at `place`, if that lies in memory.
    pub fn engine(&self, place: usize) -> Option<Rc<Engine>> {
        self.open.borrow().sets.get(place)?.active.as_ref().map(|active| active.engine.clone())
    }

    /// Sets are read on this path from now on.
    pub fn set_path(&self, path: Path) {
        self.path.set(path);
    }

    /// Closes everything and gives its memory back.
    pub fn close(&self) {
        let loader = self.loader();
        loader.stop();
        loader.hand_over(&[]);
        self.next_hand();
        *self.open.borrow_mut() = OpenSets::default();
        self.picked.take();
        self.held.take();
        self.options.take();
        self.profile.take();
        self.waiting.take();
        self.first_image.take();
        self.openings.set(self.openings.get() + 1);
        self.is_reading.set(false);
        wasm_bindgen_futures::spawn_local(async move { loader.let_go().await });
    }

    /// Counts that readers got other files.
    pub(super) fn next_hand(&self) -> u32 {
        self.hands.set(self.hands.get() + 1);
        self.hands.get()
    }
}
