//! Room for the records of many decodes, each of which writes behind the one before: nothing is copied, and no decode
//! waits for the size of another.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use wgpu::BufferUsages as Usage;

use super::{
    super::{Buffer, Context, planes::Store},
    batch::most_record_words,
    framing::{TOTALS, storage},
};
use crate::{engine::Slot, error::Result, shape::FrameLayout};

#[derive(Debug)]
pub struct Segment {
    pub store: Store,
    /// Words of the records so far, also of those for which there was no room; failed frames so far; parts that the last
    /// decode took.
    pub totals: Buffer,
    slots: u32,
    taken_slots: Cell<u32>,
    /// Bytes of records that are known to lie here, and those that decodes under way may add.
    known_bytes: Cell<u64>,
    promised_bytes: Cell<u64>,
}

impl Segment {
    /// Room for `slots` frames of `blocks` blocks and for `bytes` bytes of records.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    fn new(context: &Context, blocks: u32, slots: u32, bytes: u64) -> Result<Self> {
        let (usage, frames) = (Usage::STORAGE | Usage::COPY_SRC, u64::from(slots));
        let store = Store {
            words: Rc::new(context.buffer("decode.words", bytes, usage)?),
            table: Rc::new(context.buffer("decode.table", 4 * frames * u64::from(blocks), usage)?),
            slots: Rc::new(context.buffer("decode.slots", 8 * frames, usage)?),
        };
        let totals = storage(context, "decode.totals", TOTALS)?;
        let (taken_slots, known_bytes, promised_bytes) = Default::default();
        Ok(Self { store, totals, slots, taken_slots, known_bytes, promised_bytes })
    }

    /// Takes room for a decode of `slots` frames that probably makes `bytes` bytes: its first slot.
    fn take(&self, slots: u32, bytes: u64) -> Option<u32> {
        let first = self.taken_slots.get();
        let used = self.known_bytes.get() + self.promised_bytes.get();
        if slots > self.slots - first || used + bytes > self.store.words.size() {
            return None;
        }
        self.taken_slots.set(first + slots);
        self.promised_bytes.set(self.promised_bytes.get() + bytes);
        Some(first)
    }

    /// A decode for which `promised` bytes were taken has ended; there are `bytes` bytes of records now.
    pub fn settle(&self, promised: u64, bytes: u64) {
        self.promised_bytes.set(self.promised_bytes.get() - promised);
        self.known_bytes.set(self.known_bytes.get().max(bytes));
    }
}

/// Where a decode writes.
#[derive(Clone, Debug)]
pub struct Room {
    pub segment: Rc<Segment>,
    pub first_slot: u32,
    /// Bytes that its records probably take.
    pub bytes: u64,
}

impl Room {
    /// The first in `segment`, which was made for it at least.
    fn first(segment: Rc<Segment>, slots: u32, bytes: u64) -> Self {
        segment.taken_slots.set(slots);
        segment.promised_bytes.set(bytes);
        Self { segment, first_slot: 0, bytes }
    }
}

/// The segments of a decoder: one for each decode, or, where it is known what is to come, a few large ones.
#[derive(Debug)]
pub struct Segments {
    layout: FrameLayout,
    current: RefCell<Option<Rc<Segment>>>,
    /// What is still to come: compressed bytes, frames.
    left: Cell<Option<(u64, u32)>>,
    /// Bytes of records for a compressed byte, as it was so far.
    ratio: Cell<Option<f64>>,
}

impl Segments {
    pub fn new(layout: FrameLayout) -> Self {
        let (current, left, ratio) = Default::default();
        Self { layout, current, left, ratio }
    }

    /// Decodes of `frames` frames in all will follow, with `compressed_bytes` bytes; they share segments from now on,
    /// of which the first is made at once.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn expect(&self, context: &Context, compressed_bytes: u64, frames: u32) -> Result<()> {
        self.left.set(Some((compressed_bytes, frames)));
        let segment = self.shared(context, compressed_bytes, frames, 0)?;
        self.current.replace(Some(segment));
        Ok(())
    }

    /// Room for the next decode.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn room(&self, context: &Context, slots: &[Slot]) -> Result<Room> {
        let compressed: u64 = slots.iter().map(|slot| u64::from(slot.len_bytes)).sum();
        let (frames, bytes) = (slots.len() as u32, self.guess(compressed, slots.len() as u64));
        let Some((left_bytes, left_frames)) = self.left.get() else { return self.own(context, frames, bytes) };
        self.left.set(Some((left_bytes.saturating_sub(compressed), left_frames.saturating_sub(frames))));
        let kept = self.current.borrow().clone();
        if let Some(segment) = kept
            && let Some(first_slot) = segment.take(frames, bytes)
        {
            return Ok(Room { segment, first_slot, bytes });
        }
        let segment = self.shared(context, left_bytes, left_frames.max(frames), bytes)?;
        self.current.replace(Some(segment.clone()));
        Ok(Room::first(segment, frames, bytes))
    }

    /// Room for `frames` frames whose records take `bytes` bytes, and for nothing else.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn own(&self, context: &Context, frames: u32, bytes: u64) -> Result<Room> {
        let segment = Rc::new(Segment::new(context, self.layout.blocks(), frames, bytes)?);
        Ok(Room::first(segment, frames, bytes))
    }

    /// Nothing more is written to `segment`.
    pub fn close(&self, segment: &Rc<Segment>) {
        let mut current = self.current.borrow_mut();
        if current.as_ref().is_some_and(|current| Rc::ptr_eq(current, segment)) {
            *current = None;
        }
    }

    /// Learns how long records are.
    pub fn learn(&self, compressed_bytes: u64, bytes: u64) {
        if compressed_bytes > 0 {
            self.ratio.set(Some(bytes as f64 / compressed_bytes as f64));
        }
    }

    /// For what is left, at most [`MOST_BYTES`], at least `least_bytes`.
    fn shared(&self, context: &Context, compressed: u64, frames: u32, least_bytes: u64) -> Result<Rc<Segment>> {
        let most = MOST_BYTES.min(context.max_binding_bytes()).min(context.ledger().free_bytes() / 2);
        let bytes = self.guess(compressed, frames.into()).min(most).max(least_bytes);
        Segment::new(context, self.layout.blocks(), frames, bytes).map(Rc::new)
    }

    /// Bytes that records probably take: like those so far, or like most.
    fn guess(&self, compressed: u64, frames: u64) -> u64 {
        let bytes = match self.ratio.get() {
            Some(ratio) => (compressed as f64 * ratio * MARGIN) as u64 + MARGIN_BYTES,
            None => usual_bytes(&self.layout, compressed, frames),
        };
        bytes.min(4 * most_record_words(&self.layout) * frames).next_multiple_of(4)
    }
}

/// Bytes that the records of `frames` frames take, if they are like most: headers and bitmaps, and words about as long
/// as the compressed bytes.
pub fn usual_bytes(layout: &FrameLayout, compressed: u64, frames: u64) -> u64 {
    128 * frames * u64::from(layout.blocks()) + compressed + compressed / 4
}

/// Bytes of a segment's records, at most; a single decode may need more.
const MOST_BYTES: u64 = 1 << 30;
/// Records may become a little longer.
const MARGIN: f64 = 1.02;
const MARGIN_BYTES: u64 = 64 << 10;
