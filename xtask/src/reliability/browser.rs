//! Files in motion, workers and GPUs that fail: the part `faults` of the browser tests, with what each came to.

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    browser, page, paths,
    test::{data, tools},
    wasm::Profile,
};

pub fn run() -> Result<(Value, bool)> {
    let (python, chrome) = (tools::python()?, tools::chrome()?);
    data::make(&python)?;
    page::build(Profile::Release, &paths::dist())?;
    let tally = browser::run(&chrome, &python, Some("faults"))?;
    let cases: Vec<Value> =
        tally.names.iter().map(|(name, is_right)| json!({"case": name, "isRight": is_right})).collect();
    Ok((json!({"cases": cases}), tally.failed == 0))
}
