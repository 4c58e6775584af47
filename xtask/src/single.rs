//! `planescope.html`: the whole viewer in one file that works from file:// by a double click.
//!
//! A page of file:// may load nothing beside it, so everything is inside: the style sheet as it is, the modules and
//! their WebAssembly compressed in a script of their own, which `single.js` unpacks. The demo set is left out, as are
//! the buttons that open it.

use std::{fmt::Write as _, fs, io::Write as _, path::Path};

use anyhow::{Context, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::{Compression, write::GzEncoder};

use crate::setup::say;

/// Hides what opens the demo set, where that is left out.
pub const NO_DEMO: &str = "[data-do=\"open-demo\"] { display: none; }";
/// The longest that the file may be, bytes.
const MOST_BYTES: usize = 1_500_000;
/// 85 digits that HTML leaves alone in a script, whatever their order.
const FIRST_DIGIT: u8 = b'!';

/// Makes the page in `dist` one file, `out`. `data` names the folder of a bundle's data, to be chosen by the user.
pub fn build(dist: &Path, out: &Path, data: Option<&str>) -> Result<()> {
    let read = |name: &str| fs::read_to_string(dist.join(name)).with_context(|| dist.join(name).display().to_string());
    let bytes = |name: &str| fs::read(dist.join(name)).with_context(|| dist.join(name).display().to_string());
    let parts = [
        read("planescope.js")?.into_bytes(),
        bytes("planescope_bg.wasm")?,
        classic(&read("reader.js")?)?.into_bytes(),
        bytes("reader_bg.wasm")?,
    ];
    ensure!(!parts[0].starts_with(b"import "), "planescope.js imports another module, which one file cannot hold");
    let lengths = parts.each_ref().map(Vec::len);
    let packed = compressed(&parts)?;
    let digits = alphabet();
    let loader = include_str!("single.js")
        .replace("ALPHABET", &format!("{digits:?}"))
        .replace("PACKED_BYTES", &packed.len().to_string())
        .replace("LENGTHS", &format!("{lengths:?}"));
    let icon = BASE64_STANDARD.encode(bytes("favicon.svg")?);
    let mut html = read("index.html")?;
    let style = format!("<style>\n{}\n{NO_DEMO}\n</style>", read("style.css")?);
    replace(&mut html, "<link rel=\"stylesheet\" href=\"./style.css\">", &style)?;
    let icon = format!("<link rel=\"icon\" href=\"data:image/svg+xml;base64,{icon}\">");
    replace(&mut html, "<link rel=\"icon\" href=\"./favicon.svg\">", &icon)?;
    let start = "<script type=\"module\">import init from './planescope.js'; await init();</script>";
    replace(&mut html, start, "")?;
    if let Some(data) = data {
        let words = "The folder, or the master .h5 together with its data files.";
        replace(&mut html, words, &format!("Choose the folder <b>{data}</b> that lies beside this file."))?;
    }
    let pack = base85(&packed, digits.as_bytes());
    let scripts = format!(
        "<script type=\"text/plain\" id=\"pack\">{pack}</script>\n<script type=\"module\">\n{loader}</script>\n</body>"
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

/// A module of wasm-bindgen as a classic script.
fn classic(module: &str) -> Result<String> {
    let (body, exports) = module.rsplit_once("\nexport {").context("reader.js ends with no exports")?;
    ensure!(exports.trim_end().ends_with("};"), "reader.js goes on after its exports");
    let body = body.replace("import.meta.url", "self.location.href").replace("\nexport ", "\n");
    let body = body.strip_prefix("export ").map(str::to_owned).unwrap_or(body);
    ensure!(!body.contains("\nimport ") && !body.starts_with("import "), "reader.js imports another module");
    Ok(format!("{body}\n"))
}

fn compressed(parts: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for part in parts {
        encoder.write_all(part)?;
    }
    Ok(encoder.finish()?)
}

/// Without what ends a script, begins a reference, or is escaped in a string.
fn alphabet() -> String {
    (FIRST_DIGIT..=b'~').filter(|digit| !b"<&\"\\'`>$".contains(digit)).take(85).map(char::from).collect()
}

/// Four bytes as five digits, the highest first; zeros fill the last four.
fn base85(bytes: &[u8], digits: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for word in bytes.chunks(4) {
        let mut filled = [0; 4];
        filled[..word.len()].copy_from_slice(word);
        let word = u32::from_be_bytes(filled);
        let digit = |place: u32| char::from(digits[(word / 85u32.pow(place) % 85) as usize]);
        let _ = write!(text, "{}{}{}{}{}", digit(4), digit(3), digit(2), digit(1), digit(0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_are_85_and_none_of_them_means_anything_to_html_or_a_string() {
        let digits = alphabet();
        assert_eq!(digits.len(), 85);
        assert!(!digits.contains(['<', '&', '"', '\\', '\'', ' ']));
        assert_eq!(base85(&[0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 1], digits.as_bytes()).len(), 15);
        let word = |text: &str| text.chars().fold(0u64, |word, digit| word * 85 + digits.find(digit).map_or(0, |d| d as u64));
        assert_eq!(word(&base85(&[0x12, 0x34, 0x56, 0x78], digits.as_bytes())), 0x1234_5678);
    }

    #[test]
    fn a_module_becomes_a_script_and_one_with_imports_is_refused() {
        let module = "export class A {}\nconst at = import.meta.url;\nexport function f() {}\nexport { f as default };\n";
        let script = classic(module).expect("a module as wasm-bindgen writes it");
        assert_eq!(script, "class A {}\nconst at = self.location.href;\nfunction f() {}\n");
        assert!(classic("import x from './x.js';\nexport { x };").is_err());
    }
}
