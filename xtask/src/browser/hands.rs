//! What else hands do: the order of the scan, spreads, transforms of patterns, animations, recent sets, two fingers; and
//! a GPU that is taken away meanwhile.

use std::{path::Path, time::Instant};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    Bench, answers,
    viewer::{IS_OPEN, PICKS_DEMO, arrived, folder},
};

/// The demo's spread, worked out from its patterns as the hooks give them: of every pattern, and of every pixel.
const SPREADS: &str = "(async () => { const of = (n, s, q) => (n * q - s * s) / (n * n), patterns = [], rows = [];\
     for (let i = 0; i < 1024; i++) { const { data, bad } = await __planescope.frame(i); patterns.push({ data, bad }); }\
     for (const { data, bad } of patterns) { let n = 0, s = 0, q = 0; data.forEach((v, i) => { if (!bad[i]) { n++; s += v; q += v * v; } }); rows.push(Math.sqrt(of(n, s, q))); }\
     const sum = new Float64Array(patterns[0].data.length), square = new Float64Array(sum.length);\
     for (const { data } of patterns) data.forEach((v, i) => { sum[i] += v; square[i] += v * v; });\
     const pixels = Array.from(sum, (s, i) => patterns[0].bad[i] ? null : of(1024, s, square[i])); return { rows, pixels }; })()";

impl Bench<'_> {
    pub async fn hands(&mut self) -> Result<()> {
        let folder = folder("hands")?;
        let saves = folder.clone();
        self.limited("the folder", async |browser| browser.save_into(&saves).await).await?;
        self.open_page().await?;
        self.limited("1280x720", async |browser| browser.screenshot(1280, 720).await).await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.settle().await?;
        self.spreads(&folder).await?;
        self.order(&folder).await?;
        self.pattern_fft().await?;
        self.animation(&folder).await?;
        self.fingers().await?;
        self.lost_gpu().await?;
        self.recent().await
    }

    async fn spreads(&mut self, folder: &Path) -> Result<()> {
        let expected = self.look(SPREADS).await?;
        self.key("9", 0).await?;
        self.settle().await?;
        self.expect("Std by its key", "__planescope.state().product", json!("std")).await?;
        let found = self.npy(folder, "image").await?;
        self.compare("the deviation of every pattern", &json!(unequal(&found, &expected["rows"])), &json!(0));
        self.look("__planescope.set({ pattern: 'variance' })").await?;
        self.settle().await?;
        let found = self.npy(folder, "pattern").await?;
        self.compare("the variance of every pixel", &json!(unequal(&found, &expected["pixels"])), &json!(0));
        self.look("__planescope.set({ pattern: 'cursor', product: 'sum' })").await?;
        self.settle().await
    }

    /// Offset and snake: the picture and the hooks lay the same counts out anew.
    async fn order(&mut self, folder: &Path) -> Result<()> {
        let plain = self.npy(folder, "image").await?;
        let plain: Vec<f64> = plain.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        self.look("document.querySelector('#set-more').open = true").await?;
        self.fill("scan-offset", "5").await?;
        self.click("#snake").await?;
        self.settle().await?;
        let expected: Vec<f64> = (0..1024)
            .map(|at: usize| {
                let (row, col) = (at / 32, at % 32);
                let step = row * 32 + if row % 2 == 1 { 31 - col } else { col };
                plain.get(step + 5).copied().unwrap_or(0.0)
            })
            .collect();
        let sums = "__planescope.virtualImage(null).then(({ data }) => Array.from(data, Number))";
        let found = self.look(sums).await?;
        self.compare("offset and snake: the hooks", &json!(unequal(&found, &json!(expected))), &json!(0));
        let mut blank: Vec<Value> = expected.iter().map(|value| json!(value)).collect();
        // The last line runs to the left: its last five positions have no pattern.
        blank[992..997].fill(Value::Null);
        let found = self.npy(folder, "image").await?;
        self.compare("offset and snake: the picture", &json!(unequal(&found, &json!(blank))), &json!(0));
        let words = self.look("document.querySelector('#scan-why').textContent").await?;
        let is_told =
            words.as_str().is_some_and(|words| words.contains("every other line backwards; the first 5 patterns"));
        self.compare(&format!("the order is told ({words})"), &json!(is_told), &json!(true));
        self.look("__planescope.set({ order: {} })").await?;
        self.look("document.querySelector('#set-more').open = false").await?;
        self.settle().await
    }

    async fn pattern_fft(&mut self) -> Result<()> {
        self.look("__planescope.set({ scales: { alpha_mrad: 20, energy_ev: 300000 } })").await?;
        self.look("document.querySelector('#tab-fft').click()").await?;
        self.look("(() => { const of = document.querySelector('#fft-of'); of.value = '2'; of.dispatchEvent(new Event('change')); })()").await?;
        self.settle().await?;
        self.until("document.querySelector('#fft').width > 1", 300).await?;
        self.look("document.querySelector('#analysis-fft').focus()").await?;
        self.key("ArrowDown", 8).await?;
        let reading = self.look("document.querySelector('#fft-reading').textContent").await?;
        let is_both = reading.as_str().is_some_and(|reading| reading.starts_with("d ") && reading.contains("period"));
        self.compare(&format!("the pattern's transform reads a length ({reading})"), &json!(is_both), &json!(true));
        let painted = "document.querySelector('#fft').width === document.querySelector('#canvas-pattern').width || document.querySelector('#fft').width > 1";
        self.expect("the pattern's transform is painted", painted, json!(true)).await?;
        self.look("__planescope.set({ fft_of: 'image', analysis: 'radial', scales: {} })").await.map(drop)
    }

    /// A GIF, read by the browser's own decoder; and one that is cancelled.
    async fn animation(&mut self, folder: &Path) -> Result<()> {
        self.key("e", 0).await?;
        for (id, text) in [("reel-patterns", "12"), ("reel-every", "3"), ("reel-rate", "20")] {
            self.look(&format!("document.getElementById('{id}').value = '{text}'")).await?;
        }
        self.click("#save-reel").await?;
        let file = arrived(folder, ".gif").await?;
        let data = BASE64_STANDARD.encode(std::fs::read(file)?);
        let decoded = self
            .look(&format!(
                "(async () => {{ const data = Uint8Array.from(atob('{data}'), (c) => c.charCodeAt(0)); const gif = new ImageDecoder({{ data, type: 'image/gif' }});\
                 await gif.completed; await gif.tracks.ready; const track = gif.tracks.selectedTrack, seen = new Set(); let all, ms;\
                 for (let i = 0; i < track.frameCount; i++) {{ const {{ image }} = await gif.decode({{ frameIndex: i }}); const bytes = new Uint8Array(image.allocationSize({{ format: 'RGBA' }}));\
                 await image.copyTo(bytes, {{ format: 'RGBA' }}); let hash = 0; for (const byte of bytes) hash = (hash * 31 + byte) | 0; seen.add(hash); all = [image.codedWidth, image.codedHeight]; ms = image.duration / 1000; }}\
                 return {{ frames: track.frameCount, different: seen.size, all, ms }}; }})()"
            ))
            .await?;
        let side =
            self.look("__planescope.frame(0).then(({ rows }) => rows * Math.max(1, Math.floor(256 / rows)))").await?;
        let expected = json!({"frames": 12, "different": 12, "all": [side, side], "ms": 50});
        self.compare("a GIF of twelve patterns", &decoded, &expected);
        self.look("document.getElementById('reel-patterns').value = '2000'").await?;
        self.look("(document.querySelector('#save-reel').click(), document.querySelector('#cancel-reel').click())")
            .await?;
        let words = "new Promise((done) => { const look = () => document.querySelector('#cancel-reel').hidden ? done(document.querySelector('#reel-words').textContent) : setTimeout(look, 50); look(); })";
        self.expect("a GIF is cancelled", words, json!("Cancelled; nothing was saved.")).await?;
        self.look("document.getElementById('reel-rate').value = 'fast'").await?;
        self.click("#save-reel").await?;
        let words = self.look("document.querySelector('#reel-words').textContent").await?;
        self.compare(&format!("a wrong rate is told ({words})"), &json!(words != ""), &json!(true));
        self.key("Escape", 0).await
    }

    /// One finger drags the detector, two zoom and pan.
    async fn fingers(&mut self) -> Result<()> {
        self.key("1", 0).await?;
        self.settle().await?;
        let [x, y] = self.middle("#view-pattern").await?;
        let steps: Vec<Vec<[f64; 2]>> = (0..=6).map(|step| vec![[x + 10.0 * f64::from(step), y]]).collect();
        self.limited("a finger", async |browser| browser.touch(&steps).await).await?;
        self.settle().await?;
        let moved = "(() => { const { custom, disc, product } = __planescope.state(); return product === 'custom' && custom.centre[1] > disc.centre[1] + 3; })()";
        self.expect("one finger drags the detector", moved, json!(true)).await?;
        let [x, y] = self.middle("#view-image").await?;
        let steps: Vec<Vec<[f64; 2]>> = (0..=6)
            .map(|step| {
                let apart = 40.0 + 15.0 * f64::from(step);
                vec![[x - apart, y], [x + apart, y]]
            })
            .collect();
        self.limited("two fingers", async |browser| browser.touch(&steps).await).await?;
        let zoomed =
            "(() => { const { factor } = __planescope.state().image_view; return factor > 2 && factor < 5; })()";
        self.expect("two fingers zoom", zoomed, json!(true)).await?;
        self.look("document.querySelector('[data-do=fit-image]').click()").await?;
        self.key("3", 0).await?;
        self.settle().await
    }

    /// Chrome's GPU process is killed: everything comes back by itself.
    async fn lost_gpu(&mut self) -> Result<()> {
        let view = self.look("JSON.stringify(__planescope.state())").await?;
        let sums = "__planescope.virtualImage(null).then(({ data }) => Array.from(data, Number))";
        let before = self.look(sums).await?;
        let start = Instant::now();
        self.limited("the GPU process", async |browser| browser.crash_gpu().await).await?;
        let back = "(async () => { for (let i = 0; i < 600; i++) { await new Promise((done) => setTimeout(done, 100));\
             const told = [...document.querySelectorAll('#messages h3')].some((h) => h.textContent === 'The GPU was reset');\
             if (told && document.body.dataset.stage === 'set') return true; } return document.querySelector('#messages').innerText; })()";
        self.expect("a lost GPU is rebuilt and told", back, json!(true)).await?;
        println!(
            "        the demo set was back {:.1} s after the GPU process was killed",
            start.elapsed().as_secs_f32()
        );
        self.settle().await?;
        self.expect("a lost GPU: the view", "JSON.stringify(__planescope.state())", view).await?;
        let after = self.look(sums).await?;
        self.compare("a lost GPU: every count", &json!(unequal(&after, &before)), &json!(0));
        self.key("Escape", 0).await
    }

    /// A set that was picked through handles is listed, and opens with one click after the page was loaded anew.
    async fn recent(&mut self) -> Result<()> {
        self.look(PICKS_DEMO).await?;
        self.key("o", 0).await?;
        let listed = "(async () => { for (let i = 0; i < 200; i++) { await new Promise((done) => setTimeout(done, 100)); const found = document.querySelector('#recent b'); if (found) return found.textContent; } return null; })()";
        self.expect("an opened set is remembered", listed, json!("demo_master.h5")).await?;
        self.open_page().await?;
        self.expect("it is listed in a new page", listed, json!("demo_master.h5")).await?;
        self.shown("the recent sets are seen", "#recent button img").await?;
        self.click("#recent button").await?;
        self.until(IS_OPEN, 300).await?;
        self.settle().await?;
        self.expect(
            "a click opens it again",
            "document.querySelector('#set-name').textContent",
            json!("demo_master.h5"),
        )
        .await?;
        self.open_page().await?;
        self.look(listed).await?;
        self.click("[data-do=forget-recent]").await?;
        let gone = "(async () => { for (let i = 0; i < 50 && document.querySelector('#recent button'); i++) await new Promise((done) => setTimeout(done, 50)); return document.querySelectorAll('#recent button').length; })()";
        self.expect("the list is emptied", gone, json!(0)).await
    }

    /// The numbers of a panel, saved as .npy by its button.
    async fn npy(&mut self, folder: &Path, panel: &str) -> Result<Value> {
        self.key("e", 0).await?;
        self.click(&format!("#export-{panel}")).await?;
        self.click("[data-do='export-as 3']").await?;
        let file = arrived(folder, ".npy").await?;
        self.key("Escape", 0).await?;
        let read = answers(self.python, "read_exports.py", &[&file])?;
        std::fs::remove_file(&file).context("the file that was read")?;
        Ok(read["npy"]["values"].clone())
    }
}

/// How many numbers differ; null is no number.
fn unequal(found: &Value, expected: &Value) -> usize {
    let (found, expected) =
        (found.as_array().cloned().unwrap_or_default(), expected.as_array().cloned().unwrap_or_default());
    let pairs = found.iter().zip(&expected).filter(|(a, b)| a.as_f64() != b.as_f64());
    pairs.count() + found.len().abs_diff(expected.len())
}
