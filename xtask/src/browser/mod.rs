//! The page in Chrome: real sets through the file input, compared with what h5py and `expected.py` say.
//!
//! Chrome runs with SwiftShader as its WebGPU adapter, headless and, under an X server without a screen, headed. The
//! page is asked through its hooks (`window.__planescope`, `window.__loadprof`), see `probe.js`.

mod bundles;
mod cases;
pub mod cdp;
mod choices;
mod faults;
mod hands;
mod keeping;
mod loading;
mod measuring;
mod palette;
pub mod pictures;
mod screens;
mod security;
mod series;
mod single;
mod viewer;
mod walk;

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    page, paths, serve,
    setup::say,
    test::{Tally, data, tools},
};
use cdp::{Browser, Launch};

/// Where a user's choice of files goes.
pub const FILE_INPUT: &str = "input[type=file]";

/// How long one question to the page may take. Software GPUs are slow; a page that hangs must still be named.
const STEP: Duration = Duration::from_secs(120);
/// All twin tests, whose pipelines take long to make in software.
const TWINS: Duration = Duration::from_secs(420);

/// Waits for the page's hooks; a page that does not start must not cost a whole step in every case.
pub const START: &str = "(async () => {
    const end = performance.now() + 30_000;
    while (!window.__planescope && performance.now() < end) await new Promise(done => setTimeout(done, 20));
    if (!window.__planescope) throw new Error('the page did not start within 30 s');
    await window.__planescope.ready;
})()";

const HEADLESS: &str = "--headless=new";
/// SwiftShader as WebGPU's adapter, in a window of known size.
const SOFTWARE: [&str; 8] = [
    "--no-sandbox",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
    "--mute-audio",
    "--window-size=1280,720",
];

/// The page under test and the answers so far.
struct Bench<'a> {
    browser: Browser,
    python: &'a Path,
    url: String,
    twins_url: String,
    /// "headless" or "headed".
    mode: &'static str,
    tally: Tally,
}

/// Runs all browser tests against `dist/` and the page of the twin tests.
/// `only` names the one part that is run.
pub fn run(chrome: &Path, python: &Path, only: Option<&str>) -> Result<Tally> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let url = serve::serve(&paths::dist(), &[], 0)?.url;
        let twins_url = serve::serve(&page::twins_folder(), &[], 0)?.url;
        let mut tally = Tally::default();

        let browser = Browser::start(&launch(chrome, "headless", None)).await?;
        let mut bench = Bench {
            browser,
            python,
            url: url.clone(),
            twins_url: twins_url.clone(),
            mode: "headless",
            tally: Tally::default(),
        };
        let start = Instant::now();
        if let Some(only) = only {
            bench.one(only, chrome).await;
            tally.add(&bench.tally);
            return Ok(tally);
        }
        bench.headless(chrome).await;
        say(&format!("headless Chrome took {} s", start.elapsed().as_secs()));
        tally.add(&bench.tally);
        tally.add(&measuring::measures(chrome)?);
        tally.add(&measuring::soaks(chrome)?);

        let display = tools::Display::start()?;
        let browser = Browser::start(&launch(chrome, "headed", Some(&display.name))).await?;
        let mut bench = Bench { browser, python, url, twins_url, mode: "headed", tally: Tally::default() };
        let start = Instant::now();
        bench.headed().await;
        say(&format!("headed Chrome took {} s", start.elapsed().as_secs()));
        tally.add(&bench.tally);
        Ok(tally)
    })
}

impl Bench<'_> {
    async fn headless(&mut self, chrome: &Path) {
        let twins = self.twins().await;
        self.finish("twins", twins);
        if let Err(error) = self.open_page().await {
            return self.finish("the page's start", Err(error));
        }
        for bench in &data::BENCH {
            self.case(bench.name, cases::bench(bench)).await;
        }
        self.case("arina-real", cases::Case::Arina).await;
        self.case("demo", cases::Case::Demo).await;
        self.case("not HDF5", cases::Case::Refused).await;
        let start = Instant::now();
        self.fixtures().await;
        println!("        the fixtures took {:.1} s", start.elapsed().as_secs_f32());
        let choices = self.choices().await;
        self.finish("choices", choices);
        let loading = self.loading().await;
        self.finish("loading", loading);
        let viewer = self.viewer().await;
        self.finish("the viewer", viewer);
        let hands = self.hands().await;
        self.finish("hands", hands);
        let walk = self.walk().await;
        self.finish("accessibility", walk);
        let series = self.series().await;
        self.finish("series", series);
        let keeping = self.keeping().await;
        self.finish("copies", keeping);
        let security = self.security().await;
        self.finish("security", security);
        let faults = self.faults(false).await;
        self.finish("faults", faults);
        let single = self.single_file().await;
        self.finish("the page in one file", single);
        let bundles = self.bundles(chrome).await;
        self.finish("bundles", bundles);
        let shots = self.screenshots().await;
        self.finish("screenshots", shots);
    }

    /// One part by its name.
    async fn one(&mut self, name: &str, chrome: &Path) {
        let outcome = match name {
            "viewer" => self.viewer().await,
            "hands" => self.hands().await,
            "accessibility" => self.walk().await,
            "choices" => self.choices().await,
            "keeping" => self.keeping().await,
            "series" => self.series().await,
            "loading" => self.loading().await,
            "security" => self.security().await,
            "faults" => self.faults(true).await,
            "screenshots" => self.screenshots().await,
            "single" => self.single_file().await,
            "bundle" => self.bundles(chrome).await,
            other => Err(anyhow::anyhow!("there is no part {other}")),
        };
        self.finish(name, outcome);
    }

    async fn headed(&mut self) {
        if let Err(error) = self.open_page().await {
            return self.finish("the page's start", Err(error));
        }
        self.case("seed", cases::bench(&data::BENCH[0])).await;
        self.case("bright", cases::bench(&data::BENCH[1])).await;
        self.case("badpix", cases::bench(&data::BENCH[2])).await;
        self.case("arina-real", cases::Case::Arina).await;
        self.case("demo", cases::Case::Demo).await;
        let single = self.single_file().await;
        self.finish("the page in one file", single);
    }

    /// The bodies of the native twin tests, on Chrome's WebGPU.
    async fn twins(&mut self) -> Result<()> {
        let url = self.twins_url.clone();
        let run = async {
            self.browser.open(&url).await?;
            self.browser.evaluate("window.verdicts.then(JSON.parse)").await
        };
        let verdicts = tokio::time::timeout(TWINS, run).await.context("the twin tests: no answer in time")??;
        ensure!(verdicts.as_array().is_some_and(|list| list.len() > 1), "no verdicts: {verdicts}");
        for verdict in verdicts.as_array().into_iter().flatten() {
            let name = format!("twins ({}): {}", self.mode, text(&verdict[0]));
            match verdict[1].as_str() {
                None => self.tally.pass(&name),
                Some(wrong) => self.tally.fail(&name, wrong),
            }
        }
        Ok(())
    }

    /// Opens the page afresh and runs one case on it.
    async fn case(&mut self, name: &str, case: cases::Case<'_>) {
        let start = Instant::now();
        let outcome = case.run(self).await;
        self.finish(name, outcome);
        println!("        {name} ({}) took {:.1} s", self.mode, start.elapsed().as_secs_f32());
    }

    /// Counts what stopped a case, and what the page complained about on the console.
    fn finish(&mut self, name: &str, outcome: Result<()>) {
        let name = format!("{name} ({}): ", self.mode);
        if let Err(error) = outcome {
            self.tally.fail(&format!("{name}to its end"), &format!("{error:#}"));
        }
        match self.browser.complaints() {
            [] => self.tally.pass(&format!("{name}no errors on the console")),
            complaints => self.tally.fail(&format!("{name}no errors on the console"), &complaints.join("\n")),
        }
    }

    /// Opens the page and waits until it is ready.
    async fn open_page(&mut self) -> Result<()> {
        let url = self.url.clone();
        self.limited("the page's start", async |browser| browser.open(&url).await).await?;
        self.limited("__planescope.ready", async |browser| browser.evaluate(START).await).await?;
        Ok(())
    }

    /// The answer to one of the questions in `probe.js`.
    async fn ask(&mut self, question: &str) -> Result<Value> {
        let expression = format!("(() => {{ {} }})().{question}", include_str!("probe.js"));
        let what = question.split('(').next().unwrap_or(question);
        self.limited(what, async |browser| browser.evaluate(&expression).await).await.context(what.to_owned())
    }

    /// Compares every element of two lists; a failure tells where they first differ.
    fn compare(&mut self, what: &str, found: &Value, expected: &Value) {
        let name = format!("{what} ({})", self.mode);
        match difference(found, expected) {
            None => self.tally.pass(&name),
            Some(words) => self.tally.fail(&name, &words),
        }
    }

    async fn limited<T>(&mut self, what: &str, step: impl AsyncFnOnce(&mut Browser) -> Result<T>) -> Result<T> {
        match tokio::time::timeout(STEP, step(&mut self.browser)).await {
            Ok(outcome) => outcome,
            Err(_) => bail!("{what}: no answer within {} s", STEP.as_secs()),
        }
    }
}

/// The flags of a headless Chrome with SwiftShader as its adapter.
pub fn software_flags() -> Vec<&'static str> {
    [&SOFTWARE[..], &[HEADLESS]].concat()
}

/// Chrome with SwiftShader as its adapter; `display` is the X display of a headed one.
fn launch(program: &Path, name: &str, display: Option<&str>) -> Launch {
    let mut flags = SOFTWARE.to_vec();
    flags.extend(display.map_or([HEADLESS].as_slice(), |_| &["--ozone-platform=x11", "--window-position=0,0"]));
    Launch {
        program: program.to_owned(),
        profile: paths::target().join("chrome").join(name),
        keeps_profile: false,
        flags: flags.into_iter().map(str::to_owned).collect(),
        display: display.map(str::to_owned),
    }
}

/// JSON from a script in `tests/data`.
fn answers(python: &Path, script: &str, arguments: &[&Path]) -> Result<Value> {
    let script = paths::root().join("tests/data").join(script);
    let output = Command::new(python).arg(&script).args(arguments).output()?;
    ensure!(output.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| script.display().to_string())
}

/// Where two values differ, in words. Numbers and their texts are the same; a list that ends early is filled up with
/// null, which stands for no data.
fn difference(found: &Value, expected: &Value) -> Option<String> {
    let (Some(found), Some(expected)) = (found.as_array(), expected.as_array()) else {
        return (text(found) != text(expected)).then(|| format!("found {found}, expected {expected}"));
    };
    let length = found.len().max(expected.len());
    let at = |list: &[Value], i: usize| list.get(i).map_or_else(|| "null".to_owned(), text);
    let differing: Vec<usize> = (0..length).filter(|&i| at(found, i) != at(expected, i)).collect();
    let first = *differing.first()?;
    Some(format!(
        "{} of {length} differ, the first at {first}: found {}, expected {}",
        differing.len(),
        at(found, first),
        at(expected, first)
    ))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn big_numbers_are_compared_as_texts_and_missing_ones_as_null() {
        assert_eq!(difference(&json!(["18446744073709551615", "2"]), &json!([18446744073709551615u64, 2, null])), None);
    }

    #[test]
    fn the_first_difference_is_named() {
        let words = difference(&json!([1, 2, null]), &json!([1, 3, 4])).expect("two elements differ");
        assert_eq!(words, "2 of 3 differ, the first at 1: found 2, expected 3");
    }

    #[test]
    fn an_empty_answer_is_not_taken_for_a_full_one() {
        assert!(difference(&json!([]), &json!([1])).is_some());
        assert!(difference(&json!(null), &json!([1])).is_some());
    }
}
