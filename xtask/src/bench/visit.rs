//! One fresh Chrome with the page in it: the set goes in through the file input, and nothing counts until its hashes
//! are right.

use std::{fmt, path::PathBuf, time::Duration};

use anyhow::{Context, Result, bail};
use launcher::http::percent_encoded;
use serde_json::{Value, json};

use super::{set::Set, sweep::Tuning};
use crate::browser::{
    FILE_INPUT, START,
    cdp::{Browser, Launch},
};

/// What all browsers of a measurement have in common.
pub struct Setup {
    pub program: PathBuf,
    pub flags: Vec<String>,
    /// Where the page is served.
    pub url: String,
    /// Where profiles lie.
    pub scratch: PathBuf,
    /// The longest that one answer of the page may take.
    pub limit: Duration,
    pub allows_software: bool,
}

/// Why a measurement does not count: the page showed something wrong.
#[derive(Debug)]
pub struct Void(pub String);

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Void {}

/// A set that the page could not load, and what it said.
#[derive(Debug)]
pub struct NotLoaded(pub String);

impl fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotLoaded {}

/// A page that is ready.
pub struct Visit<'a> {
    setup: &'a Setup,
    browser: Browser,
    /// Which browser and adapter this is, and when.
    pub facts: Facts,
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub browser: String,
    pub adapter: String,
    /// By the page's clock, ISO 8601.
    pub date: String,
    /// The adapter is the processor.
    pub is_software: bool,
}

impl<'a> Visit<'a> {
    /// Starts Chrome with a new profile and opens the page with these knobs.
    pub async fn start(setup: &'a Setup, tuning: &Tuning) -> Result<Self> {
        Self::launch(setup, tuning, false).await
    }

    /// The same with all that the visit before has stored.
    pub async fn again(setup: &'a Setup, tuning: &Tuning) -> Result<Self> {
        Self::launch(setup, tuning, true).await
    }

    async fn launch(setup: &'a Setup, tuning: &Tuning, keeps_profile: bool) -> Result<Self> {
        let launch = Launch {
            program: setup.program.clone(),
            profile: setup.scratch.join("profile"),
            keeps_profile,
            flags: setup.flags.clone(),
            display: None,
        };
        let mut browser = Browser::start(&launch).await?;
        let browser_name = browser.version().await?;
        let mut visit = Self { setup, browser, facts: Facts { browser: browser_name, ..Facts::default() } };
        let tune = match tuning.is_empty() {
            true => String::new(),
            false => format!("?tune={}", percent_encoded(&json!(tuning).to_string())),
        };
        let url = format!("{}{tune}", setup.url);
        visit.within("the page's start", async |browser| browser.open(&url).await).await?;
        visit.within("__planescope", async |browser| browser.evaluate(START).await).await?;
        visit.meet_adapter().await?;
        Ok(visit)
    }

    /// Refuses an adapter whose times mean nothing, before anything is loaded.
    async fn meet_adapter(&mut self) -> Result<()> {
        let adapter = self.ask("adapter()").await?;
        let name = adapter["name"].as_str().context("Chrome offers no WebGPU adapter: are its flags right?")?;
        self.facts.adapter = name.to_owned();
        self.facts.date = adapter["date"].as_str().unwrap_or_default().to_owned();
        let is_software = ["swiftshader", "llvmpipe", "lavapipe", "basic render"]
            .iter()
            .any(|software| name.to_lowercase().contains(software));
        self.refuse_software(is_software)
    }

    fn refuse_software(&mut self, is_software: bool) -> Result<()> {
        self.facts.is_software |= is_software;
        if is_software && !self.setup.allows_software {
            bail!(
                "the adapter is a software one ({}): its times say nothing about a GPU. Check Chrome's flags, or pass \
                 --allow-software to run all the same",
                self.facts.adapter
            );
        }
        Ok(())
    }

    /// Chooses files as a user does.
    ///
    /// # Errors
    /// When Chrome does not answer.
    pub async fn choose(&mut self, files: &[PathBuf]) -> Result<()> {
        self.within("the choice of files", async |browser| browser.choose_files(FILE_INPUT, files).await).await
    }

    /// Chooses the files as a user does; the profile of the load, once all hashes are right.
    ///
    /// # Errors
    /// [`Void`] where anything that the page decoded or reported is wrong; [`NotLoaded`].
    pub async fn load(&mut self, set: &Set, tuning: &Tuning) -> Result<Value> {
        let profile = self.open(&set.files).await?;
        self.check(set, tuning, &profile).await?;
        Ok(profile)
    }

    /// Chooses files as a user does; the profile of the load, however it ended.
    ///
    /// # Errors
    /// Where the page does not answer.
    pub async fn open(&mut self, files: &[PathBuf]) -> Result<Value> {
        self.choose(files).await?;
        self.ask("loaded()").await
    }

    /// Whether a load counts.
    ///
    /// # Errors
    /// As [`Visit::load`].
    pub async fn check(&mut self, set: &Set, tuning: &Tuning, profile: &Value) -> Result<()> {
        if let Some(error) = profile["error"].as_str() {
            return Err(NotLoaded(format!("{} was not loaded: {error}", set.name)).into());
        }
        self.refuse_software(profile["softwareAdapter"] == true)?;
        for (knob, value) in tuning {
            if &profile["tuning"][knob] != value {
                bail!("the page did not take {knob}={value}: it used {}", profile["tuning"][knob]);
            }
        }
        let hashes = self.ask("hashes()").await?;
        let wrong = if hashes["digest"] != set.digest.as_str() {
            format!("the digest of all frames is {}, expected \"{}\"", hashes["digest"], set.digest)
        } else if set.frames.is_some_and(|frames| hashes["decoded"] != frames) {
            format!("{} frames were decoded, expected {}", hashes["decoded"], set.frames.unwrap_or_default())
        } else if profile["framesFailed"] != 0 {
            format!("{} frames failed", profile["framesFailed"])
        } else if profile["gpuErrors"].as_array().is_none_or(|errors| !errors.is_empty()) {
            format!("GPU errors: {}", profile["gpuErrors"])
        } else {
            return Ok(());
        };
        Err(Void(format!("{}: {wrong}", set.name)).into())
    }

    /// The answer to one of the questions in `ask.js`.
    pub async fn ask(&mut self, question: &str) -> Result<Value> {
        let expression = format!("(() => {{ {} }})().{question}", include_str!("ask.js"));
        // What was asked may be long; its name tells enough.
        let what = question.get(..question.len().min(80)).unwrap_or("a question");
        self.within(what, async |browser| browser.evaluate(&expression).await).await
    }

    /// The value of an expression on the page; `what` is its name in errors.
    pub async fn evaluate(&mut self, what: &str, expression: &str) -> Result<Value> {
        self.within(what, async |browser| browser.evaluate(expression).await).await
    }

    /// The next load is not taken for the one before.
    pub async fn forget_load(&mut self) -> Result<()> {
        self.evaluate("the load before", "window.__loadprof = null").await.map(drop)
    }

    /// Bytes after garbage was collected: of JavaScript's objects, and of its buffers.
    pub async fn heap(&mut self) -> Result<(f64, f64)> {
        self.within("the heap", async |browser| browser.heap().await).await
    }

    /// What the page complained about since it was opened.
    pub fn complaints(&self) -> &[String] {
        self.browser.complaints()
    }

    /// Ends Chrome.
    pub async fn end(self) {
        self.browser.close().await;
    }

    async fn within<T>(&mut self, what: &str, step: impl AsyncFnOnce(&mut Browser) -> Result<T>) -> Result<T> {
        match tokio::time::timeout(self.setup.limit, step(&mut self.browser)).await {
            Ok(outcome) => outcome.with_context(|| what.to_owned()),
            Err(_) => bail!("{what}: no answer within {} s (--limit)", self.setup.limit.as_secs()),
        }
    }
}
