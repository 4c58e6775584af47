//! Files that change or cannot be read, odd drops, readers that hang or end, hurried users, and a GPU that is taken away:
//! each ends in a right picture or in words, and the page goes on.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Bench, FILE_INPUT, answers, viewer::folder};
use crate::test::data;

/// What the page says, in one text.
const SAID: &str = "document.querySelector('#messages').innerText + ' ' + document.body.innerText";

/// Devices that the page was given, so that they can be taken away.
const DEVICES: &str = "window.devices = [];
    // An empty page, which is no secure place, has none.
    const adapter = window.GPUAdapter?.prototype ?? {};
    const request = adapter.requestDevice;
    adapter.requestDevice = async function (...how) {
        const device = await request.apply(this, how);
        window.devices.push(device);
        return device;
    };";

/// In a reader: bytes from `FROM` on of files of more than a megabyte cannot be read.
const BROKEN_DISK: &str = "(() => {
    const slice = Blob.prototype.slice;
    Blob.prototype.slice = function (start, end, ...more) {
        const part = slice.call(this, start, end, ...more);
        if (this.size > 1e6 && start <= FROM && FROM < end)
            part.stream = () => new ReadableStream({ type: 'bytes', start: (way) => way.error(new Error('the disk failed')) });
        return part;
    };
})()";

impl Bench<'_> {
    /// Everything where `is_patient`; else without what takes as long as the page's patience, and one file in motion.
    pub async fn faults(&mut self, is_patient: bool) -> Result<()> {
        self.limited("workers", async |browser| browser.watch_workers().await).await?;
        self.limited("a script", async |browser| browser.before_pages(DEVICES).await).await?;
        self.files_in_motion(if is_patient { &["changed", "cut short", "removed"] } else { &["changed"] }).await?;
        self.odd_drops().await?;
        self.hurry().await?;
        self.devices().await?;
        if is_patient {
            self.readers().await?;
        }
        Ok(())
    }

    /// Files that were changed, cut short or removed after they were picked.
    async fn files_in_motion(&mut self, ways: &[&str]) -> Result<()> {
        let set = &data::BENCH[0];
        let home = folder("faults")?;
        for &what in ways {
            self.open_page().await?;
            let files = copied(&set.files()?, &home)?;
            self.open_once(&files).await?;
            let data_file = files.iter().find(|file| name(file).contains("_data_")).context("a data file")?;
            match what {
                "changed" => {
                    let mut bytes = std::fs::read(data_file)?;
                    bytes.reverse();
                    std::fs::write(data_file, bytes)?;
                }
                "cut short" => std::fs::OpenOptions::new().write(true).open(data_file)?.set_len(1 << 19)?,
                _ => std::fs::remove_file(data_file)?,
            }
            if data_file.exists() {
                let later = SystemTime::now() + Duration::from_secs(10);
                std::fs::File::options().write(true).open(data_file)?.set_modified(later)?;
            }
            let said = self
                .look("__planescope.open().then((profile) => profile.error ?? '', (error) => error.message)")
                .await?;
            let said = format!("{} {}", said.as_str().unwrap_or_default(), self.look(SAID).await?);
            let is_told = said.contains("cannot be read") && said.contains(&name(data_file)) && said.contains("Pick");
            self.compare(&format!("a file that was {what} after picking is told"), &json!(is_told), &json!(true));
            self.sound(&format!("after a file was {what}"), &set.files()?).await?;
        }
        self.unreadable_part().await
    }

    /// A part of a file cannot be read: its frames fail, the others are as they should be.
    async fn unreadable_part(&mut self) -> Result<()> {
        let set = &data::ROWS;
        let expected = answers(self.python, "bench_answers.py", &[&set.table(), &set.seed_file()])?;
        self.open_page().await?;
        self.look("Object.assign(__planescope.tuning, { sliceMiB: 1, batchMiB: 1 }), null").await?;
        let broken = BROKEN_DISK.replace("FROM", "4000000");
        self.limited("the readers", async |browser| browser.in_workers(&broken).await).await?;
        let profile = self.open_once(&set.files()?).await?;
        let failed = profile["framesFailed"].as_u64().unwrap_or_default();
        let is_part = 0 < failed && failed < set.scan[0] * set.scan[1] / 2;
        self.compare(&format!("a part cannot be read: {failed} frames failed"), &json!(is_part), &json!(true));
        let found = self.ask("hashes()").await?;
        let hashes = found["weighted64"].as_array().cloned().unwrap_or_default();
        let right =
            (0..hashes.len()).filter(|&i| hashes[i].is_null() || hashes[i] == expected["weighted64"][i]).count();
        let none = hashes.iter().filter(|hash| hash.is_null()).count();
        self.compare("a part cannot be read: all other frames", &json!([right, none]), &json!([hashes.len(), failed]));
        let said = self.look(SAID).await?;
        let is_told = said.as_str().is_some_and(|said| said.contains("the disk failed"));
        self.compare("a part cannot be read: it is told", &json!(is_told), &json!(true));
        self.open_page().await?;
        self.sound("after a part could not be read", &set.files()?).await
    }

    /// Drops that no one would make on purpose.
    async fn odd_drops(&mut self) -> Result<()> {
        let (set, other) = (&data::BENCH[0], &data::BENCH[1]);
        let digest = self.digest(set)?;
        self.open_page().await?;
        self.sound("a plain drop", &set.files()?).await?;
        let cases = [
            ("the same set twice", "[...files, ...files]"),
            ("._ files of macOS beside", "[...files.map((file) => new File([apple], '._' + file.name)), ...files]"),
            (
                "2,000 files",
                "[...Array.from({ length: 1000 }, (_, i) => new File(['x'], `note_${i}.txt`)), ...files,\
              ...Array.from({ length: 1000 }, (_, i) => new File([new Uint8Array(100)], `scan_${i}.h5`))]",
            ),
            (
                "a file of another kind under the name of the data file before it",
                "[new File(['x'], files.find((file) => file.name.includes('_data_')).name), ...files]",
            ),
            (
                "a file of another kind under the name of the data file behind it",
                "[...files, new File(['x'], files.find((file) => file.name.includes('_data_')).name)]",
            ),
        ];
        for (what, drop) in cases {
            let found = self.look(&dropped(drop)).await?;
            let is_right = found["digest"] == digest;
            let is_told = found["error"].as_str().is_some_and(|error| error.len() > 20);
            println!("        {what}: {}", found["error"].as_str().unwrap_or("opened"));
            self.compare(&format!("{what}: right, or told"), &json!(is_right || is_told), &json!(true));
            if !is_told {
                self.compare(&format!("{what}: every frame"), &found["digest"], &digest);
            }
        }
        let both: Vec<PathBuf> = set.files()?.into_iter().chain(other.files()?).collect();
        self.open_once(&both).await?;
        let hashes = self.ask("hashes()").await?;
        let (first, second) = (self.digest(set)?, self.digest(other)?);
        let is_one = hashes["digest"] == first || hashes["digest"] == second;
        self.compare("two sets in one drop: one is chosen, and is right", &json!(is_one), &json!(true));
        Ok(())
    }

    /// Fifty openings in a row, two sets in turn: the last one counts, and nothing is left of the others.
    async fn hurry(&mut self) -> Result<()> {
        let (set, other) = (&data::BENCH[0], &data::BENCH[1]);
        let digest = self.digest(set)?;
        self.open_page().await?;
        self.open_once(&other.files()?).await?;
        self.look("window.other = [...document.querySelector('input[type=file]').files], null").await?;
        self.sound("before the hurry", &set.files()?).await?;
        let before = self.held().await?;
        let hurry = "(async () => { const files = [...document.querySelector('input[type=file]').files], ended = [];\
             for (let i = 0; i < 50; i++) { ended.push(__planescope.open(i % 2 ? files : window.other).then(() => 'done', (error) => error.message));\
             await new Promise((done) => setTimeout(done, (i * 37) % 60)); }\
             const words = await Promise.all(ended); return { last: words[49], replaced: words.slice(0, 49).filter((words) => words !== 'done').length }; })()";
        let found = self.look(hurry).await?;
        self.compare("fifty openings: the last one ends", &found["last"], &json!("done"));
        println!("        {} of 49 openings were replaced on their way", found["replaced"]);
        let hashes = self.ask("hashes()").await?;
        self.compare("fifty openings: the last one is there", &hashes["digest"], &digest);
        self.settle().await?;
        let after = self.held().await?;
        println!("        held before {before}, after {after}");
        self.compare("fifty openings: as many workers", &after["workers"], &before["workers"]);
        for (key, more) in [("gpu", 1e6), ("heap", 4e6), ("buffers", 4e6)] {
            let bytes = |held: &Value| held[key].as_f64().unwrap_or(f64::MAX);
            let is_back = bytes(&after) < bytes(&before) + more;
            self.compare(&format!("fifty openings: the {key} is back"), &json!(is_back), &json!(true));
        }
        // A page that goes away in the middle of a load.
        self.look("__planescope.open().catch(() => null), null").await?;
        self.open_page().await?;
        self.sound("after a page that went away while it read", &set.files()?).await
    }

    /// A reader that hangs in the middle of a load: it is replaced, the load ends, the next one is right.
    async fn readers(&mut self) -> Result<()> {
        let set = &data::ROWS;
        self.open_page().await?;
        self.sound("before a reader hangs", &set.files()?).await?;
        let before = self.limited("workers", async |browser| browser.workers().await).await?;
        let hang = "Blob.prototype.stream = () => { for (;;); }, 0";
        self.limited("a reader", async |browser| browser.in_worker(0, hang).await).await?;
        let start = Instant::now();
        let ended = "__planescope.open().then((profile) => profile.framesFailed, (error) => error.message)";
        let ended = self.look(ended).await?;
        let words = self.look(SAID).await?;
        let is_told = words.as_str().is_some_and(|words| words.contains("A reading worker was lost"));
        println!("        the load ended after {:.1} s: {ended}", start.elapsed().as_secs_f32());
        self.compare("a reader that hangs: the load ends in words", &json!(is_told), &json!(true));
        self.look("__planescope.open().then(() => null)").await?;
        let hashes = self.ask("hashes()").await?;
        let digest = self.digest(set)?;
        self.compare("after a reader hung: every frame", &hashes["digest"], &digest);
        let after = self.limited("workers", async |browser| browser.workers().await).await?;
        self.compare("after a reader hung: as many as before", &json!(after), &json!(before));
        Ok(())
    }

    /// The device goes while a set is read, while nothing happens, and while a detector is dragged.
    async fn devices(&mut self) -> Result<()> {
        let (set, destroy) = (&data::ROWS, "window.devices.at(-1).destroy(), null");
        let digest = self.digest(set)?;
        self.open_page().await?;
        self.limited("files", async |browser| browser.choose_files(FILE_INPUT, &set.files()?).await).await?;
        self.until("document.body.dataset.stage === 'reading'", 100).await?;
        self.look(destroy).await?;
        self.back("while loading").await?;
        let hashes = self.ask("hashes()").await?;
        self.compare("a device lost while loading: every frame", &hashes["digest"], &digest);

        self.open_page().await?;
        self.limited("a window", async |browser| browser.screenshot(1280, 720).await).await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.settle().await?;
        let sums = "__planescope.virtualImage(null).then(({ data }) => Array.from(data, String))";
        let before = self.look(sums).await?;
        let view = self.look("JSON.stringify(__planescope.state())").await?;
        self.look(destroy).await?;
        let seconds = self.back("while nothing happens").await?;
        self.settle().await?;
        // On a processor that plays the GPU it takes as long as it takes.
        let is_soon = self.is_software().await? || seconds < 3.0;
        self.compare("the demo set is back within 3 s on a GPU", &json!(is_soon), &json!(true));
        self.expect("a device lost while nothing happens: the view", "JSON.stringify(__planescope.state())", view)
            .await?;
        self.expect("a device lost while nothing happens: every count", sums, before.clone()).await?;

        let [x, y] = self.middle("#view-pattern").await?;
        self.look("setTimeout(() => window.devices.at(-1).destroy(), 150), null").await?;
        let points: Vec<[f64; 2]> = (0..40).map(|step| [x + f64::from(step), y]).collect();
        self.limited("a drag", async |browser| browser.drag(&points).await).await?;
        self.back("while dragging").await?;
        self.settle().await?;
        let state = self.look("__planescope.state()").await?;
        self.compare(
            "a device lost while dragging: the detector is where it was let go",
            &state["product"],
            &json!("custom"),
        );
        self.expect("a device lost while dragging: every count", sums, before).await?;
        self.look(destroy).await?;
        self.until("document.querySelector('#messages').innerText.includes('The GPU does not come back')", 300).await?;
        self.expect("three losses within a minute end in words", "document.body.dataset.stage !== ''", json!(true))
            .await
    }

    /// Waits until the page has said that the GPU was reset and has read everything again; s.
    async fn back(&mut self, when: &str) -> Result<f64> {
        let start = Instant::now();
        let back = "(async () => { for (let i = 0; i < 900; i++) { await new Promise((done) => setTimeout(done, 50));\
             const told = [...document.querySelectorAll('#messages h3')].some((h) => h.textContent === 'The GPU was reset');\
             if (told && document.body.dataset.stage === 'set' && window.__loadprof && !window.__loadprof.error) return true; }\
             return document.querySelector('#messages').innerText; })()";
        self.expect(&format!("a device lost {when}: rebuilt and told"), back, json!(true)).await?;
        let seconds = start.elapsed().as_secs_f64();
        println!("        back {seconds:.1} s after the device was lost {when}");
        Ok(seconds)
    }

    async fn is_software(&mut self) -> Result<bool> {
        Ok(self.look("window.__loadprof?.softwareAdapter ?? true").await? == json!(true))
    }

    /// What the page holds, once garbage was collected.
    async fn held(&mut self) -> Result<Value> {
        let (heap, buffers) = self.limited("the heap", async |browser| browser.heap().await).await?;
        let workers = self.limited("workers", async |browser| browser.workers().await).await?;
        let gpu = self.look("__planescope.memory?.usedBytes ?? null").await?;
        Ok(json!({"heap": heap, "buffers": buffers, "workers": workers, "gpu": gpu}))
    }

    /// Opens files and compares every frame.
    async fn sound(&mut self, what: &str, files: &[PathBuf]) -> Result<()> {
        let set = [&data::BENCH[0], &data::BENCH[1], &data::ROWS]
            .into_iter()
            .find(|set| set.files().is_ok_and(|of| of == files));
        let digest = self.digest(set.context("a set of its own")?)?;
        let profile = self.open_once(files).await?;
        ensure!(profile["error"].is_null(), "{what}: {}", profile["error"]);
        let hashes = self.ask("hashes()").await?;
        self.compare(&format!("{what}: every frame"), &hashes["digest"], &digest);
        Ok(())
    }

    fn digest(&self, set: &data::Bench) -> Result<Value> {
        let table: Value = serde_json::from_slice(&std::fs::read(set.table())?)?;
        Ok(table["acquisition"]["totals"]["digest"].clone())
    }
}

/// Opens what an expression makes of the `files` of the input; the digest, or why not.
fn dropped(drop: &str) -> String {
    format!(
        "(async () => {{ const files = [...document.querySelector('input[type=file]').files], apple = new Uint8Array(4096);\
         apple.set([0, 5, 22, 7, 0, 2]); window.__loadprof = null;\
         const outcome = __planescope.open({drop}).then(() => null, (error) => error.message);\
         const chosen = async () => {{ while (!window.__loadprof) {{ await new Promise((done) => setTimeout(done, 100));\
         document.querySelector('[data-stage=\"choice\"] [data-do=\"choose 0\"]')?.click(); }} }};\
         await Promise.race([outcome, chosen()]); const error = await outcome;\
         return {{ error, digest: error ? null : (await __planescope.hashAll()).digest }}; }})()"
    )
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files anew in `folder`.
fn copied(files: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>> {
    let copy = |file: &PathBuf| {
        let to = folder.join(name(file));
        let _ = std::fs::remove_file(&to);
        std::fs::copy(file, &to)?;
        Ok(std::path::absolute(to)?)
    };
    files.iter().map(copy).collect()
}
