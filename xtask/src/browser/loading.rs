//! What may happen in the middle of a load: an index that is not what its outline says, and a user who stops it.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Bench, FILE_INPUT, answers};
use crate::test::data;

/// The files of the input, one of which lacks pattern 349: the 8th of the 7th leaf of its chunk index, which is not among
/// those that are read beforehand.
const LACKING: &str = "const lacking = async () => {
    const files = [...document.querySelector('input[type=file]').files];
    return Promise.all(files.map(async (file) => {
        if (!file.name.endsWith('_data_000001.h5')) return file;
        const bytes = new Uint8Array(await file.arrayBuffer()), leaves = [];
        const head = [84, 82, 69, 69, 1, 0];
        for (let at = 0; leaves.length < 7; at++) if (head.every((byte, i) => bytes[at + i] === byte)) leaves.push(at);
        const place = leaves[6] + 24 + 7 * 48 + 40;
        return new File([bytes.fill(255, place, place + 8)], file.name);
    }));
};";

/// Opens them.
const IRREGULAR: &str = "const profile = await __planescope.open(await lacking());
    const { weighted64 } = await __planescope.hashAll();
    return { missing: profile.framesMissing, failed: profile.framesFailed, gpuErrors: profile.gpuErrors, weighted64 };";

/// Opens the files of the input, stops when some patterns are there, and asks what is left; every progress that the
/// page shows meanwhile.
const STOPPED: &str = "const wait = (ms) => new Promise((done) => setTimeout(done, ms)), read = [], patterns = [];
    window.__loadprof = null;
    const ended = __planescope.open().then(() => 'not stopped', (error) => error.message);
    const cell = (name) => [...document.querySelectorAll('#reading dt')].find((dt) => dt.innerText === name)?.nextElementSibling?.innerText ?? '';
    for (let i = 0; i < 2000; i++) {
        await wait(5);
        if (document.body.dataset.stage !== 'reading') continue;
        const numbers = cell('Patterns').replaceAll(/[\\s\\u202f,]/g, '').match(/^(\\d+)of(\\d+)$/);
        if (numbers) patterns.push(numbers.slice(1).map(Number));
        read.push(Number(document.querySelector('#progress').getAttribute('aria-valuenow')));
        if (numbers && Number(numbers[1]) > 0) break;
    }
    document.querySelector('[data-in=reading] [data-do=cancel]').click();
    const words = await ended, profile = window.__loadprof, left = (await __planescope.hashAll()).weighted64;
    await wait(500);
    const later = (await __planescope.hashAll()).weighted64;
    const rises = (list) => list.every((value, i) => i === 0 || value >= list[i - 1]);
    return { words, cancelled: profile.cancelled, gpuErrors: profile.gpuErrors, left, still: String(left) === String(later),
        honest: rises(patterns.map(([done]) => done)) && rises(read) && patterns.every(([done, all]) => done <= all && all === left.length),
        shown: patterns.length > 0, stage: document.body.dataset.stage };";

impl Bench<'_> {
    /// On the set whose chunk indexes are read along with its frames.
    pub async fn loading(&mut self) -> Result<()> {
        let set = &data::ROWS;
        let expected = answers(self.python, "bench_answers.py", &[&set.table(), &set.seed_file()])?;
        self.open_page().await?;
        // This load is at once replaced by the next one.
        self.limited("the choice of files", async |browser| browser.choose_files(FILE_INPUT, &set.files()?).await)
            .await?;

        let found = self.evaluate("an irregular index", &script(&[LACKING, IRREGULAR])).await?;
        let mut hashes = expected["weighted64"].clone();
        hashes[349] = Value::Null;
        self.compare(
            "a pattern that its index lacks is missing",
            &json!([found["missing"], found["failed"]]),
            &json!([1, 0]),
        );
        self.compare("an irregular index: the hash of every other frame", &found["weighted64"], &hashes);
        self.compare("an irregular index: no GPU errors", &found["gpuErrors"], &json!([]));

        let found = self.evaluate("a stopped load", &script(&[STOPPED])).await?;
        let told = ["cancelled", "still", "honest", "shown", "gpuErrors", "stage"].map(|key| found[key].clone());
        let expected_told = json!([true, true, true, true, [], "set"]);
        self.compare("a stopped load says so and stays as it is", &Value::from_iter(told), &expected_told);
        let left = found["left"].as_array().cloned().unwrap_or_default();
        let kept = left.iter().filter(|hash| !hash.is_null()).count();
        let is_part = 0 < kept && kept < left.len();
        self.compare(&format!("a stopped load leaves some frames ({kept})"), &json!(is_part), &json!(true));
        let right = left.iter().enumerate().filter(|(i, hash)| hash.is_null() || **hash == expected["weighted64"][i]);
        self.compare("a stopped load: the hash of every frame that came", &json!(right.count()), &json!(left.len()));

        let profile = self.open_files(&set.files()?).await?;
        let hashes = self.ask("hashes()").await?;
        self.compare("after a stopped load: the digest", &hashes["digest"], &expected["digest"]);
        self.compare("after a stopped load: nothing is missing", &profile["framesMissing"], &json!(0));
        Ok(())
    }
}

/// The pieces as one function that is called.
fn script(pieces: &[&str]) -> String {
    format!("(async () => {{ {} }})()", pieces.join("\n"))
}
