//! Copies in the browser's storage: made, read in place of files that have not changed, and removed.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Bench, answers};
use crate::test::data;

/// Makes files anew of those that the input holds, which `change(file, bytes)` may change, and opens them: where they
/// were read from.
const REMADE: &str = "const remade = async (change) => {
    const files = [...document.querySelector('input[type=file]').files];
    const made = await Promise.all(files.map(async (file) => {
        const bytes = new Uint8Array(await file.arrayBuffer()), facts = { lastModified: file.lastModified };
        const parts = [bytes];
        if (file.name.includes('_data_')) change(bytes, facts, parts);
        return new File(parts, file.name, facts);
    }));
    const profile = await __planescope.open(made).catch((error) => ({ sourceKind: error.message }));
    return profile.sourceKind;
};
const rest = (bytes) => bytes.length - 5;
return [
    await remade(() => {}),
    await remade((bytes) => { bytes[rest(bytes)] ^= 1; }),
    await remade((bytes, facts) => { facts.lastModified += 1000; }),
    await remade((bytes, facts, parts) => { parts.push(new Uint8Array(1)); }),
    await remade(() => {}),
];";

/// What the page says and offers of copies, once its words are settled.
const CARD: &str = "await new Promise((done) => setTimeout(done, 300));
    const shown = (id) => document.getElementById(id).offsetParent !== null;
    return { words: document.getElementById('copies-words').innerText, keep: shown('keep'), clear: shown('clear-copies') };";

/// A click on a button, and then what is kept.
const CLICKED: &str = "document.getElementById(ID).click();
    for (let i = 0; i < 400; i++) {
        await new Promise((done) => setTimeout(done, 25));
        if ((await __planescope.copies()).sets === SETS) break;
    }
    return (await __planescope.copies()).sets;";

impl Bench<'_> {
    /// The smallest sets, kept and opened again after the page was loaded anew.
    pub async fn keeping(&mut self) -> Result<()> {
        let [seed, bright] = [&data::BENCH[0], &data::BENCH[1]];
        let expected = answers(self.python, "bench_answers.py", &[&seed.table(), &seed.seed_file()])?;
        self.open_page().await?;
        self.open_once(&seed.files()?).await?;
        let card = self.page_script("the card", CARD).await?;
        self.compare(
            "copies: a set may be kept, none is",
            &json!([card["keep"], card["clear"]]),
            &json!([true, false]),
        );
        let kept = self.page_script("the button that keeps", &clicked("keep", 1)).await?;
        self.compare("copies: a click keeps the set", &kept, &json!(1));

        self.open_page().await?;
        let opened = self.open_once(&seed.files()?).await?;
        self.compare("copies: a kept set is read from its copy", &opened["sourceKind"], &json!("opfs"));
        let hashes = self.ask("hashes()").await?;
        self.compare("copies: the hash of every frame of a copy", &hashes["weighted64"], &expected["weighted64"]);
        self.compare("copies: nothing is missing of a copy", &opened["framesMissing"], &json!(0));
        let card = self.page_script("the card", CARD).await?;
        let told = card["words"].as_str().is_some_and(|words| words.contains("This set is kept"));
        self.compare(
            "copies: it is told that a set is kept",
            &json!([told, card["keep"], card["clear"]]),
            &json!([true, false, true]),
        );
        let from = self.page_script("changed files", REMADE).await?;
        let expected_from = json!(["opfs", "file", "file", "file", "opfs"]);
        self.compare("copies: none is read when content, time or size have changed", &from, &expected_from);

        let origin = self.page_script("the origin", "return location.origin;").await?;
        self.open_once(&bright.files()?).await?;
        let refused = "return __planescope.keep().then(String, (error) => error.message);";
        let size = bright.files()?.iter().map(|file| Ok(std::fs::metadata(file)?.len())).sum::<Result<u64>>()?;
        // What the page stores besides copies.
        let others = "return (await navigator.storage.estimate()).usage - (await __planescope.copies()).bytes;";
        let others = self.page_script("other things stored", others).await?.as_u64().context("bytes")?;
        self.quota(&origin, Some(others + size)).await?;
        let words = self.page_script("a copy without room", refused).await?;
        let is_told = words.as_str().is_some_and(|words| words.contains("no room") && words.contains("MB"));
        self.compare(&format!("copies: no room is told ({words})"), &json!(is_told), &json!(true));
        let sets = "return (await __planescope.copies()).sets;";
        let left = self.page_script("what is kept", sets).await?;
        self.compare("copies: nothing goes for a copy that does not fit", &left, &json!(1));

        // Room for one of the two sets: the browser refuses it, until the other one is gone. Chrome takes room for a file
        // in powers of two.
        self.quota(&origin, Some(others + size.next_power_of_two() + (512 << 10))).await?;
        let kept = self.page_script("a copy in place of another", "return __planescope.keep();").await?;
        let state = self.page_script("what is kept", "return __planescope.copies();").await?;
        let facts = json!([kept, state["sets"], state["isKept"], state["bytes"]]);
        self.compare("copies: the one used longest ago makes room", &facts, &json!([true, 1, true, size]));
        self.quota(&origin, None).await?;
        let opened = self.open_once(&seed.files()?).await?;
        self.compare("copies: a set whose copy is gone is read from its files", &opened["sourceKind"], &json!("file"));
        let opened = self.open_once(&bright.files()?).await?;
        self.compare("copies: the other one from its copy", &opened["sourceKind"], &json!("opfs"));

        let left = self.page_script("the button that removes", &clicked("clear-copies", 0)).await?;
        self.compare("copies: a click removes all", &left, &json!(0));
        // The input holds these files already, so choosing them again would change nothing.
        let opened = self.page_script("the same files", "return __planescope.open();").await?;
        self.compare("copies: after that sets are read from their files", &opened["sourceKind"], &json!("file"));
        self.compare("copies: no GPU errors", &opened["gpuErrors"], &json!([]));
        Ok(())
    }

    async fn page_script(&mut self, what: &str, body: &str) -> Result<Value> {
        self.evaluate(what, &format!("(async () => {{ {body} }})()")).await
    }

    /// Bytes that the browser stores for the page; as many as usual without a number.
    async fn quota(&mut self, origin: &Value, bytes: Option<u64>) -> Result<()> {
        self.limited("a quota", async |browser| browser.allow(origin, bytes).await).await
    }
}

fn clicked(id: &str, sets: u32) -> String {
    CLICKED.replace("ID", &json!(id).to_string()).replace("SETS", &sets.to_string())
}
