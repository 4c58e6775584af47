//! A bundle of a tilt series: made by its command, opened by its launcher with no click, closed with its window; and a
//! damaged one.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{Bench, START, cdp::Browser, software_flags};
use crate::{
    paths,
    test::data::{self, BENCH, TILTS, hdf5_files},
};

/// The sets with faults, once every file is checked.
const LIST: &str = "(async () => {
    const words = () => document.getElementById('bundle-words').innerText;
    for (let i = 0; i < 400 && !/^All|not as/.test(words()); i++) await new Promise((done) => setTimeout(done, 50));
    const buttons = [...document.querySelectorAll('#bundle-sets button')];
    return {
        words: words(),
        sets: buttons.map((button) => button.innerText),
        faults: [...document.querySelectorAll('#bundle .wrong')].map((fault) => fault.innerText),
    };
})()";

impl Bench<'_> {
    pub async fn bundles(&mut self, chrome: &Path) -> Result<()> {
        let bundle = paths::target().join("bundle");
        let digests = digests(&TILTS)?;
        self.made(&bundle)?;
        self.opened(&bundle, chrome, &digests).await?;
        self.damaged(&bundle).await?;
        self.without_launcher().await
    }

    /// The command makes it, of masters alone.
    fn made(&mut self, bundle: &Path) -> Result<()> {
        let manifest = make(bundle, &[], &masters()?)?;
        let sets = manifest["sets"].as_array().context("sets")?;
        let files: Vec<usize> = sets.iter().map(|set| set["files"].as_array().map_or(0, Vec::len)).collect();
        self.compare("bundle: four sets of three files each", &json!(files), &json!([3, 3, 3, 3]));
        Ok(())
    }

    /// One set under another name beside the page in one file, which asks for it.
    async fn without_launcher(&mut self) -> Result<()> {
        let seed = &BENCH[0];
        let digest = digest(&seed.table())?;
        let masters: Vec<PathBuf> =
            seed.files()?.into_iter().filter(|file| file.to_string_lossy().ends_with("_master.h5")).collect();
        let bundle = paths::target().join("bundle-single");
        let manifest = make(&bundle, &["--single", "--anonymous"], &masters)?;
        let names = ["set-01_master.h5", "set-01_data_000001.h5", "set-01.h5"];
        let facts = json!([manifest["sets"][0]["files"], manifest.to_string().contains("seed")]);
        self.compare("an anonymous bundle: no name of a set is left", &facts, &json!([names, false]));
        let url = format!("file://{}", bundle.join("planescope.html").display());
        self.limited("the bundle's page", async |browser| browser.open(&url).await).await?;
        self.evaluate("the bundle's page", START).await?;
        let text = self.evaluate("its words", "document.body.innerText").await?;
        let asks =
            text.as_str().is_some_and(|text| text.contains("Choose the folder data that lies beside this file."));
        self.compare("a bundle without a launcher: asks for the folder of its data", &json!(asks), &json!(true));
        self.open_files(&hdf5_files(&bundle.join("data"))?).await?;
        let found = self.ask("hashes()").await?;
        self.compare("an anonymous bundle: the digest of its set", &found["digest"], &json!(digest));
        Ok(())
    }

    /// By the file that is double-clicked; what a user would do with a window is done over the DevTools protocol.
    async fn opened(&mut self, bundle: &Path, chrome: &Path, digests: &[String]) -> Result<()> {
        let profile = paths::target().join("chrome/bundle");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(&profile)?;
        let mut start = Command::new("sh");
        start.arg(bundle.join("planescope.sh")).arg("--browser").arg(chrome).arg("--profile").arg(&profile);
        start.arg("--flags").arg(format!("{} --remote-debugging-port=0", software_flags().join(" ")));
        let launcher = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let launched = Browser::attach(launcher, &profile).await?;
        let own = std::mem::replace(&mut self.browser, launched);
        let outcome = self.four_panels(digests).await;
        let launched = std::mem::replace(&mut self.browser, own);
        let complaints = json!(launched.complaints());
        let left = launched.close_page().await;
        // What went wrong first is told first.
        outcome?;
        let left = left?;
        self.compare("bundle: no errors on the console", &complaints, &json!([]));
        self.compare("bundle: the launcher ends with its window", &json!(left), &json!(0));
        Ok(())
    }

    /// All four sets open by themselves, each in its panel.
    async fn four_panels(&mut self, digests: &[String]) -> Result<()> {
        self.evaluate("the bundle's page", START).await?;
        let profile = self.ask("opened(100)").await?;
        self.compare("bundle: its sets open by themselves, by their addresses", &profile["sourceKind"], &json!("url"));
        let facts = self.evaluate("the series", "__planescope.seriesSettled()").await?;
        let of =
            |name: &str| Value::from_iter(facts["sets"].as_array().into_iter().flatten().map(|set| set[name].clone()));
        let names: Vec<String> = (0..4).map(|tilt| format!("tilts_tilt_{tilt:02}_master.h5")).collect();
        self.compare("bundle: all sets are open, in order", &of("name"), &json!(names));
        self.compare("bundle: four panels", &facts["panels"], &json!([0, 1, 2, 3]));
        for (place, digest) in digests.iter().enumerate() {
            let found = self.evaluate("hashes", &format!("__planescope.hashAll({place})")).await?;
            self.compare(&format!("bundle: the digest of panel {}", place + 1), &found["digest"], &json!(digest));
        }
        let list = self.evaluate("the check of the files", LIST).await?;
        let is_whole = list["words"].as_str().is_some_and(|words| words.starts_with("All"));
        self.compare(&format!("bundle: every file is checked ({})", list["words"]), &json!(is_whole), &json!(true));
        self.compare("bundle: nothing is wrong with them", &list["faults"], &json!([]));
        Ok(())
    }

    /// A data file changed, a sidecar cut short: named on the terminal and in the page, and the first whole set opens.
    /// A page without its style sheet is not opened at all.
    async fn damaged(&mut self, bundle: &Path) -> Result<()> {
        let (changed, cut) = ("data/tilts_tilt_02_data_000001.h5", "data/tilts_tilt_00.h5");
        for (path, damage) in [(changed, 1), (cut, 0)] {
            let file = bundle.join(path);
            let mut bytes = fs::read(&file)?;
            match (damage, bytes.last_mut()) {
                (1, Some(last)) => *last ^= 1,
                _ => drop(bytes.pop()),
            }
            // The file is a link to the set that it was made of, which stays as it is.
            fs::remove_file(&file)?;
            fs::write(&file, bytes)?;
        }
        let served = Served::start(bundle)?;
        let url = served.url.clone();
        self.limited("the bundle's page", async |browser| browser.open(&url).await).await?;
        self.series_of_damaged(&served, [changed, cut]).await?;
        drop(served);

        fs::remove_file(bundle.join("viewer/style.css"))?;
        let served = Served::start(bundle)?;
        let url = served.url.clone();
        self.limited("the page of faults", async |browser| browser.open(&url).await).await?;
        let text = self.evaluate("its words", "document.body.innerText").await?;
        let is_named = text.as_str().is_some_and(|text| text.contains("viewer/style.css is missing"));
        self.compare("a bundle without a whole viewer: names what is missing", &json!(is_named), &json!(true));
        Ok(())
    }

    async fn series_of_damaged(&mut self, served: &Served, names: [&str; 2]) -> Result<()> {
        self.evaluate("the bundle's page", START).await?;
        self.ask("opened(100)").await?;
        let series = self.evaluate("the series", "__planescope.seriesSettled()").await?;
        let list = self.evaluate("the check of the files", LIST).await?;
        let names_of = Value::from_iter(series["sets"].as_array().into_iter().flatten().map(|set| set["name"].clone()));
        let is_open = |tilt: u32| names_of.to_string().contains(&format!("tilts_tilt_{tilt:02}_master.h5"));
        let open = json!([is_open(0), is_open(1), is_open(3)]);
        self.compare("a damaged bundle: sets whose files are whole open", &open, &json!([false, true, true]));
        self.compare(
            "a damaged bundle: the others are listed",
            &list["sets"],
            &json!(["tilts_tilt_00", "tilts_tilt_02"]),
        );
        let faults = list["faults"].to_string();
        let words = served.words(names.len())?;
        for (name, what) in names.into_iter().zip(["has changed", "it was copied in part"]) {
            let is_named = |text: &str| text.contains(name) && text.contains(what);
            self.compare(
                &format!("a damaged bundle: {name} is named in the page"),
                &json!(is_named(&faults)),
                &json!(true),
            );
            let told = words.iter().any(|line| is_named(line));
            self.compare(&format!("a damaged bundle: {name} is named on the terminal"), &json!(told), &json!(true));
        }
        Ok(())
    }
}

fn masters() -> Result<Vec<PathBuf>> {
    let folder = TILTS.table().parent().map(PathBuf::from).context("a table in a folder")?;
    let mut files = hdf5_files(&folder)?;
    files.retain(|file| file.to_string_lossy().ends_with("_master.h5"));
    Ok(files)
}

/// Runs the command; the manifest of what it made.
fn make(bundle: &Path, more: &[&str], masters: &[PathBuf]) -> Result<Value> {
    let mut make = Command::new(std::env::current_exe()?);
    make.arg("bundle").arg(bundle).arg("--dist").arg(paths::dist()).args(more).arg("--data").args(masters);
    let made = make.output()?;
    ensure!(made.status.success(), "cargo xtask bundle: {}", String::from_utf8_lossy(&made.stderr));
    Ok(serde_json::from_slice(&fs::read(bundle.join("manifest.json"))?)?)
}

/// A launcher that only serves.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn start(bundle: &Path) -> Result<Self> {
        let errors = fs::File::create(paths::target().join("chrome/launcher.log"))?;
        let mut serve = Command::new(bundle.join("planescope-linux"));
        let mut process = serve.arg("--serve").stdout(Stdio::piped()).stderr(errors).spawn()?;
        let output = process.stdout.take().context("its output is piped")?;
        let line = BufReader::new(output).lines().next().context("it says where it serves")??;
        let url = line.strip_prefix("planescope: ").with_context(|| line.clone())?.to_owned();
        Ok(Self { process, url })
    }

    /// What it said of faults, once there are so many.
    fn words(&self, faults: usize) -> Result<Vec<String>> {
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(paths::target().join("chrome/launcher.log"))?;
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            if lines.len() >= faults {
                return Ok(lines);
            }
            if start.elapsed() > Duration::from_secs(20) {
                bail!("the launcher named {} faults, not {faults}: {text}", lines.len());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Neither can fail in a way that matters: it is then gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the hashes of all frames of each tilt come to.
pub(super) fn digests(series: &data::Bench) -> Result<Vec<String>> {
    let folder = series.table().parent().map(PathBuf::from).context("a table in a folder")?;
    (0..4).map(|tilt| digest(&folder.join(format!("{}_tilt_{tilt:02}.expected.json", series.name)))).collect()
}

fn digest(table: &Path) -> Result<String> {
    let table: Value = serde_json::from_slice(&fs::read(table).with_context(|| table.display().to_string())?)?;
    Ok(table["acquisition"]["totals"]["digest"].as_str().context("a digest")?.to_owned())
}
