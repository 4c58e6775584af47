//! Views as text: session files, and addresses of the page.

use std::rc::Rc;

use planescope::{
    acquisition::{self, Acquisition},
    app::{
        App, Ask, Effect, Event, Panel, ViewState,
        event::Answer,
        state::{PatternOf, Product},
    },
    engine::{FrameState, Pattern, ScanSums},
    export::session::SessionFile,
    products::{DetectorShape, Disc},
    source::{ByteSource, Bytes},
};

/// Opens a session on a page with a set, and draws what it asks for.
pub fn session(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input).into_owned();
    let outcome = match SessionFile::read("fuzz.json", &text) {
        Ok(session) => {
            let again = SessionFile::read("again.json", &session.to_json());
            assert_eq!(again.as_ref().ok(), Some(&session), "what was read is written and read again");
            "accepted".to_owned()
        }
        Err(error) => super::walker::refused(&error),
    };
    if outcome == "accepted" {
        show(Event::Session { name: "fuzz.json".to_owned(), text });
    }
    outcome
}

/// Reads an address, and draws what it asks for.
pub fn address(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input).into_owned();
    let Some(view) = ViewState::from_hash(&text) else { return "no view".to_owned() };
    assert_eq!(ViewState::from_hash(&view.to_hash()).as_ref(), Some(&view), "the view survives the address");
    show(Event::SetState(Box::new(view)));
    "accepted".to_owned()
}

/// A page with a set of four patterns, its questions answered, and one event.
fn show(event: Event) {
    thread_local! {
        static SET: Rc<Acquisition> = Rc::new(set());
    }
    let set = SET.with(Rc::clone);
    let mut app = App::default();
    app.sides = [320.0; 2];
    app.update(0.0, Event::Opening { files: 1 });
    app.update(1.0, Event::Metadata(set.clone()));
    app.update(2.0, Event::FirstBatch);
    let mut effects = app.update(3.0, event);
    effects.extend(app.update(4.0, Event::Done));
    for step in 0..MOST_ANSWERS {
        app.frame(f64::from(step) * 1000.0);
        let Some(place) = effects.iter().position(|effect| matches!(effect, Effect::Ask { .. })) else { break };
        let Effect::Ask { set_id, lane, ask } = effects.swap_remove(place) else { break };
        let Some(answer) = answer(&set, ask) else { continue };
        let states = vec![FrameState::Valid; set.frames as usize];
        let answered = Event::Answered { set_id, lane, answer: Ok(answer), states, faults: vec![], ms: 1.0 };
        effects.extend(app.update(f64::from(step) * 1000.0 + 500.0, answered));
    }
    for panel in [Panel::Image, Panel::Pattern] {
        app.camera(panel);
        app.unit(panel);
        app.is_late(panel);
    }
    app.detector_shape();
}

/// An engine's answer, where it is simple.
fn answer(set: &Acquisition, ask: Ask) -> Option<Answer> {
    let (frames, pixels) = (set.frames as usize, set.detector.pixels() as usize);
    match ask {
        Ask::Sums(product, pixels) => {
            let sum = (0..frames as u64).map(|frame| frame * u64::from(pixels.count())).collect();
            Some(Answer::Sums(product, ScanSums { sum, valid: vec![1; frames] }))
        }
        Ask::Pattern(frame) => {
            let pattern = Pattern { pixels: (0..pixels as u32).collect(), state: FrameState::Valid };
            Some(Answer::Pattern(frame, pattern))
        }
        _ => None,
    }
}

fn set() -> Acquisition {
    let bytes = include_bytes!("../../../tests/data/robustness/old.h5").to_vec();
    let file = Bytes { name: "old.h5".to_owned(), bytes };
    let sources: [&dyn ByteSource; 1] = [&file];
    acquisition::read(&sources).expect("the file is sound").remove(0)
}

/// Views with much in them.
fn views() -> Vec<ViewState> {
    let shape = DetectorShape::Annulus { centre: [4.0, 4.5], inner: 1.0, outer: 3.5 };
    let full = ViewState {
        product: Product::Custom,
        custom: Some(shape.clone()),
        disc: Some(Disc { centre: [4.0, 4.0], radius: 2.0 }),
        cursor: Some([1, 1]),
        pattern: PatternOf::Mean,
        scan: Some([2, 2]),
        region: Some(shape),
        ..ViewState::default()
    };
    let products = Product::ALL.map(|product| ViewState { product, ..full.clone() });
    [ViewState::default(), full].into_iter().chain(products).collect()
}

pub fn sessions() -> Vec<Vec<u8>> {
    let set = set();
    views().iter().map(|view| SessionFile::of(&set, view).to_json().into_bytes()).collect()
}

pub fn addresses() -> Vec<Vec<u8>> {
    let json = |view: &ViewState| serde_json::to_vec(view).expect("a view is plain data");
    let views = views();
    views.iter().map(|view| view.to_hash().into_bytes()).chain(views.iter().map(json)).collect()
}

/// Questions that follow from one event.
const MOST_ANSWERS: u32 = 12;
