//! Where every frame lies, and what is known of it.

use crate::{
    engine::{FrameFault, FrameState, Frames},
    error::{Error, Kind, Result},
    shape::{Detector, FrameLayout},
};

/// Frame -> (batch, slot) and state. Grows by batches; a frame becomes valid at most once.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    states: Vec<FrameState>,
    places: Vec<Place>,
    faults: Vec<FrameFault>,
    batches: u32,
}

/// The slot of a decoded frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub batch: u32,
    pub slot: u32,
}

impl FrameTable {
    /// `frames` frames, all unread.
    pub fn new(frames: u32) -> Self {
        let len = frames as usize;
        Self { states: vec![FrameState::Unread; len], places: vec![Place::default(); len], ..Self::default() }
    }

    /// Takes in the next batch: slot i holds frame `frames[i]`, valid where `status[i]` is 0.
    ///
    /// # Errors
    /// `Internal` for a frame beyond the acquisition, or one that is valid already; nothing is taken in then.
    pub fn add(&mut self, frames: &[u32], status: &[u32]) -> Result<()> {
        for &frame in frames {
            match self.states.get(frame as usize) {
                Some(FrameState::Valid | FrameState::Sentinel) | None => return Err(unexpected(frame)),
                Some(_) => {}
            }
        }
        for (slot, (&frame, &status)) in (0..).zip(frames.iter().zip(status)) {
            let at = frame as usize;
            self.places[at] = Place { batch: self.batches, slot };
            self.states[at] = if status == 0 { FrameState::Valid } else { FrameState::Failed };
            self.faults.retain(|fault| fault.frame != frame);
            if status != 0 {
                self.faults.push(FrameFault::of_status(frame, status));
            }
        }
        self.batches += 1;
        Ok(())
    }

    /// Frames whose chunks never came to a decoder.
    pub fn fail(&mut self, faults: &[FrameFault]) {
        for fault in faults {
            if let Some(state) = self.states.get_mut(fault.frame as usize).filter(|state| **state == FrameState::Unread)
            {
                *state = FrameState::Failed;
                self.faults.push(*fault);
            }
        }
    }

    /// Frames that turned out to hold sentinels only; they count as missing from now on.
    pub fn exclude(&mut self, frames: &[u32]) {
        self.change(frames, FrameState::Valid, FrameState::Sentinel);
    }

    /// Frames that are in no file.
    pub fn set_missing(&mut self, frames: &[u32]) {
        self.change(frames, FrameState::Unread, FrameState::Missing);
    }

    fn change(&mut self, frames: &[u32], from: FrameState, to: FrameState) {
        for &frame in frames {
            if let Some(state) = self.states.get_mut(frame as usize).filter(|state| **state == from) {
                *state = to;
            }
        }
    }

    pub fn len(&self) -> u32 {
        self.states.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub fn states(&self) -> &[FrameState] {
        &self.states
    }

    pub fn state(&self, frame: u32) -> FrameState {
        self.states.get(frame as usize).copied().unwrap_or(FrameState::Missing)
    }

    pub fn faults(&self) -> &[FrameFault] {
        &self.faults
    }

    /// Where the planes of a decoded frame lie, sentinel frames included.
    pub fn place(&self, frame: u32) -> Option<Place> {
        let decoded = matches!(self.state(frame), FrameState::Valid | FrameState::Sentinel);
        decoded.then(|| self.places[frame as usize])
    }

    /// 1 for every valid frame.
    pub fn valid(&self) -> Vec<u8> {
        self.states.iter().map(|&state| u8::from(state == FrameState::Valid)).collect()
    }

    /// The valid frames of `frames`: bit f % 32 of word f / 32 is frame f.
    pub fn select(&self, frames: &Frames) -> Vec<u32> {
        self.bits(|frame, state| state == FrameState::Valid && frames.contains(frame))
    }

    /// The decoded frames among `frames`, sentinel frames included.
    pub fn decoded(&self, frames: &[u32]) -> Vec<u32> {
        let mut words = vec![0; self.states.len().div_ceil(32)];
        for &frame in frames.iter().filter(|&&frame| self.place(frame).is_some()) {
            words[frame as usize / 32] |= 1 << (frame % 32);
        }
        words
    }

    fn bits(&self, holds: impl Fn(u32, FrameState) -> bool) -> Vec<u32> {
        let word = |(first, states): (u32, &[FrameState])| {
            (0..32).zip(states).map(|(i, &state)| u32::from(holds(first + i, state)) << i).sum()
        };
        (0..).step_by(32).zip(self.states.chunks(32)).map(word).collect()
    }
}

/// Refuses what the passes over planes cannot hold exactly: floats, and detectors so large or long that sums of rows
/// or columns could overflow.
///
/// # Errors
/// `Unsupported`, with what was found and what is read.
pub fn check_layout(layout: &FrameLayout) -> Result<()> {
    if layout.dtype.is_float() {
        return Err(Error::new(Kind::Unsupported, "float_data", "Floating-point patterns cannot be shown yet")
            .expected("integers of 8, 16 or 32 bits")
            .found(layout.dtype.name())
            .action("If the values are counts, store them as integers: in h5py, dataset[...].astype(\"u4\")"));
    }
    let Detector { rows, cols } = layout.detector;
    let pixels = u64::from(rows) * u64::from(cols);
    let longest = rows.max(cols);
    let is_large = longest > MOST_PX || pixels.saturating_mul(longest.into()) >= 1 << 37;
    if pixels == 0 || is_large || !fits(layout) {
        return Err(Error::new(Kind::Unsupported, "detector_shape", "Patterns of this shape cannot be shown")
            .expected("1 x 1 to about 5000 x 5000 pixels, no side above 16384, in blocks of a multiple of 8")
            .found(format!("{rows} x {cols}, in blocks of {}", layout.block_px)));
    }
    Ok(())
}

/// Longest side of a detector, px.
const MOST_PX: u32 = 1 << 14;

fn fits(layout: &FrameLayout) -> bool {
    layout.block_px > 0 && layout.block_px.is_multiple_of(8)
}

fn unexpected(frame: u32) -> Error {
    Error::new(Kind::Internal, "frame_twice", "A frame came twice, or lies beyond the scan")
        .at(format!("frame {frame}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::ChunkFault,
        shape::{Dtype, Scan},
    };

    #[test]
    fn floats_and_blocks_that_are_no_multiple_of_8_are_refused() {
        let layout = |dtype, block_px| FrameLayout { detector: Detector { rows: 4, cols: 4 }, dtype, block_px };
        assert_eq!(check_layout(&layout(Dtype::F32, 8)).expect_err("a float").key, "float_data");
        assert_eq!(check_layout(&layout(Dtype::U8, 12)).expect_err("12 pixels").key, "detector_shape");
        assert!(check_layout(&layout(Dtype::I32, 8)).is_ok());
    }

    #[test]
    fn a_failed_frame_has_a_fault_and_no_place_until_it_comes_again() {
        let mut table = FrameTable::new(40);
        table.add(&[33, 2], &[0, 7 | 5 << 8]).expect("both are new");
        assert_eq!(table.faults(), [FrameFault { frame: 2, fault: ChunkFault::InputOverrun, block: 5 }]);
        assert_eq!((table.state(2), table.place(2)), (FrameState::Failed, None));
        table.add(&[2], &[0]).expect("a failed frame may come again");
        assert_eq!((table.faults(), table.place(2)), (&[][..], Some(Place { batch: 1, slot: 0 })));
        assert_eq!(table.select(&Frames::All), [1 << 2, 1 << 1]);
    }

    #[test]
    fn a_valid_frame_never_comes_twice() {
        let mut table = FrameTable::new(3);
        table.add(&[1], &[0]).expect("new");
        assert_eq!(table.add(&[0, 1], &[0, 0]).expect_err("frame 1 is there").key, "frame_twice");
        assert_eq!(table.add(&[3], &[0]).expect_err("there are 3 frames").key, "frame_twice");
        assert_eq!(table.states(), [FrameState::Unread, FrameState::Valid, FrameState::Unread]);
    }

    #[test]
    fn sentinel_frames_are_not_selected_but_can_be_looked_at() {
        let mut table = FrameTable::new(6);
        table.add(&[0, 1, 2, 5], &[0; 4]).expect("new");
        table.exclude(&[1, 3]);
        table.set_missing(&[4, 5]);
        let rect = Frames::Rect { scan: Scan { rows: 2, cols: 3 }, rows: 0..2, cols: 1..3 };
        assert_eq!(table.select(&rect), [1 << 2 | 1 << 5]);
        assert_eq!(table.decoded(&[1, 4]), [1 << 1]);
        assert_eq!(table.states()[3..], [FrameState::Unread, FrameState::Missing, FrameState::Valid]);
        assert_eq!(table.valid(), [1, 0, 1, 0, 0, 1]);
    }
}
