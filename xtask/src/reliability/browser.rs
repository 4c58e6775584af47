//! Files in motion, workers and GPUs that fail: the part `faults` of the browser tests, with what each came to.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    bench::rig::Rig,
    browser, paths,
    test::{data, tools},
};

/// On the page of `rig`, or on one that is built first.
pub fn run(rig: &Rig) -> Result<(Value, bool)> {
    let (python, chrome) = (tools::python()?, tools::chrome()?);
    data::make(&python)?;
    ensure!(
        std::path::absolute(rig.page()?)? == paths::dist(),
        "the browser tests run on the page in {}",
        paths::dist().display()
    );
    let tally = browser::run(&chrome, &python, Some("faults"))?;
    let cases: Vec<Value> =
        tally.names.iter().map(|(name, is_right)| json!({"case": name, "isRight": is_right})).collect();
    Ok((json!({"cases": cases}), tally.failed == 0))
}
