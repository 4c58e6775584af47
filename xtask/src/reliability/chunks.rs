//! Changed chunks on the software Vulkan drivers: `tests/twins/hostile.rs` with its full numbers.

use std::{path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{
    paths,
    setup::say,
    test::tools::{chrome, lavapipe, swiftshader},
};

/// `chunks` changed ones for each decoder on each driver.
pub fn run(chunks: u32) -> Result<(Value, bool)> {
    let drivers = [("lavapipe", Some(lavapipe()?)), ("SwiftShader", swiftshader(&chrome()?))];
    let mut found = Vec::new();
    let mut is_fine = true;
    for (name, driver) in drivers {
        let Some(driver) = driver else {
            say(&format!("{name} is not there and is left out"));
            continue;
        };
        say(&format!("{chunks} changed chunks for each decoder on {name}"));
        let (decoders, fine) = on(&driver, chunks)?;
        is_fine &= fine;
        found.push(json!({"driver": name, "decoders": decoders, "isRight": fine}));
    }
    ensure!(!found.is_empty(), "no Vulkan driver was there");
    Ok((json!({"drivers": found}), is_fine))
}

/// What each decoder got and how many frames failed, as the test prints it; and whether the test passed.
fn on(driver: &Path, chunks: u32) -> Result<(Value, bool)> {
    let mut test = Command::new(paths::cargo());
    test.current_dir(paths::root()).args(["test", "--quiet", "--package", "planescope", "--test", "twins", "hostile"]);
    test.args(["--", "--nocapture"]).env("PLANESCOPE_CHUNKS", chunks.to_string());
    test.env("VK_ICD_FILENAMES", driver).env("VK_DRIVER_FILES", driver);
    let output = test.output().context("cargo did not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut decoders = serde_json::Map::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("HOSTILE ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, changed, failed] = words.as_slice() else { continue };
        let decoder = decoders.entry(*name).or_insert(json!({"changed": 0, "failed": 0}));
        for (key, number) in [("changed", changed), ("failed", failed)] {
            decoder[key] = json!(decoder[key].as_u64().unwrap_or(0) + number.parse::<u64>()?);
        }
    }
    if !output.status.success() {
        say(&format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok((decoders.into(), output.status.success() && text.contains("HOSTILE ")))
}
