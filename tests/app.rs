//! The page's state, without a page: events in, questions and pictures out.

mod made;

use std::{cell, rc::Rc};

use planescope::{
    Error, Kind,
    acquisition::{
        Acquisition, AxisChoice, AxisOrder, Change, Place,
        contents::{Contents, Described, Entry as Listed, What},
    },
    app::{
        App, Ask, Command, Effect, Event, Lane, Panel, Stage, ViewState,
        event::{Answer, Button, Entry, Progress},
        state::Product,
    },
    display::Cell,
    engine::{
        FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet, ScanSquares, ScanSums,
    },
    products::{DetectorShape, Disc, Flip},
    shape::{Detector, Scan},
};

const DETECTOR: Detector = Detector { rows: 32, cols: 32 };
const SCAN: Scan = Scan { rows: 4, cols: 5 };
const FRAMES: usize = 20;

/// A page and the answers of an engine that knows nothing of it.
struct Bench {
    app: App,
    now_ms: cell::Cell<f64>,
    asked: Vec<(u32, Lane, Ask)>,
    other: Vec<Effect>,
    /// Frames that are decoded.
    decoded: usize,
    /// The disc in the patterns that are decoded.
    disc: Disc,
    /// A pixel that counts far too much.
    hot: Option<u32>,
}

impl Bench {
    fn open() -> Self {
        let disc = Disc { centre: [16.0, 16.0], radius: 6.0 };
        let app = sized_app();
        let mut bench =
            Self { app, now_ms: cell::Cell::new(0.0), asked: vec![], other: vec![], decoded: 0, disc, hot: None };
        bench.send(Event::Opening { files: 3 });
        bench.send(Event::Metadata(Rc::new(acquisition())));
        bench
    }

    /// Everything is read, and every question is answered.
    fn loaded() -> Self {
        Self::open().read()
    }

    fn read(self) -> Self {
        let mut bench = self;
        bench.decoded = FRAMES;
        bench.send(Event::FirstBatch);
        bench.send(Event::Done);
        bench.answer_all();
        bench
    }

    fn send(&mut self, event: Event) {
        self.now_ms.set(self.now_ms.get() + 1000.0);
        for effect in self.app.update(self.now_ms.get(), event) {
            match effect {
                Effect::Ask { set_id, lane, ask } => self.asked.push((set_id, lane, ask)),
                effect => self.other.push(effect),
            }
        }
    }

    /// Answers the oldest question.
    fn answer(&mut self) {
        let (set_id, lane, ask) = self.asked.remove(0);
        let valid: Vec<u8> = (0..FRAMES).map(|frame| u8::from(frame < self.decoded)).collect();
        let sums = || (0..FRAMES as u64).collect::<Vec<_>>();
        let answer = match ask {
            Ask::Sums(product, pixels) => {
                let sum = sums().iter().map(|frame| frame * u64::from(pixels.count())).collect();
                Answer::Sums(product, ScanSums { sum, valid })
            }
            Ask::Moments(_) => Answer::Moments(Moments { sum: sums(), sum_row: sums(), sum_col: sums(), valid }),
            Ask::Segments(all) => {
                let one = |pixels: &PixelSet| {
                    let sum = sums().iter().map(|frame| frame * u64::from(pixels.count())).collect();
                    ScanSums { sum, valid: valid.clone() }
                };
                Answer::Segments(all.iter().map(one).collect())
            }
            Ask::Phase(field, _) => Answer::Phase(field.x.clone()),
            Ask::Pattern(frame) => {
                let state = if (frame as usize) < self.decoded { FrameState::Valid } else { FrameState::Unread };
                Answer::Pattern(frame, Pattern { pixels: vec![1; 1024], state })
            }
            Ask::Spectrum { values, .. } => Answer::Spectrum(values.to_vec()),
            // Half of the pixels count twice the frame's number, the others nothing: the spread is that number.
            Ask::Squares(pixels) => {
                let n = u64::from(pixels.count());
                let sum = sums().iter().map(|frame| frame * n).collect();
                let square = sums().iter().map(|frame| u128::from(2 * frame * frame * n)).collect();
                Answer::Squares(pixels.count(), ScanSquares { sum, square, valid })
            }
            Ask::MaxPattern(_) => Answer::MaxPattern(PatternMax { max: vec![9; 1024], frames: self.decoded as u32 }),
            Ask::SquarePattern(_) => {
                let total = bright_disc(self.disc, self.decoded as u32);
                let square = total.sum.iter().map(|sum| u128::from(*sum) * u128::from(*sum)).collect();
                Answer::SquarePattern(PatternSquares { total, square })
            }
            Ask::Patterns(_) => {
                let mut patterns = bright_disc(self.disc, self.decoded as u32);
                self.hot.into_iter().for_each(|hot| patterns.sum[hot as usize] = 1_000_000);
                Answer::Patterns(patterns)
            }
        };
        let state = |frame| if frame < self.decoded { FrameState::Valid } else { FrameState::Unread };
        let states = (0..FRAMES).map(state).collect();
        self.send(Event::Answered { set_id, lane, answer: Ok(answer), states, faults: vec![], ms: 1.0 });
    }

    fn answer_all(&mut self) {
        for _ in 0..200 {
            if self.asked.is_empty() {
                return;
            }
            self.answer();
        }
        panic!("questions never end: {:?}", self.asked);
    }

    fn images_asked(&self) -> Vec<&Ask> {
        self.asked.iter().filter(|(_, lane, _)| *lane == Lane::Image).map(|(_, _, ask)| ask).collect()
    }
}

/// An app whose views are 320 px wide.
fn sized_app() -> App {
    let mut app = App::default();
    app.sides = [320.0; 2];
    app
}

fn acquisition() -> Acquisition {
    let mut set = made::acquisition("au_master.h5", DETECTOR, SCAN);
    set.scan.alternatives = vec![Scan { rows: 2, cols: 10 }];
    set
}

fn bright_disc(disc: Disc, frames: u32) -> PatternSum {
    made::bright_disc(DETECTOR, disc.centre, disc.radius, frames)
}

#[test]
fn nothing_is_asked_before_a_pattern_is_read() {
    let bench = Bench::open();
    assert!(bench.asked.is_empty(), "{:?}", bench.asked);
    assert_eq!(bench.app.stage(), Stage::Reading);
}

#[test]
fn the_disc_of_the_first_batch_is_frozen_and_a_better_one_only_offered() {
    let mut bench = Bench::open();
    bench.decoded = 5;
    bench.send(Event::FirstBatch);
    bench.answer_all();
    let first = bench.app.state.disc.expect("found in the first batch");
    bench.disc = Disc { centre: [18.0, 15.0], radius: 7.0 };
    bench.decoded = FRAMES;
    bench.send(Event::BatchReady);
    bench.answer_all();
    bench.send(Event::Done);
    bench.answer_all();
    assert_eq!(bench.app.state.disc, Some(first), "frozen");
    let better = bench.app.better_disc.expect("offered");
    assert!((better.centre[0] - 18.0).abs() < 0.5, "{better:?}");
    bench.send(Event::Do(Command::FindDisc));
    assert_eq!((bench.app.state.disc, bench.app.better_disc), (Some(better), None));
}

#[test]
fn the_same_disc_in_all_patterns_is_no_offer() {
    assert_eq!(Bench::loaded().app.better_disc, None);
}

#[test]
fn a_drag_has_one_question_under_way_and_then_sends_only_its_newest_position() {
    let mut bench = Bench::loaded();
    bench.app.frame(0.0);
    // The pattern is 32 px wide in 320: the centre of pixel 16 is at 165.
    let at = |col: f64| [165.0 + 10.0 * col, 165.0];
    bench.send(Event::Press { panel: Panel::Pattern, at: at(0.0), button: Button::Main, reach: 12.0 });
    for col in 1..=6 {
        bench.send(Event::Drag { at: at(f64::from(col)), fine: false, constrained: false });
    }
    assert_eq!(bench.images_asked().len(), 1, "one in flight");
    bench.answer();
    let newest = bench.images_asked();
    let Some(Ask::Sums(Product::Custom, pixels)) = newest.first() else { panic!("{newest:?}") };
    assert!(newest.len() == 1 && pixels.contains(16 * 32 + 27), "the disc around column 22 reaches 27");
    bench.send(Event::Release);
    bench.answer_all();
    assert!(bench.images_asked().is_empty());
}

#[test]
fn escape_puts_a_drag_back() {
    let mut bench = Bench::loaded();
    let before = bench.app.state.clone();
    bench.send(Event::Press { panel: Panel::Pattern, at: [165.0, 165.0], button: Button::Main, reach: 12.0 });
    bench.send(Event::Drag { at: [205.0, 165.0], fine: false, constrained: false });
    assert_eq!(bench.app.state.product, Product::Custom);
    bench.send(Event::Do(Command::Escape));
    assert_eq!(bench.app.state, before);
}

#[test]
fn the_last_good_picture_stays_until_the_next_is_whole() {
    let mut bench = Bench::loaded();
    bench.app.frame(0.0);
    let before = bench.app.image.as_ref().expect("the image is made").serial;
    bench.send(Event::Do(Command::Invert));
    bench.app.frame(1.0);
    assert_eq!(bench.app.image.as_ref().map(|shown| shown.serial), Some(before));
    bench.answer_all();
    bench.app.frame(2.0);
    assert_ne!(bench.app.image.as_ref().map(|shown| shown.serial), Some(before));
}

#[test]
fn the_shelf_is_filled_when_nothing_else_waits() {
    let mut bench = Bench::loaded();
    for frame in 0..20 {
        bench.app.frame(f64::from(frame));
    }
    let missing: Vec<_> = Product::ALL.iter().filter(|product| !bench.app.thumbs.contains_key(product)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn cancelling_keeps_what_was_read_and_says_so() {
    let mut bench = Bench::open();
    bench.decoded = 8;
    bench.send(Event::FirstBatch);
    bench.answer_all();
    bench.send(Event::Do(Command::Escape));
    assert!(matches!(bench.other.last(), Some(Effect::Cancel)));
    bench.send(Event::Cancelled);
    bench.answer_all();
    assert_eq!(bench.app.stage(), Stage::Set);
    assert_eq!(bench.app.messages[0].error.found, "8; the rest is dotted and left out of every sum");
    bench.app.frame(0.0);
    assert!(bench.app.image.is_some());
    // A batch that was under way.
    bench.decoded = 12;
    bench.send(Event::BatchReady);
    bench.answer_all();
    assert_eq!(bench.app.messages[0].error.found, "12; the rest is dotted and left out of every sum");
}

#[test]
fn a_set_that_cannot_be_opened_leaves_the_one_before() {
    let mut bench = Bench::loaded();
    bench.send(Event::Opening { files: 1 });
    bench.send(Event::Failed(Error::new(Kind::File, "not_hdf5", "Not an HDF5 file")));
    assert_eq!(bench.app.stage(), Stage::Set);
    assert_eq!(bench.app.messages[0].error.key, "not_hdf5");
    let mut empty = App::default();
    empty.update(0.0, Event::Failed(Error::new(Kind::File, "not_hdf5", "Not an HDF5 file")));
    assert_eq!(empty.stage(), Stage::Refused);
}

#[test]
fn a_late_answer_of_the_set_before_is_dropped() {
    let mut bench = Bench::open();
    bench.decoded = FRAMES;
    bench.send(Event::FirstBatch);
    bench.send(Event::Metadata(Rc::new(acquisition())));
    bench.send(Event::FirstBatch);
    bench.answer();
    assert!(bench.app.set.as_ref().is_some_and(|set| set.pattern.is_none() && set.patterns.is_none()));
}

#[test]
fn a_view_given_before_a_set_is_open_is_the_view_of_that_set() {
    let mut bench = Bench::open();
    let disc = Some(Disc { centre: [10.0, 11.0], radius: 4.0 });
    let given = ViewState { product: Product::Adf, disc, cursor: Some([2, 3]), ..ViewState::default() };
    bench.app = sized_app();
    bench.send(Event::SetState(Box::new(given.clone())));
    bench.send(Event::Metadata(Rc::new(acquisition())));
    bench.decoded = FRAMES;
    bench.send(Event::FirstBatch);
    bench.answer_all();
    bench.send(Event::Done);
    bench.answer_all();
    assert_eq!(bench.app.state, given);
    bench.send(Event::Metadata(Rc::new(acquisition())));
    assert_eq!(bench.app.state.disc, None, "the next set has its own");
}

#[test]
fn another_scan_shape_keeps_the_cursor_on_its_pattern() {
    let mut bench = Bench::loaded();
    bench.send(Event::SetState(Box::new(ViewState { cursor: Some([3, 2]), ..bench.app.state.clone() })));
    bench.send(Event::Do(Command::ScanShape(0)));
    assert_eq!(bench.app.state.cursor, Some([1, 7]));
    assert!(matches!(bench.other.last(), Some(Effect::ScanShape(Scan { rows: 2, cols: 10 }))));
    bench.send(Event::Enter(Entry::ScanShape, "4 x 5".into()));
    assert_eq!(bench.app.state.cursor, Some([3, 2]));
    bench.send(Event::Enter(Entry::ScanShape, "four".into()));
    assert!(bench.app.wrong_entry.is_some());
}

#[test]
fn the_cursor_waits_on_the_first_pattern_until_the_middle_is_read() {
    let mut bench = Bench::open();
    let cursor = |bench: &Bench| bench.app.set.as_ref().map(|set| set.cursor(&bench.app.state));
    bench.decoded = 3;
    bench.send(Event::FirstBatch);
    bench.answer_all();
    assert_eq!(cursor(&bench), Some([0, 0]));
    bench.decoded = FRAMES;
    bench.send(Event::BatchReady);
    bench.answer_all();
    assert_eq!(cursor(&bench), Some([2, 2]));
}

#[test]
fn a_refused_question_is_told_and_not_asked_again() {
    let mut bench = Bench::open();
    bench.decoded = FRAMES;
    bench.send(Event::FirstBatch);
    let place =
        bench.asked.iter().position(|(_, _, ask)| matches!(ask, Ask::Patterns(_))).expect("the disc is looked for");
    let (set_id, lane, _) = bench.asked.remove(place);
    let refused = Error::new(Kind::Gpu, "device_lost", "The GPU was lost");
    bench.send(Event::Answered { set_id, lane, answer: Err(refused), states: vec![], faults: vec![], ms: 0.0 });
    assert!(bench.asked.iter().all(|(_, _, ask)| !matches!(ask, Ask::Patterns(_))));
    assert_eq!(bench.app.messages[0].error.key, "device_lost");
    bench.answer_all();
}

#[test]
fn limits_that_are_not_locked_go_with_their_product() {
    let mut bench = Bench::loaded();
    bench.app.frame(0.0);
    bench.send(Event::Enter(Entry::High(Panel::Image), "1,000".into()));
    let high = |bench: &Bench| bench.app.state.looks.image.limits.map(|limits| limits.high);
    assert_eq!(high(&bench), Some(1000.0));
    bench.send(Event::Do(Command::Product(Product::Adf)));
    assert_eq!(high(&bench), None);
    bench.send(Event::Do(Command::LockRange));
    let locked = high(&bench);
    bench.send(Event::Do(Command::Product(Product::Bf)));
    assert!(locked.is_some() && high(&bench) == locked);
}

#[test]
fn progress_tells_rate_and_time_left() {
    let mut bench = Bench::open();
    let progress = Progress {
        bytes_read: 3_400_000_000,
        bytes_total: 7_900_000_000,
        bytes_per_s: 4_600_000_000.0,
        frames_decoded: 9,
        files_done: 12,
        files_total: 27,
    };
    bench.send(Event::Progress(progress));
    let rows: Vec<_> = bench.app.reading_rows().iter().map(|row| row.value.replace('\u{202f}', " ")).collect();
    assert_eq!(rows, ["3.4 of 7.9 GB", "4.6 GB/s", "about 1 s", "9 of 20", "12 of 27"]);
}

/// The pixels, as stored, of the last image asked for.
fn image_pixels(bench: &mut Bench) -> PixelSet {
    let asked = bench.images_asked();
    let Some(Ask::Sums(_, pixels)) = asked.last() else { panic!("no image is asked for: {asked:?}") };
    let pixels = pixels.clone();
    bench.answer_all();
    pixels
}

#[test]
fn flipping_mirrors_what_is_shown_and_leaves_the_detector_on_its_pixels() {
    let mut bench = Bench::open();
    bench.disc = Disc { centre: [14.0, 10.0], radius: 6.0 };
    bench = bench.read();
    let before = bench.app.state.clone();
    bench.send(Event::Do(Command::Invert));
    let stored = image_pixels(&mut bench);
    let state = bench.app.state.clone();
    bench.send(Event::Do(Command::Flip(Flip::Columns)));
    assert!(matches!(bench.other.last(), Some(Effect::Flip(Flip::Columns))));
    assert_eq!(image_pixels(&mut bench), stored, "the engine is asked for the same pixels");
    let centre = |state: &ViewState| state.disc.map(|disc| disc.centre);
    let [row, col] = centre(&before).expect("the disc is found");
    assert_eq!(centre(&bench.app.state), Some([row, 31.0 - col]));
    assert!(bench.app.pattern_line().ends_with("flipped left–right"), "told");
    bench.send(Event::Do(Command::Flip(Flip::None)));
    bench.answer_all();
    assert_eq!(bench.app.state, state, "as before");
}

#[test]
fn patterns_and_moments_are_mirrored_exactly() {
    let mut bench = Bench::loaded();
    let com = |bench: &Bench| {
        let (_, moments) = bench.app.set.as_ref().and_then(|set| set.moments.as_ref()).expect("asked for the shelf");
        (moments.sum_row[3], moments.sum_col[3])
    };
    // The bench answers with the frame's number for each moment, and for the sum.
    assert_eq!(com(&bench), (3, 3));
    bench.send(Event::Do(Command::Flip(Flip::Rows)));
    bench.answer_all();
    assert_eq!(com(&bench), (3 * 31 - 3, 3));
}

#[test]
fn a_mirroring_firmware_is_told_and_nothing_is_flipped_by_itself() {
    let mut told = acquisition();
    told.notices = vec![Error::new(Kind::File, "mirrored_firmware", "Patterns of this firmware are mirrored")];
    let mut bench = Bench::open();
    bench.send(Event::Metadata(Rc::new(told)));
    bench = bench.read();
    assert_eq!(bench.app.state.flip, Flip::None);
    let actions = bench.app.messages[0].actions();
    let offered: Vec<Command> = actions.iter().map(|(_, command)| *command).collect();
    assert_eq!(offered, [Command::Flip(Flip::Columns), Command::Flip(Flip::Rows)]);
    bench.send(Event::Do(offered[0]));
    assert!(bench.app.messages.is_empty());
    bench.send(Event::Metadata(Rc::new(acquisition())));
    assert_eq!(bench.app.state.flip, Flip::None, "the next set is as stored");
}

#[test]
fn hot_pixels_are_offered_then_left_out_and_counted_again() {
    let hot = 5 * 32 + 20;
    let mut bench = Bench::open();
    bench.hot = Some(hot);
    bench = bench.read();
    let message = |bench: &Bench| bench.app.messages.iter().find(|message| message.error.key == "hot_pixels").cloned();
    let offer = message(&bench).expect("offered");
    assert_eq!(offer.error.what, "1 hot pixel found");
    bench.send(Event::Do(Command::Product(Product::Sum)));
    bench.send(Event::BatchReady);
    assert!(image_pixels(&mut bench).contains(hot), "counted until the user says otherwise");
    bench.send(Event::Do(offer.actions()[0].1));
    let Some(Effect::Exclude(excluded)) = bench.other.last() else { panic!("the session is not told") };
    assert!(excluded.count() == 1 && excluded.contains(hot));
    let pixels = image_pixels(&mut bench);
    assert!(!pixels.contains(hot) && pixels.count() == 1023);
    assert_eq!((message(&bench), bench.app.hot_words().as_deref()), (None, Some("Leave out 1 hot pixel")));
    bench.send(Event::Do(Command::Flip(Flip::Columns)));
    assert!(!image_pixels(&mut bench).contains(hot), "it stays out where it is stored");
    assert!(bench.app.set.as_ref().is_some_and(|set| set.bad.contains(5 * 32 + 11)), "and is void where it is shown");
    bench.send(Event::Do(Command::ExcludeHot(false)));
    assert!(matches!(bench.other.last(), Some(Effect::Exclude(none)) if none.count() == 0));
    assert!(image_pixels(&mut bench).contains(hot));
}

#[test]
fn a_view_that_leaves_hot_pixels_out_does_so_once_they_are_found() {
    let mut bench = Bench::open();
    bench.hot = Some(40);
    bench.app = sized_app();
    bench.send(Event::SetState(Box::new(ViewState { exclude_hot: true, ..ViewState::default() })));
    bench.send(Event::Metadata(Rc::new(acquisition())));
    bench = bench.read();
    assert!(bench.app.set.as_ref().is_some_and(|set| set.hot_is_excluded && set.bad.contains(40)));
    assert!(bench.other.iter().any(|effect| matches!(effect, Effect::Exclude(pixels) if pixels.contains(40))));
}

fn listed(path: &str, refusal: Option<Error>) -> Listed {
    let found =
        Described { dims: vec![4, 5, 6], dtype: "<u2".into(), layout: "contiguous".into(), filters: vec![], refusal };
    Listed { path: path.into(), depth: 0, what: What::Dataset(found) }
}

#[test]
fn a_file_with_several_candidates_asks_and_only_what_can_be_shown_is_opened() {
    let mut app = Bench::open();
    app.app = sized_app();
    let mut unclear = acquisition();
    unclear.stored.rivals = vec!["/other".into()];
    app.send(Event::Choice(vec![Rc::new(unclear)]));
    assert_eq!(app.app.stage(), Stage::Choice);
    let asked: Vec<bool> = app.other.iter().map(|effect| matches!(effect, Effect::List)).collect();
    assert!(asked.contains(&true), "the datasets are listed");
    let file =
        |name: &str, entries| Contents { file: name.into(), len_bytes: 1, error: None, entries, is_cut_off: false };
    let float16 = Error::new(Kind::Unsupported, "unsupported_dtype:<f2", "This element type cannot be read");
    let group = Listed { path: "/g".into(), depth: 0, what: What::Group };
    let contents =
        vec![file("a.h5", vec![group, listed("/half", Some(float16))]), file("b.h5", vec![listed("/cube", None)])];
    app.send(Event::Contents(Ok(contents)));
    for refused in [0, 1, 3] {
        app.send(Event::Do(Command::OpenDataset(refused)));
    }
    assert!(!app.other.iter().any(|effect| matches!(effect, Effect::Reopen(_))));
    app.send(Event::Do(Command::OpenDataset(2)));
    let place = Place { file: "b.h5".into(), path: "/cube".into() };
    let Some(Effect::Reopen(change)) = app.other.last() else { panic!("nothing is opened") };
    assert_eq!(*change, Change::Dataset(Some(place)));
}

#[test]
fn another_channel_keeps_the_view_and_another_order_of_axes_does_not() {
    let mut with_choices = acquisition();
    with_choices.channels = vec!["threshold_1".into(), "difference".into()];
    let orders = ["nyx", "nxy", "yxn"].map(|code| AxisOrder::of_code(code).expect("an order"));
    with_choices.stored.axes =
        AxisChoice { order: orders[0], alternatives: orders[1..].to_vec(), ..AxisChoice::default() };
    let mut bench = Bench::open();
    bench.send(Event::Metadata(Rc::new(with_choices.clone())));
    bench = bench.read();
    bench.send(Event::Do(Command::Product(Product::Adf)));
    let others = bench.other.len();
    for nothing in [Command::Channel(0), Command::Channel(2), Command::Axes(0), Command::Axes(3)] {
        bench.send(Event::Do(nothing));
    }
    assert_eq!(bench.other.len(), others, "nothing to do");
    bench.send(Event::Do(Command::Channel(1)));
    assert!(matches!(bench.other.last(), Some(Effect::Reopen(Change::Channel(1)))));
    let before = bench.app.state.clone();
    bench.send(Event::Metadata(Rc::new(with_choices.clone())));
    assert_eq!(bench.app.state, before);
    bench.send(Event::Do(Command::Axes(2)));
    assert!(matches!(bench.other.last(), Some(Effect::Reopen(Change::Axes(order))) if *order == orders[2]));
    bench.send(Event::Metadata(Rc::new(with_choices)));
    assert_eq!(bench.app.state.disc, None);
}

// ---- undo, deflection, scales, exports ----

#[test]
fn a_drag_is_one_step_of_undo_and_keys_in_a_row_are_one_too() {
    let mut bench = Bench::loaded();
    let before = bench.app.state.clone();
    bench.send(Event::Press { panel: Panel::Pattern, at: [165.0, 165.0], button: Button::Main, reach: 12.0 });
    for x in [175.0, 185.0, 195.0] {
        bench.send(Event::Drag { at: [x, 165.0], fine: false, constrained: false });
    }
    bench.send(Event::Release);
    bench.answer_all();
    let dragged = bench.app.state.clone();
    assert_ne!(dragged, before);
    // Four presses within a second each, one after a rest.
    for rest in [0.0, 100.0, 100.0, 100.0, 5000.0] {
        let now = bench.now_ms.get() + rest;
        bench.now_ms.set(now);
        bench.app.update(now, Event::Step(Command::Grow(1), 1.0));
    }
    bench.send(Event::Do(Command::Undo));
    bench.send(Event::Do(Command::Undo));
    assert_eq!(bench.app.state, dragged);
    bench.send(Event::Do(Command::Undo));
    assert_eq!(bench.app.state, before);
    assert!(!bench.app.can_undo() && bench.app.can_redo());
    bench.send(Event::Do(Command::Redo));
    assert_eq!(bench.app.state, dragged);
    bench.send(Event::Do(Command::Invert));
    assert!(!bench.app.can_redo(), "a new step ends what could be done again");
}

#[test]
fn escape_leaves_no_step_of_undo() {
    let mut bench = Bench::loaded();
    bench.send(Event::Press { panel: Panel::Pattern, at: [165.0, 165.0], button: Button::Main, reach: 12.0 });
    bench.send(Event::Drag { at: [205.0, 165.0], fine: false, constrained: false });
    bench.send(Event::Do(Command::Escape));
    assert!(!bench.app.can_undo());
}

#[test]
fn what_the_machine_finds_is_no_step_of_undo_and_stays_after_one() {
    let mut bench = Bench::loaded();
    assert!(bench.app.state.disc.is_some() && !bench.app.can_undo());
    bench.send(Event::Do(Command::Product(Product::Adf)));
    bench.send(Event::Do(Command::Undo));
    assert!(bench.app.state.disc.is_some() && bench.app.state.product == Product::Bf);
}

/// The picture of `product`, once everything is answered.
fn picture(bench: &mut Bench, product: Product) -> planescope::display::Field {
    bench.send(Event::Do(Command::Product(product)));
    bench.answer_all();
    bench.app.frame(1e9);
    bench.app.image.as_ref().expect("a picture").field.clone()
}

#[test]
fn the_deflection_is_turned_about_its_reference_and_told_in_its_unit() {
    let mut bench = Bench::loaded();
    // Every pattern answers row = column = 1, frame 0 nothing.
    let x = picture(&mut bench, Product::ComX);
    assert!(x.unit == "px" && x.known().all(|shift| shift == 0.0), "about the scan mean");
    bench.send(Event::Do(Command::About(2)));
    bench.send(Event::Enter(Entry::ComX, "0".into()));
    bench.send(Event::Enter(Entry::ComY, "0".into()));
    bench.send(Event::Enter(Entry::Angle, "45°".into()));
    let (x, y) = (picture(&mut bench, Product::ComX), picture(&mut bench, Product::ComY));
    assert!(x.known().all(|shift| shift.abs() < 1e-12) && y.known().all(|shift| (shift - 2f64.sqrt()).abs() < 1e-12));
    assert_eq!(x.known().count(), FRAMES - 1, "a pattern without counts has no deflection");
    bench.send(Event::Enter(Entry::MradPerPx, "0.5".into()));
    let colour = picture(&mut bench, Product::Com);
    assert_eq!((colour.unit.as_str(), colour.direction.len()), ("mrad", FRAMES));
    assert!(colour.known().all(|size| (size - 0.5f64.sqrt()).abs() < 1e-12));
    assert!((colour.direction[5] - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
}

#[test]
fn the_phase_is_asked_once_its_source_is_here_and_again_when_a_setting_changes() {
    let mut bench = Bench::loaded();
    bench.send(Event::Do(Command::Product(Product::Phase)));
    bench.answer_all();
    let asked = |bench: &Bench| bench.images_asked().into_iter().filter(|ask| matches!(ask, Ask::Phase(..))).count();
    bench.send(Event::Enter(Entry::HighPass, "12 px".into()));
    let Some(Ask::Phase(_, how)) = bench.images_asked().first().copied().cloned() else { panic!("not asked") };
    assert_eq!((how.high_pass, asked(&bench)), (12.0, 1));
    bench.answer_all();
    bench.send(Event::Enter(Entry::HighPass, "12".into()));
    assert_eq!(asked(&bench), 0, "the same again");
    bench.send(Event::Enter(Entry::HighPass, "3 mrad".into()));
    assert!(bench.app.wrong_entry.is_some());
}

#[test]
fn segments_are_asked_for_within_the_disc_and_share_it() {
    let mut bench = Bench::loaded();
    bench.send(Event::Do(Command::Product(Product::ComX)));
    bench.send(Event::Do(Command::Source(1)));
    let Some(Ask::Segments(all)) = bench.images_asked().first().copied().cloned() else { panic!("not asked") };
    let pixels: u32 = all.iter().map(PixelSet::count).sum();
    let disc = bench.app.state.disc.expect("found");
    let inside = DetectorShape::Disc { centre: disc.centre, inner: 0.0, outer: disc.radius }.pixels(DETECTOR);
    let at_centre = u32::from(disc.centre.iter().all(|at| at.fract() == 0.0));
    assert_eq!((all.len(), pixels), (4, inside.count() - at_centre));
    let field = picture(&mut bench, Product::ComX);
    assert_eq!((field.unit.as_str(), bench.app.state.product.name_from(bench.app.state.com.source)), ("", "DPC x"));
}

#[test]
fn an_entered_scale_replaces_the_files_and_nothing_typed_brings_it_back() {
    let mut bench = Bench::loaded();
    let file = bench.app.measures();
    bench.send(Event::Enter(Entry::Step, "1.5 Å".into()));
    assert!(bench.app.measures().step_nm.is_some_and(|nm| (nm - 0.15).abs() < 1e-12));
    bench.send(Event::Enter(Entry::Alpha, "21".into()));
    let radius = bench.app.state.disc.expect("found").radius;
    assert!(bench.app.measures().mrad_per_px.is_some_and(|mrad| (mrad * radius - 21.0).abs() < 1e-9));
    bench.send(Event::Enter(Entry::Energy, "300 kV".into()));
    assert_eq!(bench.app.measures().energy_ev, Some(300e3));
    for entry in [Entry::Step, Entry::Alpha, Entry::Energy] {
        bench.send(Event::Enter(entry, String::new()));
    }
    assert_eq!(bench.app.measures(), file);
    bench.send(Event::Enter(Entry::Step, "-2".into()));
    assert!(bench.app.wrong_entry.is_some() && bench.app.measures() == file);
}

#[test]
fn percentiles_are_typed_into_the_limits_and_a_gamma_chooses_its_scale() {
    let mut bench = Bench::loaded();
    let field = picture(&mut bench, Product::Sum);
    bench.send(Event::Enter(Entry::Low(Panel::Image), "25 %".into()));
    bench.send(Event::Enter(Entry::High(Panel::Image), "50%".into()));
    bench.app.frame(1e9);
    let limits = bench.app.image.as_ref().expect("a picture").limits;
    let mut sorted: Vec<f64> = field.known().collect();
    sorted.sort_by(f64::total_cmp);
    assert_eq!((limits.low, limits.high), (sorted[4], sorted[9]));
    bench.send(Event::Enter(Entry::High(Panel::Image), "20 %".into()));
    assert!(bench.app.wrong_entry.is_some(), "the low limit is at 25 %");
    bench.send(Event::Enter(Entry::Gamma(Panel::Image), "0.7".into()));
    assert_eq!(bench.app.state.looks.image.gamma, 0.7);
    bench.send(Event::Do(Command::Reset));
    assert_eq!(bench.app.state.looks.image.percentiles, None);
}

#[test]
fn a_session_is_restored_and_says_when_files_differ() {
    use planescope::acquisition::UsedFile;
    let set = |len_bytes| {
        let file = UsedFile { name: "au_master.h5".into(), len_bytes, len_announced: None, picked: 0 };
        Acquisition { files: vec![file], ..acquisition() }
    };
    let mut bench = Bench::open();
    bench.send(Event::Metadata(Rc::new(set(1000))));
    bench = bench.read();
    bench.send(Event::Do(Command::Product(Product::Adf)));
    bench.send(Event::Enter(Entry::Angle, "-12.4".into()));
    let saved = bench.app.state.clone();
    let file = bench.app.session_file().expect("a set is open");
    assert_eq!(file.name, "au_adf.planescope.json");
    let text = String::from_utf8(file.bytes).expect("JSON");
    let session = || Event::Session { name: "s.json".into(), text: text.clone() };

    bench.send(Event::Do(Command::Product(Product::Sum)));
    bench.send(session());
    assert_eq!(bench.app.state, saved, "the files are open");

    let mut later = Bench::open();
    later.app = sized_app();
    later.send(session());
    assert_eq!(later.app.messages[0].error.key, "session_waits");
    later.send(Event::Opening { files: 1 });
    later.send(Event::Metadata(Rc::new(set(1000))));
    assert_eq!(later.app.state, saved);
    assert!(later.app.messages.is_empty(), "the files are the same");

    let mut other = Bench::open();
    other.app = sized_app();
    other.send(session());
    other.send(Event::Opening { files: 1 });
    other.send(Event::Metadata(Rc::new(set(999))));
    let message = &other.app.messages[0].error;
    assert_eq!((&*message.key, other.app.state == saved), ("session_differs", true));
    assert!(message.found.contains("au_master.h5 has"), "{}", message.found);

    other.send(Event::Session { name: "s.json".into(), text: "{}".into() });
    assert!(other.app.messages.iter().any(|message| message.error.key == "bad_session"));
}

#[test]
fn the_exported_numbers_are_those_that_are_shown() {
    use planescope::app::exports::Format;
    let mut bench = Bench::loaded();
    let field = picture(&mut bench, Product::Adf);
    let npy = bench.app.exported(Format::Npy, Panel::Image).expect("a picture");
    assert_eq!((npy.name.as_str(), npy.bytes.len()), ("au_adf.npy", 128 + 8 * FRAMES));
    let numbers: Vec<i64> = npy.bytes[128..].chunks(8).map(|n| i64::from_le_bytes(n.try_into().expect("8"))).collect();
    assert!(numbers.iter().zip(&field.values).all(|(a, b)| *a as f64 == *b) && numbers[19] > 0);
    let raw = bench.app.exported(Format::Raw, Panel::Image).expect("a picture");
    assert_eq!((raw.name.as_str(), &raw.bytes[..]), ("au_adf_4x5_int64.raw", &npy.bytes[128..]));
    let tiff = bench.app.exported(Format::Tiff, Panel::Pattern).expect("a pattern");
    assert_eq!(tiff.name, "au_pattern_2_2.tif");
}

#[test]
fn a_maximised_panel_and_playing_end_with_escape() {
    let mut bench = Bench::loaded();
    bench.send(Event::Do(Command::MaximisePanel(Panel::Pattern)));
    bench.send(Event::Do(Command::Play));
    bench.send(Event::Tick);
    bench.answer_all();
    let first = bench.app.state.cursor;
    bench.send(Event::Tick);
    assert_ne!(bench.app.state.cursor, first);
    bench.send(Event::Do(Command::Escape));
    assert!(!bench.app.playing && bench.app.state.maximised.is_some());
    bench.send(Event::Do(Command::Escape));
    assert_eq!(bench.app.state.maximised, None);
    assert!(!bench.app.state.cursor.is_some_and(|_| bench.app.playing));
}

// ---- parts of the scan, lines, analysis ----

#[test]
fn a_region_asks_for_its_own_patterns_and_its_own_figures() {
    let mut bench = Bench::loaded();
    let image = picture(&mut bench, Product::Sum);
    bench.send(Event::Do(Command::Tool(2)));
    assert_eq!(bench.app.state.pattern, planescope::app::state::PatternOf::Mean);
    bench.answer_all();
    let rect = DetectorShape::Rect { centre: [1.0, 2.0], height: 2.0, width: 4.0 };
    bench.send(Event::SetState(Box::new(ViewState { region: Some(rect), ..bench.app.state.clone() })));
    let asked = bench.asked.iter().find_map(|(_, lane, ask)| match ask {
        Ask::Patterns(frames) if *lane == Lane::Pattern => Some(frames.clone()),
        _ => None,
    });
    let frames = asked.expect("the region's patterns are asked for");
    let inside: Vec<u32> = (0..FRAMES as u32).filter(|frame| frames.contains(*frame)).collect();
    assert_eq!(inside, (0..15).collect::<Vec<u32>>(), "rows 0 to 2 of 5 columns");
    bench.answer_all();
    let rows = bench.app.figure_rows();
    let sum: f64 = image.values[..15].iter().sum();
    assert_eq!(rows[1].value.replace(',', ""), format!("{sum}"));
    bench.send(Event::Enter(Entry::RegionWidth, "0".into()));
    assert_eq!(bench.app.figure_rows()[0].value, "3", "one column of three rows");
    bench.answer_all();
    bench.send(Event::Do(Command::RemoveRegion));
    assert_eq!((bench.app.state.region.clone(), bench.app.figure_rows()[0].value.as_str()), (None, "20"));
}

#[test]
fn a_line_is_dragged_by_its_ends_and_read_along_its_length() {
    let mut bench = Bench::loaded();
    picture(&mut bench, Product::Sum);
    bench.send(Event::Do(Command::Tool(4)));
    bench.send(Event::Enter(Entry::LineFrom, "0, 1".into()));
    bench.send(Event::Enter(Entry::LineTo, "4, 1".into()));
    let values = |bench: &Bench| bench.app.line_curve().expect("a line").values;
    // The bench answers frame number times 1024 pixels.
    assert_eq!(values(&bench), [5120.0, 6144.0, 7168.0, 8192.0, 9216.0]);
    // One position is 64 px wide; the letterbox begins 32 px from above.
    bench.send(Event::Press { panel: Panel::Image, at: [288.0, 128.0], button: Button::Main, reach: 12.0 });
    bench.send(Event::Drag { at: [288.0, 192.0], fine: false, constrained: false });
    bench.send(Event::Release);
    assert_eq!(bench.app.state.line.map(|line| line.to), Some([2.0, 4.0]));
    bench.send(Event::Do(Command::Undo));
    assert_eq!(bench.app.state.line.map(|line| line.to), Some([1.0, 4.0]));
    bench.send(Event::Enter(Entry::LineWidth, "0".into()));
    assert!(bench.app.wrong_entry.is_some());
    let table = bench.app.table().expect("a curve");
    assert!(String::from_utf8_lossy(&table.bytes).starts_with("s/"), "{:?}", table.name);
}

#[test]
fn the_transform_is_asked_once_for_each_picture_and_reads_spacings() {
    let mut bench = Bench::loaded();
    picture(&mut bench, Product::Sum);
    bench.send(Event::Do(Command::Analysis(2)));
    let spectra = |bench: &Bench| bench.asked.iter().filter(|(_, _, ask)| matches!(ask, Ask::Spectrum { .. })).count();
    assert_eq!(spectra(&bench), 1);
    bench.answer_all();
    bench.send(Event::Hover(None));
    assert_eq!(spectra(&bench), 0);
    bench.send(Event::Enter(Entry::Step, "0.1".into()));
    let words = bench.app.spacing([0.0, 1.0]).expect("a frequency").replace('\u{202f}', " ");
    assert_eq!(words, "d 5.000 Å at 0.0°", "one period over 5 columns of 0.1 nm");
    assert_eq!(bench.app.spacing([0.0, 0.0]), None);
}

#[test]
fn the_radial_profile_is_about_the_disc_and_marks_the_detector() {
    let mut bench = Bench::loaded();
    bench.send(Event::Do(Command::Product(Product::Adf)));
    bench.send(Event::Enter(Entry::MradPerPx, "0.5".into()));
    bench.answer_all();
    bench.app.frame(1e9);
    let (curve, rings) = bench.app.radial().expect("a pattern");
    assert!(rings.iter().filter(|ring| ring.pixels > 0).all(|ring| ring.mean == 1.0), "every count is 1");
    let radius = bench.app.state.disc.expect("found").radius;
    assert_eq!((curve.unit, curve.step), ("mrad", 0.5));
    let [inner, outer] = curve.band.expect("a ring");
    assert!((inner - 1.1 * radius).abs() < 1e-9 && (outer - 2.2 * radius).abs() < 1e-9);
}

// ---- spread ----

#[test]
fn a_spread_is_of_all_pixels_or_of_the_detector_that_is_dragged() {
    let mut bench = Bench::loaded();
    let field = picture(&mut bench, Product::Std);
    assert_eq!(field.values, (0..FRAMES).map(|frame| frame as f64).collect::<Vec<_>>());
    assert_eq!((field.unit.as_str(), bench.app.product_line().as_str()), ("counts", "of all pixels of every pattern"));
    bench.send(Event::Do(Command::NextSpread));
    bench.app.frame(2e9);
    let variance = bench.app.image.as_ref().expect("made of the same answer").field.clone();
    assert_eq!((variance.values[7], variance.unit.as_str()), (49.0, "counts²"));
    bench.send(Event::Do(Command::Grow(1)));
    let asked = bench.asked.iter().find_map(|(_, lane, ask)| match ask {
        Ask::Squares(pixels) if *lane == Lane::Image => Some(pixels.count()),
        _ => None,
    });
    assert!(asked.is_some_and(|pixels| (1..1024).contains(&pixels)), "within the detector: {asked:?}");
    assert_eq!(bench.app.state.product, Product::Variance, "a drag does not leave it");
}

#[test]
fn the_spread_of_the_patterns_is_that_of_the_region() {
    let mut bench = Bench::loaded();
    bench.send(Event::SetPattern(planescope::app::state::PatternOf::Variance));
    bench.answer_all();
    bench.app.frame(1e9);
    let field = bench.app.pattern.as_ref().expect("a pattern").field.clone();
    // (20 · 1000² − 1000²) / 20², and the same of 3 counts.
    assert_eq!((field.values[16 * 32 + 16], field.values[0]), (47_500.0, 0.4275));
    assert_eq!(bench.app.pattern_line(), "of 20 patterns");
    bench.send(Event::Do(Command::Tool(2)));
    assert!(bench.asked.iter().any(|(_, _, ask)| matches!(ask, Ask::SquarePattern(Frames::Bits(_)))));
}

// ---- order on the scan ----

#[test]
fn offset_and_snake_lay_every_picture_out_again() {
    let mut bench = Bench::loaded();
    let sums = |bench: &mut Bench| {
        bench.answer_all();
        bench.app.frame(bench.now_ms.get() + 1e6);
        let field = &bench.app.image.as_ref().expect("a picture").field;
        field.values.iter().map(|sum| (sum / 1024.0) as u32).collect::<Vec<_>>()
    };
    picture(&mut bench, Product::Sum);
    bench.send(Event::SetState(Box::new(ViewState { cursor: Some([1, 1]), ..bench.app.state.clone() })));
    bench.send(Event::Do(Command::Snake(true)));
    assert_eq!(sums(&mut bench)[..10], [0, 1, 2, 3, 4, 9, 8, 7, 6, 5]);
    assert_eq!(bench.app.state.cursor, Some([1, 3]), "the cursor stays on pattern 6");
    bench.send(Event::Enter(Entry::ScanOffset, "−2".into()));
    assert_eq!(sums(&mut bench)[..10], [0, 0, 0, 1, 2, 7, 6, 5, 4, 3]);
    let cells = bench.app.image.as_ref().expect("a picture").field.cells.clone();
    assert_eq!(cells[..3], [Cell::Gap, Cell::Gap, Cell::Value], "no data is not 0");
    assert_eq!(bench.app.set.as_ref().expect("open").unmatched(), [2, 2]);
    assert!(bench.app.scan_why().ends_with("every other line backwards; the first 2 positions have no pattern"));
    assert!(bench.app.information_text().contains("every other line backwards"));
    // Pattern 4 lies at row 1, column 3; its neighbourhood is asked for by frames.
    let point = DetectorShape::Rect { centre: [1.0, 3.0], height: 0.0, width: 0.0 };
    bench.send(Event::SetState(Box::new(ViewState {
        region: Some(point),
        pattern: planescope::app::state::PatternOf::Mean,
        ..bench.app.state.clone()
    })));
    let asked = bench.asked.iter().find_map(|(_, _, ask)| match ask {
        Ask::Patterns(frames) => Some(frames.clone()),
        _ => None,
    });
    assert_eq!(asked, Some(Frames::Bits(vec![1 << 4])));
    bench.answer_all();
    bench.send(Event::Enter(Entry::ScanOffset, "x".into()));
    assert!(bench.app.wrong_entry.is_some());
    bench.send(Event::Do(Command::Undo));
    bench.send(Event::Do(Command::Undo));
    bench.send(Event::Do(Command::Undo));
    assert_eq!(sums(&mut bench)[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "undone");
    assert_eq!(bench.other.iter().filter(|effect| matches!(effect, Effect::Order(order) if order.snake)).count(), 5);
}

#[test]
fn the_transform_of_the_pattern_reads_lengths_of_the_sample() {
    let mut bench = Bench::loaded();
    bench.app.frame(1e9);
    bench.send(Event::Do(Command::Analysis(2)));
    bench.answer_all();
    bench.send(Event::Do(Command::FftOf(2)));
    let values = bench.asked.iter().find_map(|(_, _, ask)| match ask {
        Ask::Spectrum { values, rows: 32, cols: 32 } => Some(values.clone()),
        _ => None,
    });
    assert_eq!(values.map(|values| values[5]), Some(2f64.ln()), "ln(1 + one count)");
    bench.answer_all();
    assert!(bench.app.spectrum().is_some());
    let words = |bench: &Bench| bench.app.spacing([0.0, 4.0]).expect("a frequency").replace('\u{202f}', " ");
    assert_eq!(words(&bench), "period 8.000 px at 0.0°");
    bench.send(Event::Enter(Entry::MradPerPx, "1".into()));
    bench.send(Event::Enter(Entry::Energy, "300".into()));
    // λ = 1.9687 pm: 8 mrad are 0.4064 / Å.
    assert_eq!(words(&bench), "d 2.461 Å, period 8.000 mrad at 0.0°");
}

// ---- a GPU that was reset ----

#[test]
fn a_lost_gpu_keeps_the_view_and_the_last_picture_and_is_told() {
    let mut bench = Bench::loaded();
    let before = picture(&mut bench, Product::Adf);
    bench.send(Event::Do(Command::Grow(1)));
    let state = bench.app.state.clone();
    let set_id = bench.asked.first().map(|(set_id, ..)| *set_id).expect("a question is under way");
    bench.asked.clear();
    bench.send(Event::GpuLost);
    let broken = || Error::new(Kind::Gpu, "gpu_internal", "The graphics driver failed");
    let answer = Err(broken());
    bench.send(Event::Answered { set_id, lane: Lane::Image, answer, states: vec![], faults: vec![], ms: 0.0 });
    bench.send(Event::Failed(broken()));
    assert!(bench.asked.is_empty() && bench.app.messages.is_empty(), "nothing is asked of what is gone");
    assert_eq!(bench.app.plate(Panel::Image).as_deref(), Some("the GPU was reset: rebuilding, 0\u{202f}%"));
    bench.send(Event::Opening { files: 3 });
    bench.send(Event::Metadata(Rc::new(acquisition())));
    bench.app.frame(3e9);
    assert_eq!(bench.app.image.as_ref().map(|shown| &shown.field), Some(&before), "the last picture stays");
    bench = bench.read();
    assert_eq!(bench.app.state, state, "the view stays");
    assert_eq!((&*bench.app.messages[0].error.key, bench.app.rebuilding), ("gpu_reset", false));
    bench.app.frame(4e9);
    assert_ne!(bench.app.image.as_ref().map(|shown| &shown.field), Some(&before), "the new detector's picture");
    assert!(bench.app.can_undo());
}

#[test]
fn a_picture_of_before_is_not_taken_for_the_one_that_is_asked_for() {
    let mut bench = Bench::loaded();
    picture(&mut bench, Product::Bf);
    assert!(bench.app.is_current(Panel::Image) && bench.app.is_current(Panel::Pattern));
    bench.send(Event::Do(Command::Grow(1)));
    bench.app.frame(2e9);
    assert!(!bench.app.is_current(Panel::Image) && bench.app.is_awaited(Panel::Image), "BF is shown, not the new one");
    bench.answer_all();
    assert!(!bench.app.is_current(Panel::Image), "answered, not drawn");
    bench.app.frame(3e9);
    assert!(bench.app.is_current(Panel::Image));
    bench.send(Event::Do(Command::NextPattern));
    assert!(!bench.app.is_current(Panel::Pattern), "one pattern is shown, not the mean");
}
