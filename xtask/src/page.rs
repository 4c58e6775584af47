//! The page in `dist/`: what trunk makes of index.html, without trunk.
//!
//! index.html is written for [trunk 0.21](https://trunkrs.dev/assets/): every `<link data-trunk rel="...">` names an
//! asset. The kinds that the page uses are understood here as trunk does with `filehash = false`:
//!
//! | `rel` | in `dist/` | in the page |
//! |---|---|---|
//! | `rust` | `BIN.js`, `BIN_bg.wasm` | a module script that starts it; with `data-type="worker"` nothing |
//! | `css` | the file | `<link rel="stylesheet">` |
//! | `icon` | the file | `<link rel="icon">` |
//! | `copy-file`, `copy-dir` | the file, the folder | nothing |
//!
//! Addresses are relative, so that the folder can be served from anywhere.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest, Sha256};

use crate::{
    paths,
    setup::{self, say},
    wasm::{self, Profile},
};

/// The binary of the page that runs the twin tests.
const TWINS: &str = "twins_page";

/// Builds the whole page into `out`.
pub fn build(profile: Profile, out: &Path) -> Result<()> {
    let root = paths::root();
    let source = root.join("index.html");
    let html = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
    let (html, assets) = resolve(&html)?;

    let binaries = assets.iter().filter_map(|asset| if let Asset::Rust(binary) = asset { Some(binary) } else { None });
    for Binary { name, default_features, .. } in binaries {
        let features: &[&str] = if *default_features { &[] } else { &["--no-default-features"] };
        wasm::compile(name, features, profile)?;
    }
    let wasm_opt = if profile == Profile::Release { setup::wasm_opt() } else { None };
    // An old page must not show through a failed or half-done build.
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| out.display().to_string())?;
    }
    fs::create_dir_all(out)?;
    // Each asset in a thread of its own: wasm-opt uses one core.
    std::thread::scope(|scope| -> Result<()> {
        let place = |asset| place(asset, profile, wasm_opt.as_deref(), out);
        let threads: Vec<_> = assets.iter().map(|asset| scope.spawn(move || place(asset))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    fs::write(out.join("index.html"), with_policy(&html)?)?;
    say(&format!("the page is in {}", out.display()));
    Ok(())
}

/// Puts what one asset asks for into `out`.
fn place(asset: &Asset, profile: Profile, wasm_opt: Option<&Path>, out: &Path) -> Result<()> {
    let binary = match asset {
        Asset::File(path) => return copy(&paths::root().join(path), out),
        Asset::Rust(binary) => binary,
    };
    let bound = wasm::bind(&binary.name, profile, wasm_opt.map(|tool| (tool, &*binary.optimise)))?;
    for file in [format!("{}.js", binary.name), format!("{}_bg.wasm", binary.name), "snippets".to_owned()] {
        let file = bound.join(file);
        if file.exists() {
            copy(&file, out)?;
        }
    }
    Ok(())
}

/// Builds a bare page that runs the twin tests into [`twins_folder`]. Its promise `verdicts` gives what came out.
pub fn build_twins() -> Result<()> {
    let name = TWINS;
    wasm::compile(name, &["--features", "twins"], Profile::Release)?;
    let folder = wasm::bind(name, Profile::Release, None)?;
    let html = format!(
        "<!doctype html><title>twins</title><link rel=\"icon\" href=\"data:,\"><script type=\"module\">\
         import init, {{ verdicts }} from './{name}.js'; window.verdicts = init().then(verdicts);</script>"
    );
    fs::write(folder.join("index.html"), html).with_context(|| folder.display().to_string())
}

/// Where the page of the twin tests is.
pub fn twins_folder() -> PathBuf {
    wasm::bound(TWINS)
}

/// What one link of index.html asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asset {
    Rust(Binary),
    /// A file or folder copied as it is.
    File(PathBuf),
}

/// A binary of the package that becomes WebAssembly.
#[derive(Debug, PartialEq, Eq)]
struct Binary {
    name: String,
    /// False with `data-cargo-no-default-features`.
    default_features: bool,
    /// wasm-opt's arguments (`data-wasm-opt`, `data-wasm-opt-params`).
    optimise: Vec<String>,
}

/// index.html with its links replaced, and what they ask for.
fn resolve(html: &str) -> Result<(String, Vec<Asset>)> {
    let (mut page, mut assets) = (String::new(), Vec::new());
    let mut rest = html;
    while let Some(start) = rest.find("<link") {
        let length = rest[start..].find('>').context("index.html: a <link> is not closed")? + 1;
        let tag = &rest[start..start + length];
        page.push_str(&rest[..start]);
        rest = &rest[start + length..];
        let attributes = attributes(tag);
        if !attributes.contains_key("data-trunk") {
            page.push_str(tag);
            continue;
        }
        let (asset, replacement) = resolve_link(&attributes).with_context(|| format!("index.html: {tag}"))?;
        page.push_str(&replacement);
        assets.push(asset);
    }
    page.push_str(rest);
    Ok((page, assets))
}

fn resolve_link(attributes: &BTreeMap<String, String>) -> Result<(Asset, String)> {
    let value = |name: &str| attributes.get(name).map(String::as_str);
    let rel = value("rel").context("no rel")?;
    if rel == "rust" {
        let name = value("data-bin").context("no data-bin")?.to_owned();
        let script = match value("data-type") {
            Some("worker") => String::new(),
            _ => format!("<script type=\"module\">import init from './{name}.js'; await init();</script>"),
        };
        let mut optimise = vec![format!("-O{}", value("data-wasm-opt").unwrap_or_default())];
        optimise.extend(value("data-wasm-opt-params").unwrap_or_default().split_whitespace().map(str::to_owned));
        let default_features = !attributes.contains_key("data-cargo-no-default-features");
        return Ok((Asset::Rust(Binary { name, default_features, optimise }), script));
    }
    let path = PathBuf::from(value("href").context("no href")?);
    let name = path.file_name().and_then(|name| name.to_str()).context("href names no file")?;
    let replacement = match rel {
        "css" => format!("<link rel=\"stylesheet\" href=\"./{name}\">"),
        "icon" => format!("<link rel=\"icon\" href=\"./{name}\">"),
        "copy-file" | "copy-dir" => String::new(),
        other => bail!("rel=\"{other}\" is not one of the kinds that xtask knows"),
    };
    Ok((Asset::File(path), replacement))
}

/// The page with its [Content Security Policy](https://www.w3.org/TR/CSP3/): nothing but what lies beside it runs, and
/// of inline scripts those that stand in it now, by their hash.
fn with_policy(html: &str) -> Result<String> {
    let hashes: String = inline_scripts(html)
        .iter()
        .map(|script| format!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script))))
        .collect();
    let policy = format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{hashes}; worker-src 'self' blob:; style-src 'self'; \
         style-src-attr 'unsafe-inline'; \
         img-src 'self' data: blob:; connect-src 'self' http: https:; base-uri 'none'; form-action 'none'"
    );
    let charset = "<meta charset=\"utf-8\">";
    ensure!(html.matches(charset).count() == 1, "index.html has no single {charset}");
    let meta = format!("{charset}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">");
    Ok(html.replace(charset, &meta))
}

/// What stands in the page's own scripts.
fn inline_scripts(html: &str) -> Vec<&str> {
    let scripts = html.split("<script").skip(1).filter_map(|rest| {
        let (tag, rest) = rest.split_once('>')?;
        let (script, _) = rest.split_once("</script>")?;
        (!tag.contains("src=")).then_some(script)
    });
    scripts.collect()
}

/// The attributes of one tag; one without a value has the empty one.
fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = tag.trim_start_matches("<link").trim_end_matches('>').trim_end_matches('/').trim();
    while !rest.is_empty() {
        let name_end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(name_end);
        let Some(quoted) = after.strip_prefix("=\"") else {
            found.insert(name.to_owned(), String::new());
            rest = after.trim_start_matches('=').trim_start();
            continue;
        };
        let value_end = quoted.find('"').unwrap_or(quoted.len());
        found.insert(name.to_owned(), quoted[..value_end].to_owned());
        rest = quoted[value_end..].trim_start_matches('"').trim_start();
    }
    found
}

/// Copies a file, or a folder with all that is in it, into `folder`.
fn copy(from: &Path, folder: &Path) -> Result<()> {
    let name = from.file_name().with_context(|| from.display().to_string())?;
    let to = folder.join(name);
    if from.is_file() {
        fs::copy(from, &to).with_context(|| from.display().to_string())?;
        return Ok(());
    }
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        copy(&entry?.path(), &to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_scripts_of_the_page_by_their_hashes_and_lets_no_other_in() -> Result<()> {
        let html = "<meta charset=\"utf-8\"><script src=\"x.js\"></script><script type=\"module\">a()</script>";
        assert_eq!(inline_scripts(html), ["a()"]);
        let page = with_policy(html)?;
        // openssl dgst -sha256 -binary | base64
        assert!(page.contains("'wasm-unsafe-eval' 'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4=';"), "{page}");
        // Attributes that place a bar are all that is inline.
        assert_eq!((page.matches("'unsafe-inline'").count(), page.matches("'unsafe-eval'").count()), (1, 0), "{page}");
        assert!(with_policy("<head></head>").is_err());
        Ok(())
    }

    #[test]
    fn links_become_what_trunk_makes_of_them() -> Result<()> {
        let html = "<head>\n<link data-trunk rel=\"rust\" data-bin=\"planescope\" data-wasm-opt=\"3\" data-wasm-opt-params=\"-a -b\" />\n\
             <link data-trunk rel=\"rust\" data-type=\"worker\" data-bin=\"reader\" data-cargo-no-default-features>\n\
             <link data-trunk rel=\"css\" href=\"www/style.css\">\n\
             <link data-trunk rel=\"copy-dir\" href=\"www/demo\">\n\
             <link rel=\"help\" href=\"help.html\"></head>";
        let (html, assets) = resolve(html)?;
        assert_eq!(
            html,
            "<head>\n<script type=\"module\">import init from './planescope.js'; await init();</script>\n\n\
             <link rel=\"stylesheet\" href=\"./style.css\">\n\n<link rel=\"help\" href=\"help.html\"></head>"
        );
        let page = Binary {
            name: "planescope".into(),
            default_features: true,
            optimise: ["-O3", "-a", "-b"].map(Into::into).into(),
        };
        let worker = Binary { name: "reader".into(), default_features: false, optimise: vec!["-O".into()] };
        let expected = [
            Asset::Rust(page),
            Asset::Rust(worker),
            Asset::File("www/style.css".into()),
            Asset::File("www/demo".into()),
        ];
        assert_eq!(assets, expected);
        Ok(())
    }

    #[test]
    fn an_unknown_kind_of_link_is_refused_by_name() {
        let refused = resolve("<link data-trunk rel=\"scss\" href=\"a.scss\">").expect_err("scss is not known");
        assert!(format!("{refused:#}").contains("rel=\"scss\""), "{refused:#}");
    }
}
