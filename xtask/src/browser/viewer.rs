//! What a microscopist does with the demo set, by pointer and by keys, and the files that come out: numbers are compared
//! with those of the hooks, to the last count.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{Bench, answers};
use crate::paths;

/// Ctrl and Shift in key events.
const CTRL: u32 = 2;
const SHIFT: u32 = 8;

impl Bench<'_> {
    pub async fn viewer(&mut self) -> Result<()> {
        let folder = folder("saved")?;
        let saves = folder.clone();
        self.limited("the folder", async |browser| browser.save_into(&saves).await).await?;
        self.open_page().await?;
        let window = "1280x720";
        self.limited(window, async |browser| browser.screenshot(1280, 720).await).await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.settle().await?;
        self.deflection().await?;
        self.undo_and_shapes().await?;
        self.display().await?;
        self.parts(&folder).await?;
        self.files(&folder).await?;
        self.script(&folder).await?;
        self.sessions(&folder).await?;
        self.address().await
    }

    /// Products of the deflection by keys, rotation, segments, integral.
    async fn deflection(&mut self) -> Result<()> {
        self.key("7", 0).await?;
        self.expect("CoM by its key", "__planescope.state().product", json!("com")).await?;
        self.shown("the colour wheel beside the colours", "#wheel").await?;
        self.key("A", SHIFT).await?;
        let found = self.look("__planescope.state().com").await?;
        self.compare("rotation by its key: least curl", &found["orientation_from"], &json!("leastcurl"));
        let angle = found["orientation"]["angle"].as_f64().context("an angle")?;
        let words = self.look("document.querySelector('#curl-why').textContent").await?;
        let is_told = words.as_str().is_some_and(|words| words.contains(&format!("{:.1}°", angle.abs())));
        self.compare(&format!("the angle is told ({words})"), &json!(is_told), &json!(true));
        self.fill("com-angle", "30").await?;
        self.expect("an angle that is typed", "__planescope.state().com.orientation.angle", json!(30)).await?;
        let [x, y] = self.middle("#curl-plot svg").await?;
        self.limited("the curve", async |browser| browser.drag(&[[x - 20.0, y], [x, y]]).await).await?;
        self.expect(
            "the line of the curve is dragged",
            "Math.abs(__planescope.state().com.orientation.angle) <= 2",
            json!(true),
        )
        .await?;
        self.key("8", 0).await?;
        self.settle().await?;
        self.expect("the phase by its key", "__planescope.state().product", json!("phase")).await?;
        let range = "document.querySelector('#canvas-image').getAttribute('aria-label')";
        let before = self.look(range).await?;
        self.fill("high-pass", "4 px").await?;
        self.settle().await?;
        let after = self.look(range).await?;
        self.compare(&format!("a high-pass changes the phase ({after})"), &json!(before != after), &json!(true));
        self.look("(() => { const menu = document.querySelector('#com-source'); menu.value = '1'; menu.dispatchEvent(new Event('change')); })()")
            .await?;
        self.settle().await?;
        self.expect("segments give a DPC", "document.querySelector('#name-image').textContent", json!("iDPC")).await?;
        self.key("7", SHIFT).await?;
        self.settle().await
    }

    /// A drag, its undo and redo; every shape by its button.
    async fn undo_and_shapes(&mut self) -> Result<()> {
        self.key("1", 0).await?;
        self.settle().await?;
        let before = self.look("JSON.stringify(__planescope.state())").await?;
        let [x, y] = self.middle("#view-pattern").await?;
        self.limited("a drag", async |browser| browser.drag(&[[x, y], [x + 30.0, y], [x + 60.0, y + 20.0]]).await)
            .await?;
        self.expect("a drag makes a custom detector", "__planescope.state().product", json!("custom")).await?;
        let moved = self.look("JSON.stringify(__planescope.state())").await?;
        self.key("z", CTRL).await?;
        self.expect("undo by its key", "JSON.stringify(__planescope.state())", before).await?;
        self.click("#redo").await?;
        self.expect("redo by its button", "JSON.stringify(__planescope.state())", moved).await?;
        for shape in ["point", "ellipse", "wedge", "polygon", "rect", "annulus", "disc"] {
            self.click(&format!("#shape-{shape}")).await?;
            self.settle().await?;
            self.expect(&format!("{shape} by its button"), "__planescope.state().custom.shape", json!(shape)).await?;
            let same = "(async () => { const { custom, product } = __planescope.state(); const { data } = await __planescope.virtualImage(custom);\
                 return product === 'custom' && data.some((v) => v > 0n); })()";
            self.expect(&format!("{shape} takes counts"), same, json!(true)).await?;
        }
        Ok(())
    }

    /// Scales, limits, maximised panels, smoothing, turned views.
    async fn display(&mut self) -> Result<()> {
        self.fill("high-image", "50 %").await?;
        self.expect("a percentile that is typed", "__planescope.state().looks.image.percentiles", json!([0.5, 50]))
            .await?;
        self.fill("scale-energy", "200").await?;
        self.fill("scale-alpha", "21 mrad").await?;
        let bar = self.look("document.querySelector('#bar-pattern').textContent").await?;
        let is_mrad = bar.as_str().is_some_and(|bar| bar.ends_with("mrad"));
        self.compare(&format!("the scale bar is in mrad ({bar})"), &json!(is_mrad), &json!(true));
        self.look("document.querySelector('#view-image').focus()").await?;
        let square = self.look("document.querySelector('#view-image').clientWidth").await?;
        self.key("m", 0).await?;
        let large = self.look("document.querySelector('#view-image').clientWidth").await?;
        let is_larger = large.as_u64() > square.as_u64();
        self.compare(&format!("a maximised panel is larger ({square} {large})"), &json!(is_larger), &json!(true));
        self.key("Escape", 0).await?;
        self.expect("Escape ends it", "document.querySelector('#view-image').clientWidth", square).await?;
        self.key("p", 0).await?;
        self.expect("smoothing by its key", "__planescope.state().image_smoothing", json!("off")).await?;
        self.click("[popovertarget=more-image]").await?;
        self.click("[data-do=turn-image]").await?;
        self.expect("the view is turned", "__planescope.state().image_view.turn.quarters", json!(1)).await?;
        self.look("document.querySelector('#view-image').focus()").await?;
        self.key("r", 0).await?;
        self.expect("R resets the view", "__planescope.state().image_view ?? null", json!(null)).await?;
        self.key(" ", 0).await?;
        let cursor = "JSON.stringify(__planescope.state().cursor)";
        let first = self.look(cursor).await?;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let later = self.look(cursor).await?;
        self.compare(&format!("patterns are played ({first} {later})"), &json!(first != later), &json!(true));
        self.key("Escape", 0).await
    }

    /// A part of the scan with its patterns and figures, profiles, and the transform of the image.
    async fn parts(&mut self, folder: &Path) -> Result<()> {
        self.key("1", 0).await?;
        self.look("document.querySelector('#view-image').focus()").await?;
        self.key("s", 0).await?;
        self.settle().await?;
        self.expect("a region by its key", "__planescope.state().region.shape", json!("disc")).await?;
        let [x, y] = self.middle("#view-image").await?;
        self.limited("a drag", async |browser| browser.drag(&[[x, y], [x + 40.0, y + 30.0]]).await).await?;
        self.settle().await?;
        let moved = "(() => { const [row, col] = __planescope.state().region.centre; return row > 16 && col > 16; })()";
        self.expect("the region is dragged", moved, json!(true)).await?;
        let inside = "const { region, disc } = __planescope.state(), is = (at) => ((at / 32 | 0) - region.centre[0]) ** 2 + (at % 32 - region.centre[1]) ** 2 <= region.outer ** 2;";
        let frames =
            format!("(() => {{ {inside} return Array.from({{ length: 1024 }}, (_, at) => at).filter(is).length; }})()");
        let frames = self.look(&frames).await?;
        let told = self.look("document.querySelector('#what-pattern').textContent").await?;
        self.compare("the region's patterns are counted", &told, &json!(format!("of {frames} patterns")));
        let sum = format!(
            "(async () => {{ {inside} const {{ data }} = await __planescope.virtualImage({{ shape: 'disc', centre: disc.centre, outer: disc.radius }});\
             return String(data.filter((_, at) => is(at)).reduce((a, b) => a + b, 0n)); }})()"
        );
        let sum = self.look(&sum).await?;
        let told = "[...document.querySelectorAll('#analysis-rows dd')][1].firstChild.textContent.replace(/\\D/g, '')";
        self.expect("the region's counts, to the last one", told, sum).await?;
        self.click("#tab-fft").await?;
        self.settle().await?;
        self.look("document.querySelector('#analysis-fft').focus()").await?;
        self.key("ArrowRight", SHIFT).await?;
        let reading = self.look("document.querySelector('#fft-reading').textContent").await?;
        let is_spacing = reading.as_str().is_some_and(|reading| reading.starts_with("d ") && reading.contains('Å'));
        self.compare(&format!("the transform reads a spacing ({reading})"), &json!(is_spacing), &json!(true));
        self.click("#tool-line").await?;
        self.settle().await?;
        self.click("#save-table").await?;
        let table = std::fs::read_to_string(arrived(folder, "_line.csv").await?)?;
        let is_table = table.starts_with("s/nm,value/counts\n") && table.lines().count() > 10;
        self.compare("the line's profile as a table", &json!(is_table), &json!(true));
        self.look("document.querySelector('#view-image').focus()").await?;
        self.key("Delete", 0).await?;
        self.expect("region and line are removed", "__planescope.state().region ?? null", json!(null)).await
    }

    /// Everything that can be saved, by its button, read back by Python.
    async fn files(&mut self, folder: &Path) -> Result<()> {
        self.key("3", 0).await?;
        self.settle().await?;
        self.key("e", 0).await?;
        let mut saved = Vec::new();
        for (place, ending) in
            ["_adf_seen.png", "_adf.png", "_adf.tif", "_adf.npy", "_adf.csv", "int64.raw"].into_iter().enumerate()
        {
            self.click(&format!("[data-do='export-as {place}']")).await?;
            saved.push(arrived(folder, ending).await?);
        }
        self.key("Escape", 0).await?;
        let read = answers(self.python, "read_exports.py", &saved.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
        let sums = self
            .look("(async () => { const disc = __planescope.state().disc; const { data } = await __planescope.virtualImage({ shape: 'annulus', \
                 centre: disc.centre, inner: 1.1 * disc.radius, outer: 2.2 * disc.radius }); return Array.from(data, Number); })()")
            .await?;
        for kind in ["npy", "csv", "raw", "tif"] {
            self.compare(&format!("saved as {kind}: every count"), &read[kind]["values"], &sums);
        }
        self.compare("the TIFF's scale, as ImageJ reads it", &read["tif"]["unit"], &json!("nm"));
        let step = self.look("document.querySelector('#scale-step').value").await?;
        let per_px = read["tif"]["px_per_unit"].as_f64().map(|n| format!("{:.4}", 1.0 / n));
        let step = step.as_str().and_then(|step| step.parse::<f64>().ok()).map(|n| format!("{n:.4}"));
        self.compare("the TIFF's step", &json!(per_px), &json!(step));
        self.compare("one pixel a value", &read["png"]["_adf.png"], &json!([32, 32]));
        let seen = read["png"]["_adf_seen.png"][0].as_u64().unwrap_or(0);
        self.compare(&format!("as it is seen ({seen} px wide)"), &json!(seen > 300), &json!(true));
        Ok(())
    }

    /// The script, saved and run beside the files.
    async fn script(&mut self, folder: &Path) -> Result<()> {
        self.key("y", 0).await?;
        self.click("[data-do=save-python]").await?;
        let script = arrived(folder, ".py").await?;
        self.key("Escape", 0).await?;
        let text = std::fs::read_to_string(&script)?;
        let demo = format!("Path({:?})", paths::root().join("www/demo").display().to_string());
        std::fs::write(&script, text.replace("Path(\".\")", &demo))?;
        let output = Command::new(self.python).arg(&script).current_dir(folder).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let read = answers(self.python, "read_exports.py", &[&folder.join("image.npy")])?;
        let sums = self
            .look("(async () => { const disc = __planescope.state().disc; const { data } = await __planescope.virtualImage({ shape: 'annulus', \
                 centre: disc.centre, inner: 1.1 * disc.radius, outer: 2.2 * disc.radius }); return Array.from(data, Number); })()")
            .await?;
        self.compare("the script's image: every count", &read["npy"]["values"], &sums);
        Ok(())
    }

    /// A session, saved and opened again after other things were done.
    async fn sessions(&mut self, folder: &Path) -> Result<()> {
        let saved = self.look("JSON.stringify(__planescope.state())").await?;
        self.key("s", CTRL).await?;
        let file = arrived(folder, ".planescope.json").await?;
        self.key("6", 0).await?;
        self.settle().await?;
        self.limited("the session", async |browser| browser.choose_files("#session", &[file]).await).await?;
        self.settle().await?;
        self.expect("a session is restored", "JSON.stringify(__planescope.state())", saved).await
    }

    /// The address holds the view.
    async fn address(&mut self) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(800)).await;
        let saved = self.look("JSON.stringify(__planescope.state())").await?;
        let hash = self.look("location.hash").await?;
        let url = format!("{}{}", self.url, hash.as_str().unwrap_or_default());
        self.limited("the page's start", async |browser| browser.open(&url).await).await?;
        self.look(super::START).await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.settle().await?;
        self.expect("the address restores the view", "JSON.stringify(__planescope.state())", saved).await
    }

    pub(super) async fn look(&mut self, expression: &str) -> Result<Value> {
        let what = expression.chars().take(60).collect::<String>();
        self.limited(&what, async |browser| browser.evaluate(expression).await).await
    }

    pub(super) async fn expect(&mut self, what: &str, expression: &str, expected: Value) -> Result<()> {
        let found = self.look(expression).await?;
        self.compare(what, &found, &expected);
        Ok(())
    }

    pub(super) async fn shown(&mut self, what: &str, selector: &str) -> Result<()> {
        let seen = format!("document.querySelector({}).offsetWidth > 0", json!(selector));
        self.expect(what, &seen, json!(true)).await
    }

    pub(super) async fn key(&mut self, key: &str, modifiers: u32) -> Result<()> {
        self.limited(key, async |browser| browser.press(key, modifiers).await).await?;
        self.frames().await
    }

    /// A click of the mouse in the middle of an element.
    pub(super) async fn click(&mut self, selector: &str) -> Result<()> {
        let at = self.middle(selector).await?;
        self.limited(selector, async |browser| browser.drag(&[at]).await).await?;
        self.frames().await
    }

    pub(super) async fn middle(&mut self, selector: &str) -> Result<[f64; 2]> {
        let place = format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'nearest' }}); const r = e.getBoundingClientRect(); \
             return [r.left + r.width / 2, r.top + r.height / 2, r.width]; }})()",
            json!(selector)
        );
        let place = self.look(&place).await?;
        let number = |at: usize| place[at].as_f64().with_context(|| format!("{selector} is not there"));
        ensure!(number(2)? > 0.0, "{selector} is not shown");
        Ok([number(0)?, number(1)?])
    }

    /// Types into a field and takes it with Enter.
    pub(super) async fn fill(&mut self, id: &str, text: &str) -> Result<()> {
        let focus = format!("(() => {{ const e = document.getElementById({}); e.focus(); e.select(); }})()", json!(id));
        self.look(&focus).await?;
        self.limited(id, async |browser| browser.type_text(text).await).await?;
        self.key("Enter", 0).await?;
        self.look("document.activeElement.blur()").await?;
        self.frames().await
    }

    async fn frames(&mut self) -> Result<()> {
        let two = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))";
        self.look(two).await.map(drop)
    }

    /// Waits until `condition` holds, or `tenths` tenths of a second at most: what is looked at afterwards tells.
    pub(super) async fn until(&mut self, condition: &str, tenths: u32) -> Result<()> {
        let wait = format!(
            "(async () => {{ for (let i = 0; i < {tenths} && !({condition}); i++) \
             await new Promise((done) => setTimeout(done, 100)); return null; }})()"
        );
        self.look(&wait).await.map(drop)
    }

    /// Waits until the image of now is there: no line that says it is late, and the shelf is full.
    pub(super) async fn settle(&mut self) -> Result<()> {
        let rest = "(async () => { const wait = (ms) => new Promise((done) => setTimeout(done, ms)); let quiet = 0, label = '';\
             for (let i = 0; i < 400 && quiet < 8; i++) { await wait(100); const now = document.querySelector('#canvas-image').getAttribute('aria-label')\
             + document.body.dataset.stage; const empty = document.body.dataset.stage === 'set' && [...document.querySelectorAll('#shelf canvas')].some((c) => c.width < 2);\
             quiet = now === label && !empty && !document.querySelector('.late') ? quiet + 1 : 0; label = now; } return null; })()";
        self.look(rest).await.map(drop)
    }
}

/// A set is open.
pub(super) const IS_OPEN: &str = "document.body.dataset.stage === 'set'";

/// The page's picker gives the demo set, as handles that can be kept.
pub(super) const PICKS_DEMO: &str = "(async () => { const root = await navigator.storage.getDirectory(), handles = [];\
     for (const name of ['demo_master.h5', 'demo_data_000001.h5', 'demo.h5']) { const handle = await root.getFileHandle(name, { create: true });\
     const file = await handle.createWritable(); await file.write(await (await fetch('demo/' + name)).arrayBuffer()); await file.close(); handles.push(handle); }\
     window.showOpenFilePicker = async () => handles; })()";

/// An empty folder for what the browser saves.
pub(super) fn folder(name: &str) -> Result<PathBuf> {
    let folder = paths::target().join("chrome").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The file that the browser saves, once it is whole.
pub(super) async fn arrived(folder: &Path, ending: &str) -> Result<PathBuf> {
    for _ in 0..100 {
        let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        let found = entries.iter().map(std::fs::DirEntry::path).find(|path| path.to_string_lossy().ends_with(ending));
        if let Some(path) = found {
            return Ok(path);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("nothing that ends in {ending} was saved")
}
