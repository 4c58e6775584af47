//! Several sets on the page's state, without a page: what is read and put out, what each panel shows, what is shared.

mod made;

use std::{collections::BTreeSet, rc::Rc};

use planescope::{
    Error, Kind,
    acquisition::{Acquisition, UsedFile},
    app::{
        App, Ask, Command, Computer, Effect, Event, Lane, Panel, Stage,
        event::{Answer, Button, Entry, Memory},
        series::Mark,
        state::Product,
    },
    engine::{FrameState, Moments, Pattern, PatternMax, PatternSquares, PatternSum, ScanSquares, ScanSums},
    products::{DetectorShape, Flip},
    shape::{Detector, Scan},
};

const DETECTOR: Detector = Detector { rows: 16, cols: 16 };
const SCAN: Scan = Scan { rows: 3, cols: 4 };
const FRAMES: usize = 12;
/// What every set takes.
const BYTES: u64 = 1000;

/// A page with a series, and the memory of an engine for each set.
struct Bench {
    app: App,
    now_ms: f64,
    asked: Vec<(u32, Lane, Ask)>,
    resident: BTreeSet<usize>,
    reading: Option<usize>,
    shown: usize,
    /// Everything that was read, in order.
    read: Vec<usize>,
    closed: Vec<usize>,
    is_closed: bool,
}

impl Bench {
    /// Four sets, with room for so many.
    fn open(room: u64) -> Self {
        let mut app = App::default();
        app.sides = [320.0; 2];
        let (now_ms, asked, resident, reading, shown, read, closed, is_closed) = Default::default();
        let mut bench = Self { app, now_ms, asked, resident, reading, shown, read, closed, is_closed };
        bench.send(Event::Computer(Computer { memory: room * BYTES, ..Computer::default() }));
        bench.send(Event::Opening { files: 12 });
        let sets = ["s_+5deg", "s_-5deg", "s_0deg", "s_10deg"].map(|name| Rc::new(acquisition(name)));
        bench.send(Event::Choice(sets.to_vec()));
        assert!(bench.reading.is_none(), "the user has not chosen");
        bench.send(Event::Do(Command::OpenAll));
        bench.send(Event::Series(sets.to_vec()));
        bench
    }

    /// The same, once nothing is left to do.
    fn settled(room: u64) -> Self {
        let mut bench = Self::open(room);
        bench.settle();
        bench
    }

    fn send(&mut self, event: Event) {
        self.now_ms += 1000.0;
        for effect in self.app.update(self.now_ms, event) {
            match effect {
                Effect::Ask { set_id, lane, ask } => self.asked.push((set_id, lane, ask)),
                Effect::Read(place) => {
                    self.reading = Some(place);
                    self.read.push(place);
                }
                Effect::PutOut(place) => {
                    self.resident.remove(&place);
                    self.reading = self.reading.filter(|reading| *reading != place);
                }
                Effect::Show(place) => self.shown = place,
                Effect::CloseSet(place) => {
                    self.resident.remove(&place);
                    self.closed.push(place);
                }
                Effect::CloseAll => {
                    self.resident.clear();
                    (self.is_closed, self.reading) = (true, None);
                }
                _ => {}
            }
        }
        self.app.frame(self.now_ms);
    }

    fn tell(&mut self, place: usize, event: Event) {
        self.send(Event::Member { place, event: Box::new(event) });
    }

    /// The set that is being read has an engine.
    fn begin(&mut self) -> usize {
        let place = self.reading.expect("something is read");
        self.resident.insert(place);
        self.tell(place, Event::Metadata(self.app_set(place)));
        place
    }

    fn app_set(&self, place: usize) -> Rc<Acquisition> {
        let names = ["s_+5deg", "s_-5deg", "s_0deg", "s_10deg"];
        Rc::new(acquisition(names[place]))
    }

    /// What is being read is read to its end.
    fn finish(&mut self) {
        let place = self.begin();
        self.tell(place, Event::FirstBatch);
        self.tell(place, Event::Memory(Memory { on_cpu: false, bytes: BYTES, budget: 0 }));
        self.reading = None;
        self.tell(place, Event::Done);
    }

    fn answer_all(&mut self) {
        for _ in 0..300 {
            if self.asked.is_empty() {
                return;
            }
            self.answer();
        }
        panic!("questions never end: {:?}", self.asked);
    }

    /// Answers the oldest question; sums of a set are as many times larger as its place says.
    fn answer(&mut self) {
        let (set_id, lane, ask) = self.asked.remove(0);
        let place = self.app.place_of(set_id).expect("a set that is open");
        let times = place as u64 + 1;
        let (valid, sums) = (vec![1; FRAMES], (0..FRAMES as u64).map(|frame| frame * times).collect::<Vec<_>>());
        let answer = match ask {
            Ask::Sums(product, pixels) => {
                let sum = sums.iter().map(|sum| sum * u64::from(pixels.count())).collect();
                Answer::Sums(product, ScanSums { sum, valid })
            }
            Ask::Moments(_) => {
                Answer::Moments(Moments { sum: sums.clone(), sum_row: sums.clone(), sum_col: sums, valid })
            }
            Ask::Segments(all) => {
                Answer::Segments(all.iter().map(|_| ScanSums { sum: sums.clone(), valid: valid.clone() }).collect())
            }
            Ask::Phase(field, _) => Answer::Phase(field.x.clone()),
            Ask::Pattern(frame) => {
                Answer::Pattern(frame, Pattern { pixels: vec![times as u32; 256], state: FrameState::Valid })
            }
            Ask::Patterns(_) => Answer::Patterns(bright_disc(times)),
            Ask::MaxPattern(_) => Answer::MaxPattern(PatternMax { max: vec![9; 256], frames: FRAMES as u32 }),
            Ask::Squares(pixels) => {
                let square = sums.iter().map(|sum| u128::from(*sum)).collect();
                Answer::Squares(pixels.count(), ScanSquares { sum: sums, square, valid })
            }
            Ask::SquarePattern(_) => {
                let total = bright_disc(times);
                let square = total.sum.iter().map(|sum| u128::from(*sum)).collect();
                Answer::SquarePattern(PatternSquares { total, square })
            }
            Ask::Spectrum { values, .. } => Answer::Spectrum(values.to_vec()),
        };
        let states = vec![FrameState::Valid; FRAMES];
        self.send(Event::Answered { set_id, lane, answer: Ok(answer), states, faults: vec![], ms: 1.0 });
    }

    /// Reads and answers until nothing is left to do.
    fn settle(&mut self) {
        for _ in 0..40 {
            self.answer_all();
            if self.reading.is_none() {
                return;
            }
            self.finish();
        }
        panic!("reading never ends: {:?}", self.read);
    }

    fn press(&mut self, command: Command) {
        self.send(Event::Do(command));
    }

    /// Places of the panels, in order.
    fn panels(&self) -> Vec<usize> {
        self.app.tiles().iter().map(|tile| tile.place).collect()
    }

    fn marks(&self) -> Vec<Mark> {
        self.app.listed_sets().iter().map(|tile| tile.mark).collect()
    }

    /// Every value of every picture on screen.
    fn pictures(&self) -> Vec<Vec<f64>> {
        let picture = |&place: &usize| match place == self.app.active_place() {
            true => self.app.image.as_ref().map(|shown| shown.field.values.clone()),
            false => self.app.tile_picture(place, 100.0).and_then(|(shown, _)| Some(shown?.field.values.clone())),
        };
        self.panels().iter().map(|place| picture(place).unwrap_or_default()).collect()
    }

    /// Right pictures for a detector of so many pixels.
    fn right(&self, pixels: u64) -> Vec<Vec<f64>> {
        let of =
            |place: &usize| (0..FRAMES as u64).map(|frame| (frame * (*place as u64 + 1) * pixels) as f64).collect();
        self.panels().iter().map(of).collect()
    }
}

fn acquisition(name: &str) -> Acquisition {
    let file = UsedFile { name: name.into(), len_bytes: BYTES, len_announced: None, picked: 0 };
    Acquisition { files: vec![file], ..made::acquisition(&format!("{name}_master.h5"), DETECTOR, SCAN) }
}

fn bright_disc(times: u64) -> PatternSum {
    made::bright_disc(DETECTOR, [8.0, 7.0 + times as f64 / 2.0], 4.0, FRAMES as u32)
}

/// Pixels of a detector of this outer radius about (8, 8).
fn disc(outer: f64) -> (DetectorShape, u64) {
    let shape = DetectorShape::Disc { centre: [8.0, 8.0], inner: 0.0, outer };
    let pixels = shape.pixels(DETECTOR).count().into();
    (shape, pixels)
}

fn set_detector(bench: &mut Bench, outer: f64) -> u64 {
    let (shape, pixels) = disc(outer);
    let mut state = bench.app.state.clone();
    (state.product, state.custom) = (Product::Custom, Some(shape));
    bench.send(Event::SetState(Box::new(state)));
    pixels
}

#[test]
fn all_sets_open_in_the_order_of_their_angles_and_every_panel_shows_its_picture() {
    let mut bench = Bench::settled(9);
    assert_eq!(bench.read, [1, 2, 0, 3], "the first one, then its neighbours");
    let labels: Vec<&str> = bench.app.tiles().iter().map(|tile| tile.member.label.as_str()).collect();
    assert_eq!((labels, bench.shown), (vec!["−5°", "0°", "5°", "10°"], 1));
    assert_eq!((bench.app.stage(), bench.app.series_line().as_str()), (Stage::Set, "set 1 of 4"));
    assert_eq!(bench.app.resident_bytes(), 4 * BYTES);
    let pixels = set_detector(&mut bench, 3.0);
    let asked = bench.asked.iter().filter(|(_, lane, _)| *lane == Lane::Image).count();
    assert_eq!(asked, 4, "one question for each panel, at once");
    bench.answer_all();
    assert_eq!(bench.pictures(), bench.right(pixels));
}

#[test]
fn with_room_for_three_every_picture_comes_and_one_set_is_put_out() {
    let bench = Bench::settled(3);
    assert_eq!(bench.read, [1, 3, 0, 2], "the farthest first, so that the nearest stay");
    assert_eq!(bench.resident, BTreeSet::from([0, 1, 2]));
    assert_eq!(bench.marks(), [Mark::Resident, Mark::Resident, Mark::Resident, Mark::Out]);
    assert!(bench.pictures().iter().all(|values| values.len() == FRAMES), "{:?}", bench.pictures());
}

#[test]
fn a_scrub_to_a_set_that_was_put_out_shows_its_last_picture_and_reads_it_again() {
    let mut bench = Bench::settled(3);
    let before = bench.pictures();
    bench.read.clear();
    bench.send(Event::Scrub(3));
    assert_eq!((bench.app.active_place(), bench.shown, bench.reading), (3, 3, Some(3)));
    assert_eq!(bench.pictures(), before, "nothing is blank");
    assert_eq!(bench.app.stage(), Stage::Set, "and the page stays as it is");
    let place = bench.begin();
    bench.tell(place, Event::FirstBatch);
    assert!(bench.asked.is_empty(), "a part of it is no picture: {:?}", bench.asked);
    assert_eq!(bench.pictures(), before);
    bench.settle();
    assert_eq!(bench.read, [3]);
    assert_eq!(bench.resident, BTreeSet::from([0, 2, 3]), "the farthest one went");
    assert_eq!(bench.pictures(), before, "the same counts");
}

#[test]
fn a_new_detector_reaches_sets_that_were_put_out_too() {
    let mut bench = Bench::settled(3);
    let pixels = set_detector(&mut bench, 2.0);
    assert_eq!(bench.marks()[3], Mark::OutOfDate);
    assert_eq!(bench.reading, None, "answers of other sets are waited for first");
    bench.settle();
    assert_eq!(bench.pictures(), bench.right(pixels));
    assert_eq!(bench.resident, BTreeSet::from([0, 1, 2]), "and the nearest are there again");
}

#[test]
fn while_the_pointer_holds_the_detector_nothing_is_read_for_later() {
    let mut bench = Bench::settled(3);
    bench.send(Event::Press { panel: Panel::Image, at: [5.0, 5.0], button: Button::Main, reach: 4.0 });
    assert!(bench.app.hold.is_some());
    set_detector(&mut bench, 2.0);
    bench.answer_all();
    assert_eq!(bench.reading, None);
    bench.send(Event::Release);
    assert_eq!(bench.reading, Some(3));
}

#[test]
fn what_is_looked_at_goes_before_what_is_read_for_later() {
    let mut bench = Bench::open(9);
    bench.answer_all();
    bench.finish();
    bench.answer_all();
    assert_eq!(bench.reading, Some(2));
    bench.begin();
    bench.send(Event::Scrub(3));
    assert_eq!(bench.reading, Some(3));
    assert!(!bench.resident.contains(&2), "what was begun is dropped");
    bench.tell(2, Event::Done);
    assert_eq!(bench.reading, Some(3), "and heard no more of");
    bench.settle();
    assert_eq!(bench.resident, BTreeSet::from([0, 1, 2, 3]));
    let pixels = set_detector(&mut bench, 3.0);
    bench.settle();
    assert_eq!(bench.pictures(), bench.right(pixels));
}

#[test]
fn a_smaller_budget_puts_out_at_once_and_a_wrong_one_says_why() {
    let mut bench = Bench::settled(9);
    bench.send(Event::Enter(Entry::Budget, "0.000002 GB".into()));
    assert_eq!((bench.app.budget_bytes(), bench.app.resident_bytes()), (2000, 2000));
    assert_eq!(bench.resident, BTreeSet::from([1, 2]), "the active one and its neighbour");
    bench.send(Event::Enter(Entry::Budget, "two".into()));
    assert!(bench.app.wrong_entry.is_some());
    bench.send(Event::Enter(Entry::Budget, String::new()));
    assert_eq!(bench.app.budget_bytes(), 9 * BYTES);
    bench.settle();
    assert_eq!(bench.resident.len(), 4);
}

#[test]
fn links_decide_what_is_shared() {
    let mut bench = Bench::settled(9);
    bench.press(Command::Link(0));
    bench.press(Command::Link(1));
    let pixels = set_detector(&mut bench, 3.0);
    let mut state = bench.app.state.clone();
    state.cursor = Some([2, 2]);
    bench.send(Event::SetState(Box::new(state)));
    bench.answer_all();
    let own: Vec<bool> =
        bench.pictures().iter().zip(bench.right(pixels)).map(|(found, right)| *found == right).collect();
    assert_eq!(own, [true, false, false, false], "the detector is the active set's own");
    let cursors: Vec<_> = bench.panels().iter().map(|&place| bench.app.tile_cursor(place)).collect();
    assert_eq!(cursors, [Some([2, 2]), Some([1, 2]), Some([1, 2]), Some([1, 2])]);
    bench.press(Command::NextSet(1));
    assert_eq!((bench.app.state.cursor, &bench.app.state.custom), (None, &None), "each has its own");
    bench.press(Command::NextSet(-1));
    assert_eq!(bench.app.state.cursor, Some([2, 2]));
    bench.press(Command::Link(0));
    bench.press(Command::Link(1));
    bench.settle();
    assert_eq!(bench.pictures(), bench.right(pixels), "linked again: that of the active set holds");
    bench.press(Command::NextSet(1));
    assert_eq!(bench.app.state.cursor, Some([2, 2]));
}

#[test]
fn an_automatic_range_holds_for_all_pictures_unless_they_have_their_own() {
    let mut bench = Bench::settled(9);
    set_detector(&mut bench, 3.0);
    bench.answer_all();
    let limits = |bench: &Bench| -> Vec<f64> {
        let of = |&place: &usize| match place == bench.app.active_place() {
            true => bench.app.image.as_ref().map(|shown| shown.limits.high),
            false => bench.app.tile_picture(place, 100.0).and_then(|(shown, _)| Some(shown?.limits.high)),
        };
        bench.panels().iter().filter_map(of).collect()
    };
    let shared = limits(&bench);
    assert!(shared.len() == 4 && shared.iter().all(|high| *high == shared[0]), "{shared:?}");
    bench.press(Command::Link(2));
    let own = limits(&bench);
    assert!(own[0] != own[1], "{own:?}");
    assert_eq!(own.iter().copied().fold(0.0, f64::max), shared[0], "all of them fit into the shared one");
}

#[test]
fn stars_hiding_and_order_are_steps_that_can_be_undone() {
    let mut bench = Bench::settled(9);
    assert_eq!(bench.panels(), [1, 2, 0, 3]);
    bench.press(Command::MoveSet(1));
    assert_eq!(bench.panels(), [2, 1, 0, 3]);
    bench.send(Event::MoveSet { place: 3, to: 0 });
    assert_eq!(bench.panels(), [3, 2, 1, 0]);
    bench.press(Command::HideSet(2));
    bench.send(Event::MoveSet { place: 3, to: 1 });
    assert_eq!((bench.panels(), bench.app.hidden_sets()), (vec![1, 3, 0], 1));
    bench.press(Command::HideActive);
    assert_eq!((bench.panels(), bench.app.active_place()), (vec![3, 0], 3), "its neighbour is looked at");
    bench.press(Command::ShowHidden);
    assert_eq!(bench.panels(), [2, 1, 3, 0], "hidden ones kept their places");
    bench.press(Command::Star);
    bench.press(Command::StarSet(0));
    bench.press(Command::NextSet(-1));
    bench.press(Command::OnlyStarred);
    assert_eq!((bench.panels(), bench.app.active_place()), (vec![3, 0], 3));
    bench.press(Command::StarSet(0));
    assert_eq!(bench.panels(), [3]);
    for _ in 0..10 {
        bench.press(Command::Undo);
    }
    assert_eq!((bench.panels(), bench.app.hidden_sets()), (vec![1, 2, 0, 3], 0));
}

#[test]
fn fewer_panels_follow_the_active_set() {
    let mut bench = Bench::settled(9);
    bench.press(Command::Panels(2));
    assert_eq!(bench.panels(), [1, 2]);
    bench.send(Event::Scrub(2));
    assert_eq!(bench.panels(), [2, 0]);
    bench.send(Event::Scrub(1));
    assert_eq!(bench.panels(), [2, 0], "it is among them already");
    bench.press(Command::Grid);
    assert_eq!(bench.panels(), [2]);
    bench.press(Command::Grid);
    assert_eq!(bench.panels().len(), 2);
}

#[test]
fn sets_are_played_from_picture_to_picture_and_without_end() {
    let mut bench = Bench::settled(3);
    bench.read.clear();
    bench.press(Command::PlaySeries);
    let mut seen = vec![];
    for _ in 0..6 {
        seen.push(bench.app.active_place());
        bench.send(Event::Tick);
        bench.answer_all();
    }
    assert_eq!(seen, [1, 2, 0, 3, 1, 2]);
    assert!(bench.read.is_empty(), "all pictures were there");
    bench.press(Command::Escape);
    assert!(!bench.app.is_playing());
    bench.settle();
    assert!(bench.resident.contains(&bench.app.active_place()));
}

#[test]
fn a_closed_set_gives_back_its_memory_and_the_last_one_everything() {
    let mut bench = Bench::settled(9);
    bench.press(Command::CloseActive);
    assert_eq!((&bench.closed, bench.panels(), bench.app.active_place()), (&vec![1], vec![2, 0, 3], 2));
    assert_eq!(bench.app.resident_bytes(), 3 * BYTES);
    bench.press(Command::CloseSet(0));
    bench.press(Command::CloseSet(2));
    assert_eq!((bench.panels(), bench.app.stage()), (vec![3], Stage::Set));
    bench.press(Command::CloseActive);
    assert!(bench.is_closed && bench.resident.is_empty() && bench.app.series.is_none());
    assert_eq!((bench.app.stage(), bench.app.image.is_none()), (Stage::Empty, true));
}

#[test]
fn a_set_that_cannot_be_read_is_marked_and_the_others_go_on() {
    let mut bench = Bench::open(9);
    bench.answer_all();
    bench.finish();
    bench.answer_all();
    let error = Error::new(Kind::Io, "unreadable", "The file cannot be read");
    bench.reading = None;
    bench.tell(2, Event::Failed(error.clone()));
    bench.settle();
    assert_eq!(bench.marks(), [Mark::Resident, Mark::Failed, Mark::Resident, Mark::Resident]);
    assert!(bench.app.messages.is_empty(), "what is looked at is whole");
    bench.read.clear();
    bench.press(Command::NextSet(1));
    assert!(bench.app.messages.iter().any(|message| message.error == error));
    assert_eq!(bench.read, [2], "looked at, it is tried once more");
    bench.settle();
    assert_eq!(bench.marks()[1], Mark::Resident);
}

#[test]
fn reading_that_the_user_stops_stays_stopped_until_another_set_is_looked_at() {
    let mut bench = Bench::open(9);
    let place = bench.begin();
    bench.tell(place, Event::FirstBatch);
    bench.reading = None;
    bench.tell(place, Event::Cancelled);
    bench.answer_all();
    assert_eq!((bench.reading, bench.app.stage()), (None, Stage::Set));
    bench.press(Command::ReadTheRest);
    assert_eq!((bench.reading, bench.app.stage()), (Some(1), Stage::Reading));
    bench.settle();
    assert_eq!(bench.resident.len(), 4);
}

#[test]
fn after_a_gpu_was_lost_the_pictures_stay_and_everything_is_read_again() {
    let mut bench = Bench::settled(9);
    let before = bench.pictures();
    bench.read.clear();
    bench.send(Event::GpuLost);
    assert!(bench.resident.is_empty() && bench.reading.is_none() && bench.app.rebuilding);
    assert_eq!(bench.pictures(), before);
    bench.send(Event::Computer(Computer { memory: 9 * BYTES, ..Computer::default() }));
    bench.settle();
    assert_eq!((bench.read.as_slice(), bench.app.rebuilding), ([1, 2, 0, 3].as_slice(), false));
    assert_eq!(bench.pictures(), before);
}

#[test]
fn a_flip_turns_the_detectors_of_all_sets() {
    let mut bench = Bench::settled(9);
    bench.press(Command::Link(0));
    set_detector(&mut bench, 3.0);
    bench.press(Command::NextSet(1));
    set_detector(&mut bench, 2.0);
    bench.settle();
    bench.press(Command::Flip(Flip::Columns));
    bench.press(Command::NextSet(-1));
    let centre = match &bench.app.state.custom {
        Some(DetectorShape::Disc { centre, .. }) => *centre,
        other => panic!("{other:?}"),
    };
    assert_eq!(centre, [8.0, 7.0]);
}

#[test]
fn opening_something_else_ends_the_series() {
    let mut bench = Bench::open(9);
    bench.begin();
    bench.send(Event::Opening { files: 1 });
    assert!(bench.reading.is_none() && bench.resident.is_empty(), "what was read is dropped");
    assert!(bench.app.series.is_some(), "the series stays until the other set is known");
    bench.send(Event::Metadata(Rc::new(acquisition("alone"))));
    assert!(bench.app.series.is_none() && bench.app.tiles().is_empty());
}
