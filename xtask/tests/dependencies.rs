//! Every crate of the lock file, against `deny.toml`: its licence, where it comes from, and those that are banned.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

/// All packages, and `deny.toml`.
fn read() -> (Vec<Value>, toml::Value) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("cargo metadata lists no packages") };
    assert!(packages.len() > 50, "{} packages", packages.len());
    let text = std::fs::read_to_string(root.join("deny.toml")).expect("deny.toml is there");
    (packages, toml::from_str(&text).expect("deny.toml is TOML"))
}

fn texts<'a>(config: &'a toml::Value, table: &str, key: &str) -> Vec<&'a str> {
    config[table][key].as_array().expect("a list").iter().filter_map(toml::Value::as_str).collect()
}

/// Whether an expression of licences (<https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/>) can be met by
/// `allowed` ones. A slash is the old way to write OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any(&words, &mut at, allowed) && at == words.len()
}

fn any(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

fn all(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[&str]) -> bool {
    let Some(&word) = words.get(*at) else { return false };
    *at += 1;
    if word == "(" {
        let met = any(words, at, allowed);
        *at += 1;
        return met;
    }
    // An exception only adds to what a licence allows.
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.contains(&word)
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let (packages, config) = read();
    let allowed = texts(&config, "licenses", "allow");
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{}: {licence:?}", package["name"]);
    }
}

#[test]
fn every_crate_comes_from_one_registry_or_from_here() {
    let (packages, _) = read();
    let sources: BTreeSet<_> = packages.iter().filter_map(|package| package["source"].as_str()).collect();
    assert!(sources.len() == 1 && sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
}

#[test]
fn no_crate_is_there_that_is_banned() {
    let (packages, config) = read();
    let banned = config["bans"]["deny"].as_array().expect("a list");
    for ban in banned.iter().filter_map(|ban| ban["crate"].as_str()) {
        assert!(packages.iter().all(|package| package["name"] != ban), "{ban} is banned");
    }
}

#[test]
fn licences_are_read_as_their_expressions_say() {
    let allowed = ["MIT", "Zlib"];
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("GPL-3.0 OR MIT AND Apache-2.0", false),
        ("MIT WITH LLVM-exception", true),
        ("MIT MIT", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), met, "{expression}");
    }
}
