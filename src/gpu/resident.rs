//! The batches of an engine. They come small, and a pass over resident frames is one dispatch a batch between
//! which the GPU runs empty: so neighbours are merged into few large ones, copied where they are.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    rc::Rc,
};

use super::{context::Context, decode::Decoded, planes::Batch, shift_table::ShiftTable};
use crate::{
    engine::frames::Place,
    error::{Error, Kind, Result},
};

#[derive(Debug)]
pub struct Resident {
    batches: RefCell<Vec<Rc<Batch>>>,
    shift_table: ShiftTable,
    /// Batches ever made; also the name of the next.
    made: Cell<u64>,
    /// No merge may begin: one is under way, or one failed.
    is_closed: Cell<bool>,
}

impl Resident {
    pub fn new(context: &Context) -> Self {
        let (batches, made, is_closed) = (RefCell::default(), Cell::new(0), Cell::new(false));
        Self { batches, shift_table: ShiftTable::new(context), made, is_closed }
    }

    /// Takes in what was decoded next: behind the frames before it, or where it lies.
    ///
    /// # Errors
    /// `Internal` for frames of a shared store that do not follow those before.
    pub fn add(&self, decoded: &Decoded, frames: &[u32], status: &[u32]) -> Result<()> {
        let Decoded { store, first_slot, len_words, blocks, .. } = decoded;
        let mut batches = self.batches.borrow_mut();
        let before = batches.last().filter(|last| last.lies_in(store) && last.slots() == *first_slot);
        let batch = match before {
            Some(before) => before.extended(*len_words, frames, status),
            None if *first_slot == 0 => {
                Batch::new(store.clone(), *len_words, *blocks, frames.to_vec(), status.to_vec())
            }
            None => return Err(Error::new(Kind::Internal, "frame_order", "Decoded frames came out of order")),
        };
        if before.is_some() {
            batches.pop();
        }
        batches.push(self.named(batch));
        Ok(())
    }

    /// All batches, in the order in which their frames came.
    pub fn all(&self) -> Vec<Rc<Batch>> {
        self.batches.borrow().clone()
    }

    /// What was added after the first `added` batches; `None` when some of it was merged with some of those.
    pub fn since(&self, added: usize) -> Option<Vec<Rc<Batch>>> {
        let batches = self.batches.borrow();
        let (mut first, mut earlier) = (0, 0);
        while earlier < added {
            earlier += batches.get(first)?.firsts.len();
            first += 1;
        }
        (earlier == added).then(|| batches[first..].to_vec())
    }

    /// The batch and the slot that hold a frame, by where it came.
    pub fn find(&self, place: Place) -> Option<(Rc<Batch>, u32)> {
        let mut number = place.batch as usize;
        for batch in self.batches.borrow().iter() {
            if let Some(first) = batch.firsts.get(number) {
                return Some((batch.clone(), first + place.slot));
            }
            number -= batch.firsts.len();
        }
        None
    }

    /// Merges neighbours: whenever [`MANY`] lie side by side, or all of them once no more will come; before that the
    /// last one may grow and stays. Memory is needed
    /// for one merged batch besides those that are there; where it is lacking the batches stay as they are, for good. True when
    /// there are other batches now.
    pub async fn merge(&self, context: &Context, is_complete: bool) -> bool {
        let mut is_changed = false;
        if self.is_closed.replace(true) {
            return is_changed;
        }
        let least = if is_complete { 2 } else { MANY };
        loop {
            let limit = MERGED_BYTES.min(context.max_binding_bytes()).min(context.ledger().free_bytes());
            let mut bytes: Vec<u64> = self.batches.borrow().iter().map(|batch| batch.record_bytes()).collect();
            bytes.truncate(bytes.len() - usize::from(!is_complete && !bytes.is_empty()));
            let Some(run) = run_of(&bytes, limit, least) else { break };
            let parts = self.batches.borrow()[run.clone()].to_vec();
            let merged = context.guarded("resident.merge", || self.merged(context, &parts)).await;
            let Ok(merged) = merged else { return is_changed };
            // Meanwhile batches were only added, behind these.
            let merged = self.named(merged);
            self.batches.borrow_mut().splice(run, [merged]);
            is_changed = true;
        }
        self.is_closed.set(false);
        is_changed
    }

    /// One batch with the records of all `parts`.
    fn merged(&self, context: &Context, parts: &[Rc<Batch>]) -> Result<Batch> {
        let merged = Batch::room_for(context, parts)?;
        let shifts = Batch::shifts(parts);
        let shifts = context.storage_of("resident.shifts", bytemuck::cast_slice(&shifts))?;
        let label = Some("resident.merge");
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        merged.copy_from(&mut encoder, parts);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None });
        self.shift_table.record(context, &mut pass, &shifts, merged.table());
        drop(pass);
        context.queue.submit([encoder.finish()]);
        Ok(merged)
    }

    fn named(&self, mut batch: Batch) -> Rc<Batch> {
        batch.id = self.made.get();
        self.made.set(batch.id + 1);
        Rc::new(batch)
    }
}

/// Neighbours that are merged while more are to come: each frame is copied once or twice during a load.
const MANY: usize = 8;
/// Records of a merged batch, at most.
const MERGED_BYTES: u64 = 1 << 30;

/// The first run of at least `least` neighbours that have at most `limit` bytes together.
fn run_of(bytes: &[u64], limit: u64, least: usize) -> Option<Range<usize>> {
    let run_from = |start: usize| {
        let mut sum = 0;
        let fits = |bytes: &&u64| {
            sum += **bytes;
            sum <= limit
        };
        start..start + bytes[start..].iter().take_while(fits).count()
    };
    (0..bytes.len()).map(run_from).find(|run| run.len() >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_merged_when_they_are_many_and_fit() {
        assert_eq!(run_of(&[3, 3, 3], 10, 4), None);
        assert_eq!(run_of(&[3, 3, 3, 1], 10, 4), Some(0..4));
        assert_eq!(run_of(&[9, 3, 3, 3, 3], 10, 3), Some(1..4));
        assert_eq!(run_of(&[10, 10, 11], 10, 2), None);
        assert_eq!(run_of(&[], 10, 2), None);
    }
}
