//! `docs/reliability.md`, from the records of the runs alone.

use std::{fmt::Write, path::Path};

use anyhow::{Context, Result};
use serde_json::Value;

/// The page.
///
/// # Errors
/// Where a record is no JSON.
pub fn of(records: &Path) -> Result<String> {
    let read = |name: &str| -> Result<Option<Value>> {
        let path = records.join(name).with_extension("json");
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(|| path.display().to_string()),
            Err(_) => Ok(None),
        }
    };
    let mut page = HEAD.to_owned();
    let mut fed = Vec::new();
    for (name, what) in FED {
        fed.extend(read(name)?.map(|record| (what, record)));
    }
    let (cut, chunks, faults, found) = (read("cut")?, read("chunks")?, read("faults")?, read("found")?);
    let mut pages = Vec::new();
    for name in ["page", "page-h200"] {
        pages.extend(read(name)?);
    }
    summary(&mut page, &fed, [&cut, &chunks, &faults].map(Option::as_ref), &pages)?;
    hostile(&mut page, &fed)?;
    if let Some(cut) = &cut {
        cut_short(&mut page, cut)?;
    }
    decoders(&mut page, chunks.as_ref(), &pages)?;
    if let Some(faults) = &faults {
        in_motion(&mut page, faults)?;
    }
    if let Some(found) = &found {
        page += "\n## What was found, and fixed\n\n";
        for entry in found.as_array().into_iter().flatten() {
            writeln!(page, "- {} *{}*", text(&entry["what"]), text(&entry["fixed"]))?;
        }
    }
    page += OTHERS;
    Ok(page)
}

/// One line for each kind of fault.
fn summary(
    page: &mut String,
    fed: &[(&str, Value)],
    [cut, chunks, faults]: [Option<&Value>; 3],
    pages: &[Value],
) -> Result<()> {
    *page += "| done to it | tried | survived | lost |\n|---|---:|---:|---:|\n";
    let mut line = |what: &str, tried: u64, lost: u64| {
        writeln!(
            page,
            "| {what} | {} | {} | {} |",
            thousands(tried),
            thousands(tried - lost.min(tried)),
            thousands(lost)
        )
    };
    for (what, record) in fed {
        line(what, number(&record["executions"]), length(&record["findings"]))?;
    }
    if let Some(cut) = cut {
        line("files cut at every byte of their metadata", number(&cut["cuts"]), length(&cut["wrong"]))?;
    }
    for driver in chunks.into_iter().flat_map(|chunks| list(&chunks["drivers"])) {
        let changed = driver["decoders"].as_object().into_iter().flatten().map(|(_, of)| number(&of["changed"])).sum();
        let lost = if driver["isRight"] == true { 0 } else { changed };
        line(&format!("chunks changed at random, on {}", text(&driver["driver"])), changed, lost)?;
    }
    for record in pages {
        let decoders = record["decoders"].as_object().into_iter().flatten();
        let lost: u64 =
            decoders.clone().map(|(_, of)| of["different"].as_u64().unwrap_or(number(&record["changed"]))).sum();
        let changed = number(&record["changed"]) * decoders.count() as u64;
        line(&format!("chunks changed at random, in Chrome on {}", text(&record["adapter"])), changed, lost)?;
    }
    if let Some(faults) = faults {
        let cases = list(&faults["cases"]);
        let lost = cases.iter().filter(|case| case["isRight"] != true).count() as u64;
        line("files in motion, workers and GPUs that fail, in Chrome", cases.len() as u64, lost)?;
    }
    Ok(())
}

fn hostile(page: &mut String, fed: &[(&str, Value)]) -> Result<()> {
    *page += HOSTILE;
    for (what, record) in fed {
        let accepted = number(&record["outcomes"]["accepted"]);
        let coverage = &record["coverage"];
        let reached = match (coverage["covered"].as_u64(), coverage["lines"].as_u64()) {
            (Some(covered), Some(lines)) if lines > 0 => format!(
                "{:.1} % of {} lines of {}",
                100.0 * covered as f64 / lines as f64,
                thousands(lines),
                list(&coverage["of"]).iter().map(|of| format!("`{}`", text(of))).collect::<Vec<_>>().join(", ")
            ),
            _ => "not measured".to_owned(),
        };
        writeln!(
            page,
            "| {what} | {} | {} | {} | {} | {:.1} ms | {} | {reached} |",
            thousands(number(&record["executions"])),
            thousands(accepted),
            thousands(number(&record["executions"]) - accepted),
            length(&record["findings"]),
            record["slowestMs"].as_f64().unwrap_or_default(),
            mebibytes(number(&record["peakBytes"])),
        )?;
    }
    Ok(())
}

fn cut_short(page: &mut String, cut: &Value) -> Result<()> {
    let errors: Vec<String> = list(&cut["errors"]).iter().map(|key| format!("`{}`", text(key))).collect();
    writeln!(
        page,
        "\n## Files that are cut short\n\n{} small files, each cut at every byte of its metadata: {} cuts, each told as an \
         error with a key ({}). The slowest took {:.1} ms, the most memory was {}. {} were wrong.",
        number(&cut["files"]),
        thousands(number(&cut["cuts"])),
        errors.join(", "),
        cut["slowestMs"].as_f64().unwrap_or_default(),
        mebibytes(number(&cut["peakBytes"])),
        length(&cut["wrong"]),
    )?;
    Ok(())
}

fn decoders(page: &mut String, chunks: Option<&Value>, pages: &[Value]) -> Result<()> {
    *page += DECODERS;
    for driver in chunks.into_iter().flat_map(|chunks| list(&chunks["drivers"])) {
        let outcome = if driver["isRight"] == true { "none" } else { "SOME" };
        for (name, of) in driver["decoders"].as_object().into_iter().flatten() {
            let (changed, failed) = (number(&of["changed"]), number(&of["failed"]));
            let on = text(&driver["driver"]);
            writeln!(page, "| {on} | {name} | {} | {} | {outcome} |", thousands(changed), thousands(failed))?;
        }
    }
    for record in pages {
        let on = format!("Chrome, {}", text(&record["adapter"]));
        for (name, of) in record["decoders"].as_object().into_iter().flatten() {
            let different = match of["different"].as_u64() {
                Some(0) => "none".to_owned(),
                Some(some) => thousands(some),
                None => text(&of["error"]).to_owned(),
            };
            let (changed, failed) = (number(&record["changed"]), number(&record["failed"]));
            writeln!(page, "| {on} | {name} | {} | {} | {different} |", thousands(changed), thousands(failed))?;
        }
    }
    Ok(())
}

fn in_motion(page: &mut String, faults: &Value) -> Result<()> {
    *page += "\n## Files in motion, workers and GPUs that fail\n\nIn Chrome; each ends in a right picture or in words, and \
              the page goes on.\n\n";
    for case in list(&faults["cases"]) {
        let mark = if case["isRight"] == true { "" } else { "**lost:** " };
        writeln!(page, "- {mark}{}", text(&case["case"]))?;
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn length(value: &Value) -> u64 {
    list(value).len() as u64
}

fn thousands(number: u64) -> String {
    planescope::display::count(number)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Records of fuzzing, and what was fed.
const FED: [(&str, &str); 5] = [
    ("walker", "HDF5 files, from the superblock to the lists of chunks"),
    ("filters", "chunks of every filter"),
    ("meaning", "sets, from picked files to decoded frames and words"),
    ("session", "session files"),
    ("address", "addresses of the page"),
];

const HEAD: &str = "# Reliability

A viewer that shows a plausible wrong picture is worse than one that stops. This page says what was done to planescope
to make it lie, hang or crash, and what came of it. It is written by `cargo xtask reliability` from the records in
`tests/reliability`, each of which `cargo xtask reliability --run PART` makes anew (`--help` lists the parts). *Lost* is
whatever did not end as it should: a panic, more than 100 ms or more memory than the stated bound for a hostile input,
another verdict or another count than the CPU's for a chunk, a page that stays broken.

";

const HOSTILE: &str = "
## Hostile input

Made from the test files by changing bytes, fields, tokens and lengths (checksums of HDF5 structures are put right
again, so that changes get past them), guided by coverage: an input that reaches new code is kept and changed further
(`cargo xtask fuzz`, on stable Rust). Arithmetic that overflows is a panic in this build. Every answer is checked: errors
have words, decoded bytes have the length that was asked for, what was read as a view is written and read again equal,
and the CPU's codec and the GPU's twin agree on bitshuffle-LZ4. The bound on memory is 256 MiB and 1,024 bytes for each
byte of the input.

| input | executions | accepted | refused in words | broken | slowest | most memory | code reached |
|---|---:|---:|---:|---:|---:|---:|---|
";

const DECODERS: &str = "
## Changed chunks on the GPU

Bitshuffle-LZ4 chunks with bits, tokens, offsets and lengths spoiled, parts left out, doubled or cut off, each beside one
that is sound. The verdict and every word of every frame, changed or not, are compared with the CPU's (lz4_flex and the
checks of the format): natively plane by plane, in Chrome by the hash of each frame.

| on | decoder | changed chunks | refused by both | frames that differ |
|---|---|---:|---:|---:|
";

const OTHERS: &str = "
## What other projects publish

Looked for in the documentation, issues and sources of h5web, jsfive, h5wasm and LiberTEM: none of them publishes how
many hostile inputs were tried or what came of them, so there is nothing to set beside these figures. The HDF5 library,
which h5wasm is made of, is fuzzed by [OSS-Fuzz](https://github.com/google/oss-fuzz/pull/9711); neither executions nor
coverage were found to be published, findings are issues of the library
([one of them](https://github.com/HDFGroup/hdf5/issues/1707): a damaged file on which it does not end).
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    #[test]
    fn the_page_is_what_the_records_say() {
        let page = std::fs::read_to_string(paths::root().join("docs/reliability.md")).expect("the page is there");
        let made = of(&paths::root().join("tests/reliability")).expect("the records are JSON");
        assert!(page == made, "docs/reliability.md is not what tests/reliability says: run cargo xtask reliability");
    }
}
