//! The page in one file, from file://.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Bench, answers};
use crate::{paths, single, test::data};

/// What the page is and offers there, once its words are settled.
const STANDING: &str = "(async () => {
    await new Promise((done) => setTimeout(done, 500));
    const seen = (element) => element.checkVisibility();
    return {
        protocol: location.protocol,
        demos: [...document.querySelectorAll('[data-do=open-demo]')].filter(seen).length,
        keep: seen(document.getElementById('keep')),
        copies: document.getElementById('copies-words').innerText,
    };
})()";

impl Bench<'_> {
    /// Makes the file of what is in `dist/` and opens sets in it, as a user does.
    pub async fn single_file(&mut self) -> Result<()> {
        let file = paths::target().join("single/planescope.html");
        std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
        single::build(&paths::dist(), &file, None)?;
        let served = std::mem::replace(&mut self.url, format!("file://{}", file.display()));
        let outcome = self.in_one_file().await;
        self.url = served;
        outcome
    }

    async fn in_one_file(&mut self) -> Result<()> {
        let set = &data::BENCH[0];
        let expected = answers(self.python, "bench_answers.py", &[&set.table(), &set.seed_file()])?;
        self.open_page().await?;
        let profile = self.open_files(&set.files()?).await?;
        self.compare("one file: no GPU errors", &profile["gpuErrors"], &json!([]));
        let hashes = self.ask("hashes()").await?;
        self.compare("one file: the hash of every frame", &hashes["weighted64"], &expected["weighted64"]);
        self.compare("one file: the digest", &hashes["digest"], &expected["digest"]);
        let images = self.ask(&format!("images({})", expected["detectors"])).await?;
        self.compare("one file: bright field, every frame", &images["bf"], &expected["bf"]);
        self.compare("one file: dark field, every frame", &images["adf"], &expected["adf"]);

        let standing = self.evaluate("what the page offers", STANDING).await?;
        let told = standing["copies"].as_str().is_some_and(|words| words.contains("keeps no copies"));
        let facts = json!([standing["protocol"], standing["demos"], standing["keep"], told]);
        self.compare(
            &format!("one file: no demo, and a word that no copies are kept ({})", standing["copies"]),
            &facts,
            &json!(["file:", 0, false, true]),
        );

        // Decoded in the workers, which is the other half of what they do.
        let folder = data::fixtures_folder().join("filter_gzip");
        let files = data::hdf5_files(&folder)?;
        let hashes =
            answers(self.python, "frame_hashes.py", &[&data::fixtures_folder(), std::path::Path::new("filter_gzip")])?;
        self.open_once(&files).await?;
        let found: Value = self.ask("hashes()").await?;
        self.compare("one file: a set that the workers decode", &found["weighted64"], &hashes["filter_gzip"]);
        Ok(())
    }
}
