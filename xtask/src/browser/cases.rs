//! What is done with the page in one test case, and what must come out.

use std::path::PathBuf;

use anyhow::{Context, Result};
use planescope::{
    acquisition::report::{Request, inspect},
    source::{ByteSource, Disk},
};
use serde_json::{Value, json};

use super::{Bench, FILE_INPUT, answers};
use crate::{paths, test::data};

/// One set, opened on a fresh page.
pub enum Case<'a> {
    /// A benchmark acquisition: every product of every frame is known.
    Bench(&'a data::Bench),
    /// The real ARINA set, in which every count is 0.
    Arina,
    /// The page's own demo set, opened by a click.
    Demo,
    /// A file that is not HDF5.
    Refused,
}

/// The case of one benchmark acquisition.
pub fn bench(bench: &data::Bench) -> Case<'_> {
    Case::Bench(bench)
}

impl Case<'_> {
    pub async fn run(self, bench: &mut Bench<'_>) -> Result<()> {
        match self {
            Case::Bench(set) => bench.acquisition(set).await,
            Case::Arina => bench.arina().await,
            Case::Demo => bench.demo().await,
            Case::Refused => bench.refused().await,
        }
    }
}

impl Bench<'_> {
    /// A benchmark acquisition against the integers of `expected.py`.
    async fn acquisition(&mut self, set: &data::Bench) -> Result<()> {
        let seed = set.seed_file();
        let expected = answers(self.python, "bench_answers.py", &[&set.table(), &seed])?;
        self.open_page().await?;
        let profile = self.open_files(&set.files()?).await?;
        let name = set.name;
        let keys = ["scanRows", "scanCols", "frames", "framesMissing", "framesFailed", "badPixels"];
        self.compare(
            &format!("{name}: what the load reports"),
            &Value::from_iter(keys.map(|key| profile[key].clone())),
            &json!([set.scan[0], set.scan[1], expected["frames"], 0, 0, expected["bad_pixels"]]),
        );
        let short = set.scan[0] * set.scan[1] - expected["frames"].as_u64().context("frames")?;
        if short > 0 {
            let is_said = self.page_text("").await?.contains(&short.to_string());
            self.compare(&format!("{name}: says how many positions were not reached"), &json!(is_said), &json!(true));
        }
        self.compare(&format!("{name}: no GPU errors"), &profile["gpuErrors"], &json!([]));

        let hashes = self.ask("hashes()").await?;
        self.compare(&format!("{name}: the hash of every frame"), &hashes["weighted64"], &expected["weighted64"]);
        self.compare(&format!("{name}: the digest"), &hashes["digest"], &expected["digest"]);

        let images = self.ask(&format!("images({})", expected["detectors"])).await?;
        self.compare(&format!("{name}: bright field, every frame"), &images["bf"], &expected["bf"]);
        self.compare(&format!("{name}: dark field, every frame"), &images["adf"], &expected["adf"]);
        self.compare(&format!("{name}: sum, every frame"), &images["sum"], &expected["sum"]);
        for (i, moment) in ["sum", "sum_row", "sum_col"].into_iter().enumerate() {
            self.compare(&format!("{name}: moment {moment}, every frame"), &images["com"][i], &expected[moment]);
        }

        let pattern = self.ask("pattern()").await?;
        self.compare(&format!("{name}: the sum pattern"), &pattern["sum"], &expected["pattern_sum"]);
        self.compare(&format!("{name}: the maximum pattern"), &pattern["max"], &expected["pattern_max"]);
        self.compare(&format!("{name}: frames in the sum pattern"), &pattern["frames"], &expected["frames"]);

        let some = [0, 17, 199];
        let of = |column: &str| Value::from_iter(some.map(|i: usize| expected[column][i].clone()));
        let frames = self.ask(&format!("frames({some:?})")).await?;
        self.compare(&format!("{name}: single patterns"), &frames, &of("weighted64"));
        let checksums = self.ask(&format!("checksums({some:?})")).await?;
        self.compare(&format!("{name}: checksums, sum"), &column(&checksums, "sum"), &of("sum"));
        self.compare(&format!("{name}: checksums, max"), &column(&checksums, "max"), &of("max"));
        let hashes = self.ask(&format!("hashFrames({some:?})")).await?;
        self.compare(&format!("{name}: FNV hashes"), &column(&hashes, "fnv1a64"), &of("fnv1a64"));
        Ok(())
    }

    /// The real set: its structure, and the case without any count.
    async fn arina(&mut self) -> Result<()> {
        let Some(folder) = data::arina_folder() else {
            self.tally.skip("arina-real", "PLANESCOPE_ARINA names no folder with the set");
            return Ok(());
        };
        self.open_page().await?;
        let profile = self.open_files(&data::hdf5_files(&folder)?).await?;
        let shape = ["scanRows", "scanCols", "detRows", "detCols", "frames", "framesFailed", "framesMissing"];
        let found = Value::from_iter(shape.map(|key| profile[key].clone()));
        self.compare("arina-real: scan, detector, frames", &found, &json!([4, 4, 192, 192, 16, 0, 0]));
        let dtype = profile["sourceDtype"].as_str().unwrap_or_default().to_owned();
        self.compare("arina-real: element type", &json!(dtype == "u32" || dtype == "uint32"), &json!(true));
        let hashes = self.ask("hashes()").await?;
        let zeros = json!(vec!["0000000000000000"; 16]);
        self.compare("arina-real: every frame is zeros", &hashes["weighted64"], &zeros);
        let images = self.ask("images({bf: {centre: [96, 96], inner: 0, outer: 8.5}, adf: {centre: [96, 96], inner: 20.5, outer: 80.5}})").await?;
        self.compare("arina-real: bright field", &images["bf"], &json!(vec![0; 16]));
        let text = self.page_text("com").await?;
        self.compare("arina-real: no NaN on the page", &json!(text.contains("NaN")), &json!(false));
        self.compare("arina-real: says that there are no counts", &json!(text.contains("no counts")), &json!(true));
        Ok(())
    }

    /// The demo set: one click, one picture, the frames that its files hold.
    async fn demo(&mut self) -> Result<()> {
        let files = data::hdf5_files(&paths::root().join("www/demo"))?;
        let size: u64 =
            files.iter().map(|file| std::fs::metadata(file).map(|found| found.len())).sum::<std::io::Result<_>>()?;
        self.compare("demo: at most 3 MB", &json!(size <= 3_000_000), &json!(true));
        let mut arguments = vec![std::path::Path::new("--files")];
        arguments.extend(files.iter().map(PathBuf::as_path));
        let expected = answers(self.python, "frame_hashes.py", &arguments)?;
        self.open_page().await?;
        let click = "[...document.querySelectorAll('button')].find(b => /demo/i.test(b.textContent + b.id)).click()";
        self.limited("a click on the demo's button", async |browser| browser.evaluate(click).await).await?;
        self.ask("opened(100)").await?;
        let hashes = self.ask("hashes()").await?;
        self.compare("demo: the hash of every frame", &hashes["weighted64"], &expected["files"]);
        Ok(())
    }

    /// A text file: the load is refused with words that say what it is, and the page lives on.
    async fn refused(&mut self) -> Result<()> {
        self.open_page().await?;
        let file = data::fixtures_folder().join("not_hdf5/not_hdf5.h5");
        let words = self.open_files(&[file]).await.err().map(|error| format!("{error:#}")).unwrap_or_default();
        self.compare("not HDF5: refused in words", &json!(words.contains("HDF5")), &json!(true));
        let seen = self.page_text("").await?;
        self.compare("not HDF5: the words are on the page", &json!(seen.contains("HDF5")), &json!(true));
        Ok(())
    }

    /// Every fixture, one after the other on the same page, as a user would open them: the hash of every frame as h5py
    /// reads it, or the words with which the native reader refuses it.
    pub async fn fixtures(&mut self) {
        let outcome = self.each_fixture().await;
        self.finish("fixtures", outcome);
    }

    async fn each_fixture(&mut self) -> Result<()> {
        let folder = data::fixtures_folder();
        let cases: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json"))?)?;
        let cases = cases["cases"].as_object().context("expected.json has no cases")?;
        let is_read = |case: &Value| case["outcome"] != "error" || !case["or_ok"].is_null();
        let read = cases.iter().filter(|(_, case)| is_read(case)).map(|(name, _)| std::path::Path::new(name));
        let arguments: Vec<_> = std::iter::once(folder.as_path()).chain(read).collect();
        let expected = answers(self.python, "frame_hashes.py", &arguments)?;
        self.open_page().await?;
        for (name, case) in cases {
            let outcome = self.fixture(name, case, &expected[name]).await;
            if let Err(error) = outcome {
                self.tally.fail(&format!("{name} ({})", self.mode), &format!("{error:#}"));
            }
        }
        Ok(())
    }

    async fn fixture(&mut self, name: &str, case: &Value, hashes: &Value) -> Result<()> {
        let names = case["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let files: Vec<PathBuf> = names.map(|file| data::fixtures_folder().join(name).join(file)).collect();
        let native = native(&files)?;
        let is_float = case["dtype"].as_str().is_some_and(|dtype| dtype.starts_with("float"));
        let opened = self.open_once(&files).await?;
        if native["outcome"] == "error" || is_float {
            let words =
                if is_float { "Floating-point patterns" } else { native["message"].as_str().unwrap_or_default() };
            let told = opened["error"].as_str().unwrap_or_default();
            let is_told = !words.is_empty() && told.contains(words);
            self.compare(&format!("{name}: refused in words ({told})"), &json!(is_told), &json!(true));
            return Ok(());
        }
        if let Some(probes) = hashes.as_object() {
            let frames: Vec<&str> = probes.keys().map(String::as_str).collect();
            let found = self.ask(&format!("hashFrames([{}])", frames.join(","))).await?;
            let expected = Value::from_iter(probes.values().cloned());
            self.compare(&format!("{name}: the hashes of some frames"), &column(&found, "weighted64"), &expected);
        } else {
            let found = self.ask("hashes()").await?;
            self.compare(&format!("{name}: the hash of every frame"), &found["weighted64"], hashes);
        }
        let lengths = |key: &str| -> u64 {
            let ranges = case[key].as_array().into_iter().flatten();
            ranges.filter_map(|range| Some(range[1].as_u64()? - range[0].as_u64()?)).sum()
        };
        let reported = opened["framesFailed"].as_u64().zip(opened["framesMissing"].as_u64());
        let reported = reported.map(|(failed, missing)| failed + missing);
        // A case that may be refused and is read after all has no unreadable frames.
        let unread = if case["outcome"] == "error" { 0 } else { lengths("unreadable_frames") };
        // Which frames are aborted is found after the load.
        let is_right = reported.is_some_and(|found| found == unread || found == unread + lengths("sentinel_frames"));
        self.compare(&format!("{name}: frames without data ({reported:?})"), &json!(is_right), &json!(true));
        self.compare(&format!("{name}: no GPU errors"), &opened["gpuErrors"], &json!([]));
        Ok(())
    }

    /// Chooses files and waits for what becomes of it: the load's profile, `error` in it where it was refused. Of
    /// several sets the first one is taken.
    pub async fn open_once(&mut self, files: &[PathBuf]) -> Result<Value> {
        let forget = "window.__loadprof = null";
        self.limited("the profile before", async |browser| browser.evaluate(forget).await).await?;
        self.limited("the choice of files", async |browser| browser.choose_files(FILE_INPUT, files).await).await?;
        self.ask("opened(100)").await
    }

    /// Chooses files as a user does, and waits for the load; its profile.
    pub async fn open_files(&mut self, files: &[PathBuf]) -> Result<Value> {
        self.limited("the choice of files", async |browser| browser.choose_files(FILE_INPUT, files).await).await?;
        self.ask("open()").await
    }

    /// All text that the page shows, after a click on the product whose button is called so.
    async fn page_text(&mut self, product: &str) -> Result<String> {
        let show = format!(
            "(async () => {{ const name = {}; if (name) [...document.querySelectorAll('button')]\
             .find(b => (b.dataset.product ?? b.textContent).toLowerCase().startsWith(name))?.click(); \
             await new Promise(done => setTimeout(done, 500)); return document.body.innerText; }})()",
            json!(product)
        );
        let text = self.limited("the page's text", async |browser| browser.evaluate(&show).await).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }
}

/// What the native reader says of files.
fn native(files: &[PathBuf]) -> Result<Value> {
    let disks = files.iter().map(|path| Disk::open(path)).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    Ok(inspect(&sources, Request::default())?.json)
}

/// One field of a list of objects.
fn column(list: &Value, field: &str) -> Value {
    Value::from_iter(list.as_array().into_iter().flatten().map(|entry| entry[field].clone()))
}
