//! `planescope.html`: the whole viewer in one file that works from file:// by a double click.
//!
//! A page of file:// may load nothing beside it, so everything is inside: the style sheet as it is, the modules and
//! their WebAssembly compressed in a script of their own, which `single.js` unpacks. The demo set is left out, as are
//! the buttons that open it.

use std::{fs, io::Write as _, path::Path};

use anyhow::{Context, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use lzma_rust2::{LzmaOptions, LzmaWriter};
use sha2::{Digest, Sha256};

use crate::{paths, setup::say, stamp};

/// Hides what opens the demo set, where that is left out.
pub const NO_DEMO: &str = "[data-do=\"open-demo\"] { display: none; }";
/// The longest that the file may be, bytes.
const MOST_BYTES: usize = 1_500_000;
/// What HTML does not keep as it is: no character, the one that becomes an end of line, and what begins a tag.
const UNKEPT: [u8; 3] = [0, b'\r', b'<'];

/// Makes the page in `dist` one file, `out`. `data` names the folder of a bundle's data, to be chosen by the user.
pub fn build(dist: &Path, out: &Path, data: Option<&str>) -> Result<()> {
    let read = |name: &str| fs::read_to_string(dist.join(name)).with_context(|| dist.join(name).display().to_string());
    let bytes = |name: &str| fs::read(dist.join(name)).with_context(|| dist.join(name).display().to_string());
    let module = format!("{}\n__wbg_init({{ module_or_path: globalThis.planescopeWasm }});", read("planescope.js")?);
    let parts = [
        module.clone().into_bytes(),
        bytes("planescope_bg.wasm")?,
        classic(&read("reader.js")?)?.into_bytes(),
        bytes("reader_bg.wasm")?,
    ];
    ensure!(!module.starts_with("import "), "planescope.js imports another module, which one file cannot hold");
    let lengths = parts.each_ref().map(Vec::len);
    let packed = compressed(&parts.concat())?;
    let loader = format!("\n{}", include_str!("single.js"))
        .replace("UNPACKED_BYTES", &lengths.iter().sum::<usize>().to_string())
        .replace("LENGTHS", &format!("{lengths:?}"));
    let icon = BASE64_STANDARD.encode(bytes("favicon.svg")?);
    let mut html = read("index.html")?;
    let style = format!("\n{}\n{NO_DEMO}\n", read("style.css")?);
    replace_policy(&mut html, &policy(&[&loader, &module], &style))?;
    replace(&mut html, "<link rel=\"stylesheet\" href=\"./style.css\">", &format!("<style>{style}</style>"))?;
    let icon = format!("<link rel=\"icon\" href=\"data:image/svg+xml;base64,{icon}\">");
    replace(&mut html, "<link rel=\"icon\" href=\"./favicon.svg\">", &icon)?;
    let start = "<script type=\"module\">import init from './planescope.js'; await init();</script>";
    replace(&mut html, start, "")?;
    if let Some(data) = data {
        let words = "The folder, or the master .h5 together with its data files.";
        replace(&mut html, words, &format!("Choose the folder <b>{data}</b> that lies beside this file."))?;
    }
    let pack = in_sevens(&packed);
    let scripts = format!(
        "<script type=\"text/plain\" id=\"pack\">{pack}</script>\n<script type=\"module\">{loader}</script>\n</body>"
    );
    replace(&mut html, "</body>", &scripts)?;
    ensure!(
        html.len() <= MOST_BYTES,
        "{} would have {} bytes, more than {MOST_BYTES}; is the page built with wasm-opt?",
        out.display(),
        html.len()
    );
    fs::write(out, &html).with_context(|| out.display().to_string())?;
    say(&format!("the page in one file is {} ({} bytes)", out.display(), html.len()));
    Ok(())
}

fn replace(html: &mut String, what: &str, by: &str) -> Result<()> {
    ensure!(html.matches(what).count() == 1, "the page has no single {what}");
    *html = html.replace(what, by);
    Ok(())
}

/// The page's policy gives way to one for a page without anything beside it: its own scripts and style by their hashes,
/// readers made of what is in it, and their WebAssembly as data.
fn policy(scripts: &[&str], style: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let scripts = scripts.iter().map(|script| hash(script)).collect::<Vec<_>>().join(" ");
    format!(
        "default-src 'none'; script-src 'wasm-unsafe-eval' {scripts}; worker-src blob:; style-src {}; style-src-attr \
         'unsafe-inline'; img-src data: blob:; connect-src data: http: https:; base-uri 'none'; form-action 'none'",
        hash(style)
    )
}

fn replace_policy(html: &mut String, policy: &str) -> Result<()> {
    let start = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let (before, rest) = html.split_once(start).context("the page has no policy")?;
    let (_, after) = rest.split_once('"').context("the page's policy has no end")?;
    *html = format!("{before}{start}{policy}\"{after}");
    Ok(())
}

/// A module of wasm-bindgen as a classic script.
fn classic(module: &str) -> Result<String> {
    let (body, exports) = module.rsplit_once("\nexport {").context("reader.js ends with no exports")?;
    ensure!(exports.trim_end().ends_with("};"), "reader.js goes on after its exports");
    let body = body.replace("import.meta.url", "self.location.href").replace("\nexport ", "\n");
    let body = body.strip_prefix("export ").map(str::to_owned).unwrap_or(body);
    ensure!(!body.contains("\nimport ") && !body.starts_with("import "), "reader.js imports another module");
    Ok(format!("{body}\n"))
}

/// LZMA without a header, as `single.js` reads it: a third smaller than what browsers unpack by themselves, since page
/// and worker are made of the same code. It takes seconds, so it is kept until its input changes.
fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let folder = paths::target().join("pack");
    let packed = folder.join("pack.lzma");
    stamp::made_from(stamp::Sources::default().add(bytes), &folder, || {
        let reach = bytes.len().next_power_of_two() as u32;
        let options = LzmaOptions { dict_size: reach, pb: 0, ..LzmaOptions::with_preset(9) };
        let mut writer = LzmaWriter::new_no_header(Vec::new(), &options, false)?;
        writer.write_all(bytes)?;
        fs::write(&packed, writer.finish()?).with_context(|| packed.display().to_string())
    })?;
    fs::read(&packed).with_context(|| packed.display().to_string())
}

/// Seven bits a character, the highest first; zeros fill the last. One byte each, but for the few that HTML does not keep.
fn in_sevens(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 7 * 8 + bytes.len() / 40);
    let (mut bits, mut count) = (0u32, 0);
    let mut push = |value: u32| {
        let value = (value & 127) as u8;
        let moved = if UNKEPT.contains(&value) { 256 } else { 0 };
        text.extend(char::from_u32(u32::from(value) + moved));
    };
    for &byte in bytes {
        (bits, count) = (bits << 8 | u32::from(byte), count + 8);
        while count >= 7 {
            count -= 7;
            push(bits >> count);
        }
        bits &= 127;
    }
    if count > 0 {
        push(bits << (7 - count));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_bits_a_character_give_every_byte_back_and_nothing_that_html_changes() {
        let bytes: Vec<u8> = (0..=255u8).chain([0, 0, 13, 60, 120, 255]).collect();
        let text = in_sevens(&bytes);
        assert!(!text.contains(['\0', '\r', '<']));
        let (mut bits, mut count, mut back) = (0u32, 0, Vec::new());
        for character in text.chars() {
            (bits, count) = (bits << 7 | u32::from(character) & 127, count + 7);
            if count >= 8 {
                count -= 8;
                back.push((bits >> count) as u8);
            }
            bits &= 0x3fff;
        }
        assert_eq!(back[..bytes.len()], bytes);
        assert_eq!(in_sevens(&[0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]).chars().count(), 8);
    }

    #[test]
    fn a_module_becomes_a_script_and_one_with_imports_is_refused() {
        let module =
            "export class A {}\nconst at = import.meta.url;\nexport function f() {}\nexport { f as default };\n";
        let script = classic(module).expect("a module as wasm-bindgen writes it");
        assert_eq!(script, "class A {}\nconst at = self.location.href;\nfunction f() {}\n");
        assert!(classic("import x from './x.js';\nexport { x };").is_err());
    }
}
