//! Every generated fixture, and the real set where it is at hand, against its `expected.json`.
//!
//! The files are made by `tests/data/fixtures/make_fixtures.py OUTDIR`; `PLANESCOPE_FIXTURES=OUTDIR` tells
//! where. Without it nothing is compared, and the test says so (`cargo xtask test` makes them).
//! `PLANESCOPE_ARINA` is the folder of a real ARINA set with an `expected.json` of the same form.

#[path = "help/counted.rs"]
mod counted;
#[path = "help/made.rs"]
mod made;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use counted::Counted;
use planescope::{
    acquisition::{
        self,
        report::{Request, inspect},
    },
    source::{ByteSource, Disk},
};
use serde_json::Value;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[test]
fn every_fixture_is_read_as_expected() -> Outcome {
    compare_folder("PLANESCOPE_FIXTURES")
}

/// Files of further kinds, made by `tests/data/kinds/make_files.py` with the Python that `PLANESCOPE_PYTHON` names.
#[test]
fn files_of_further_kinds_are_read_as_expected() -> Outcome {
    match made::made("kinds", &[])? {
        Some(folder) => compare_cases(&folder),
        None => Ok(()),
    }
}

#[test]
fn a_real_arina_set_is_read_as_expected() -> Outcome {
    compare_folder("PLANESCOPE_ARINA")
}

#[test]
fn an_index_of_many_chunks_costs_few_reads() -> Outcome {
    let Some(folder) = env::var_os("PLANESCOPE_FIXTURES").map(PathBuf::from) else { return Ok(()) };
    for (name, most) in [("index_deep_btree1", 8), ("index_deep_btree2", 10)] {
        let counted = Counted::open(&folder.join(name).join(name).with_extension("h5"))?;
        acquisition::read(&[&counted])?;
        assert!(counted.reads.get() <= most, "{name}: {} reads", counted.reads.get());
    }
    Ok(())
}

fn compare_folder(variable: &str) -> Outcome {
    let Some(folder) = env::var_os(variable).map(PathBuf::from) else {
        eprintln!("skipped: {variable} is not set");
        return Ok(());
    };
    println!("{variable}");
    compare_cases(&folder)
}

fn compare_cases(folder: &Path) -> Outcome {
    let expected: Value = serde_json::from_slice(&fs::read(folder.join("expected.json"))?)?;
    let cases = expected["cases"].as_object().ok_or("expected.json has no cases")?;
    let mut differences = Vec::new();
    for (name, case) in cases {
        // A folder with one case may hold the files itself.
        let files = [folder.join(name), folder.to_owned()].into_iter().find(|place| place.is_dir()).unwrap_or_default();
        let found = report(&files, case)?;
        differences.extend(compare(case, &found).into_iter().map(|difference| format!("{name}: {difference}")));
    }
    println!("{} cases", cases.len());
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

fn report(folder: &Path, case: &Value) -> Outcome<Value> {
    let names = case["files"].as_array().ok_or("a case without files")?.iter().filter_map(Value::as_str);
    let disks = names.map(|name| Disk::open(&folder.join(name))).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    Ok(inspect(&sources, Request { has_hashes: true })?.json)
}

/// Every key of `case` that differs in `found`. Refusing with `or_error`, and reading all frames as `or_ok`
/// says, are right as well.
fn compare(case: &Value, found: &Value) -> Vec<String> {
    let alternative = |key: &str, of: &str| case.get(key).is_some_and(|value| !value.is_null() && *value == found[of]);
    if alternative("or_error", "error") || alternative("or_ok", "sha256") {
        return Vec::new();
    }
    let about_the_case = ["what", "why", "files", "or_error", "or_ok"];
    let keys = case.as_object().into_iter().flatten().filter(|(key, _)| !about_the_case.contains(&key.as_str()));
    let differs = keys.filter(|(key, value)| !is_same(value, found.get(key.as_str()).unwrap_or(&Value::Null)));
    let mut differences: Vec<String> =
        differs.map(|(key, value)| format!("{key}: expected {value}, found {}", found[key])).collect();
    if found["message"].as_str().is_none_or(str::is_empty) {
        differences.push("no message".to_owned());
    }
    differences
}

/// Equal; scales up to rounding.
fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected.as_f64().filter(|_| expected.is_f64()), found.as_f64()) {
        (Some(expected), Some(found)) => (expected - found).abs() <= 1e-12 * expected.abs(),
        _ => expected == found,
    }
}
