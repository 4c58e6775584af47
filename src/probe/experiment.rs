//! `__planescope.time({arms, ...})` and `__planescope.clock()`: the instrument, for any page and any compute shaders.
//! docs/measuring.md says how to use them.

use std::{collections::BTreeSet, rc::Rc};

use js_sys::{Array, Date, Reflect, Uint8Array};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Response, window};

use super::{
    hooks::View,
    js::{json as to_js, parsed},
};
use crate::{
    Error, Kind, Result,
    ab::{Clause, Clock, Experiment, Void, clock::Readings, experiment::Contents, judge_alone},
    gpu::{
        Context,
        instrument::{Files, Instrument, Stop, readings},
    },
    session::Session,
};

/// Whether a request of `time` is one for the instrument.
pub fn is_one(request: &JsValue) -> bool {
    Reflect::get(request, &"arms".into()).is_ok_and(|arms| Array::is_array(&arms))
}

/// `{session, outcomes}`; `{void}` with `clause` and `why` where one is broken, and `{rounds}` for slots of the
/// caller's own.
pub async fn run(session: Rc<Session>, view: Rc<dyn View>, request: JsValue) -> Result<JsValue> {
    let experiment: Experiment = parsed(&request)?;
    let context = context(&session)?;
    let drawn = view.drawn();
    view.pause(true);
    let answer = answer(&context, &experiment, || [drawn, view.drawn()]).await;
    view.pause(false);
    told(answer)
}

async fn answer(context: &Context, experiment: &Experiment, drawn: impl Fn() -> [u32; 2]) -> Result<Value, Stop> {
    let files = files(experiment).await?;
    let instrument = Instrument::new(context, experiment, &files).await?;
    if let Some(slots) = &experiment.slots {
        let rounds = instrument.rounds(slots, experiment.rounds).await?;
        let rounds = rounds.iter().map(|round| json!({"ms": round.ms, "wallMs": round.wall_ms}));
        return Ok(json!({"rounds": rounds.collect::<Vec<_>>()}));
    }
    let clock = characterised(context, experiment.allow_software).await?;
    let mut session = instrument.session(clock, Date::now()).await?;
    session.drawn = drawn();
    let judged = judge_alone(std::slice::from_ref(&session));
    Ok(match judged {
        Ok(outcomes) => json!({"session": session, "outcomes": outcomes}),
        Err(void) => json!({"session": session, "void": void}),
    })
}

/// `{clock, readings}`, or `{void}`; what a coarse clock says of itself is told all the same.
pub async fn clock(session: Rc<Session>, options: JsValue) -> Result<JsValue> {
    let context = context(&session)?;
    let allows_software = Reflect::get(&options, &"allowSoftware".into()).is_ok_and(|allowed| allowed.is_truthy());
    told(read_clock(&context, allows_software).await.map(|readings| {
        let void = Clock::of(&readings).err();
        json!({"clock": Clock::without_check(&readings), "readings": readings, "void": void})
    }))
}

async fn read_clock(context: &Context, allows_software: bool) -> Result<Readings, Stop> {
    readings(context, allows_software).await
}

/// The clock of this session. Times of a software adapter say nothing, so neither does its clock.
async fn characterised(context: &Context, allows_software: bool) -> Result<Clock, Stop> {
    let readings = readings(context, allows_software).await?;
    if let (true, Some(clock)) = (context.adapter.is_software, Clock::without_check(&readings)) {
        return Ok(clock);
    }
    Ok(Clock::of(&readings)?)
}

fn context(session: &Session) -> Result<Rc<Context>> {
    let missing = || Error::new(Kind::Gpu, "no_webgpu", "No WebGPU here");
    session.loader().context().cloned().ok_or_else(missing)
}

fn told(answer: Result<Value, Stop>) -> Result<JsValue> {
    match answer {
        Ok(value) => Ok(to_js(&value)),
        Err(Stop::Void(void)) => Ok(to_js(&Voided { void })),
        Err(Stop::Error(error)) => Err(error),
    }
}

#[derive(Serialize)]
struct Voided {
    void: Void,
}

/// All files that the experiment names.
async fn files(experiment: &Experiment) -> Result<Files, Void> {
    let all = experiment.buffers.iter().flat_map(|buffer| buffer.truth.iter().chain([&buffer.contents]));
    let all =
        all.chain(experiment.arms.iter().flat_map(|arm| arm.contents.values())).chain(experiment.control.values());
    let urls = all.filter_map(|contents| if let Contents::File { url, .. } = contents { Some(url) } else { None });
    let mut files = Files::new();
    for url in urls.collect::<BTreeSet<_>>() {
        let bytes = fetched(url).await.map_err(|why| Void::new(Clause::Content, format!("{url}: {why}")))?;
        files.insert(url.clone(), bytes);
    }
    Ok(files)
}

/// A server's page about a missing file must not be taken for the file.
async fn fetched(url: &str) -> Result<Vec<u8>, String> {
    let words = |cause: JsValue| {
        let error = cause.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
        error.unwrap_or_else(|| "not readable".to_owned())
    };
    let window = window().ok_or("no window")?;
    let response = JsFuture::from(window.fetch_with_str(url)).await.map_err(words)?;
    let response: Response = response.dyn_into().map_err(words)?;
    if !response.ok() {
        return Err(format!("the server answers {}", response.status()));
    }
    let bytes = JsFuture::from(response.array_buffer().map_err(words)?).await.map_err(words)?;
    Ok(Uint8Array::new(&bytes).to_vec())
}
