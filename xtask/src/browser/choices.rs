//! What the user chooses on the page: dataset, order of axes, channel, flip, and hot pixels left out.

use anyhow::Result;
use serde_json::{Value, json};

use super::Bench;
use crate::test::data;

/// Flips the patterns and asks for everything that has a direction, before and after.
const FLIP: &str = "(async () => {
    const p = window.__planescope, texts = (list) => Array.from(list, String);
    const all = async () => {
        const { rows, cols, data, bad } = await p.frame(3), { sum, sumRow, sumCol } = await p.com();
        const shape = { shape: 'rect', centre: [9, 4], height: 6, width: 6 };
        return { rows, cols, data: Array.from(data), bad: Array.from(bad), sum, sumRow: texts(sumRow), sumCol,
            mean: texts((await p.meanPattern()).sum), image: texts((await p.virtualImage(shape)).data),
            mirrored: texts((await p.virtualImage({ ...shape, centre: [9, cols - 1 - 4] })).data),
            hash: (await p.hashAll()).digest };
    };
    const before = await all();
    p.set({ flip: 'columns' });
    const after = await all();
    const told = document.querySelector('#what-pattern').textContent;
    p.set({ flip: 'none' });
    const again = await all();
    const { rows, cols } = before, turn = (list) => list.map((_, i) => list[i - i % cols + cols - 1 - i % cols]);
    const same = (a, b) => JSON.stringify(a, (_, v) => typeof v === 'bigint' ? String(v) : v) === JSON.stringify(b, (_, v) => typeof v === 'bigint' ? String(v) : v);
    return {
        pattern: same(after.data, turn(before.data)), bad: same(after.bad, turn(before.bad)),
        mean: same(after.mean, turn(before.mean)), image: same(after.image, before.mirrored) && !same(after.image, before.image),
        rows: same(after.sumRow, before.sumRow),
        cols: same(texts(after.sumCol), before.sum.map((sum, i) => BigInt(cols - 1) * sum - before.sumCol[i]).reduce((list, v) => [...list, String(v)], [])),
        hash: after.hash === before.hash, told: told.includes('left–right'), reversible: same(again, before),
    };
})()";

/// Takes the offer to leave hot pixels out, and takes it back.
const HOT: &str = "(async () => {
    const p = window.__planescope, wait = (ms) => new Promise((done) => setTimeout(done, ms));
    const total = async () => (await p.virtualImage()).data.reduce((a, b) => a + b, 0n);
    const box = document.querySelector('#exclude-hot');
    for (let i = 0; i < 300 && box.closest('label').hidden; i++) await wait(50);
    const words = document.querySelector('#messages').innerText, before = await total();
    const { data } = await p.frame(0), hot = Number(words.match(/x, y as stored: (\\d+), (\\d+)/)?.[2]) * 32 + Number(words.match(/x, y as stored: (\\d+), (\\d+)/)?.[1]);
    document.querySelector('[data-do=exclude-hot]').click(); await wait(200);
    const without = await total(), isBad = (await p.frame(0)).bad[hot], ticked = box.checked;
    box.click(); await wait(200);
    return { offered: /hot pixel/.test(words), fewer: without < before, isBad, ticked, back: (await total()) === before, n: data.length };
})()";

impl Bench<'_> {
    /// The chooser by keys, the menus of the set's card, and the flip.
    pub async fn choices(&mut self) -> Result<()> {
        let axes = data::axes_folder();
        self.open_page().await?;
        let file = axes.join("several.h5");
        let forget = "window.__loadprof = null";
        self.limited("the profile before", async |browser| browser.evaluate(forget).await).await?;
        self.limited("the choice of files", async |browser| browser.choose_files(super::FILE_INPUT, &[file]).await)
            .await?;
        let chooser = self.evaluate("the chooser", CHOOSER).await?;
        let expected =
            json!({"stage": "choice", "rows": 9, "refused": 4, "first": "cube", "next": "dark", "folded": 1});
        self.compare("the chooser lists every dataset and obeys the keys", &chooser, &expected);
        let opened = self.ask("opened(100)").await?;
        self.compare("the chosen dataset is opened", &opened["dataset"], &json!("/big/dark"));

        self.open_once(&[axes.join("rcyx_contiguous.h5")]).await?;
        let usual = self.ask("hashes()").await?;
        let opened = self.open_once(&[axes.join("xycr_tiles.h5")]).await?;
        self.compare("axes as most programs store them", &opened["axes"], &json!("rcyx"));
        self.pick("axes", "det x, det y, scan x, scan y").await?;
        let opened = self.ask("opened(100)").await?;
        self.compare("the chosen order of axes", &opened["axes"], &json!("xycr"));
        let turned = self.ask("hashes()").await?;
        self.compare("axes in another order: the hash of every frame", &turned["weighted64"], &usual["weighted64"]);

        let fixtures = data::fixtures_folder();
        self.open_once(&data::hdf5_files(&fixtures.join("vds_channels"))?).await?;
        self.pick("channel", "threshold_2").await?;
        let opened = self.ask("opened(100)").await?;
        self.compare("the chosen channel", &opened["channel"], &json!("threshold_2"));
        let total = "__planescope.virtualImage().then(i => String(i.data.reduce((a, b) => a + b, 0n)))";
        let total = self.evaluate("the sum", total).await?;
        self.compare("the counts of the chosen channel", &total, &json!(73580));

        self.open_once(&data::hdf5_files(&fixtures.join("mask_u16"))?).await?;
        let flipped = self.evaluate("the flip", FLIP).await?;
        for (what, is_right) in flipped.as_object().into_iter().flatten() {
            self.compare(&format!("flipped patterns: {what}"), is_right, &json!(true));
        }
        self.open_once(&data::hdf5_files(&fixtures.join("hot_pixel"))?).await?;
        let hot = self.evaluate("hot pixels", HOT).await?;
        let expected = json!({"offered": true, "fewer": true, "isBad": 1, "ticked": true, "back": true, "n": 1024});
        self.compare("hot pixels are offered, left out and counted again", &hot, &expected);
        Ok(())
    }

    /// Takes an option of a menu of the set's card, as a user does.
    async fn pick(&mut self, id: &str, name: &str) -> Result<()> {
        let script = format!(
            "(() => {{ const menu = document.getElementById({}); window.__loadprof = null; \
             menu.value = [...menu.options].find(option => option.text === {}).value; \
             menu.dispatchEvent(new Event('change')); }})()",
            json!(id),
            json!(name)
        );
        self.evaluate("a menu", &script).await?;
        Ok(())
    }

    /// The value of a script that is run in the page.
    pub async fn evaluate(&mut self, what: &str, script: &str) -> Result<Value> {
        self.limited(what, async |browser| browser.evaluate(script).await).await
    }
}

/// Waits for the list, walks it by keys and chooses the second dataset.
const CHOOSER: &str = "(async () => {
    const wait = (ms) => new Promise((done) => setTimeout(done, ms));
    const rows = () => [...document.querySelectorAll('#dataset-tree [role=treeitem]')];
    for (let i = 0; i < 200 && !rows().length; i++) await wait(50);
    await wait(100);
    const name = () => document.activeElement.querySelector('b')?.textContent;
    const key = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const state = { stage: document.body.dataset.stage, rows: rows().length,
        refused: rows().filter((row) => row.getAttribute('aria-disabled')).length, first: name() };
    key('ArrowDown'); state.next = name();
    key('ArrowLeft'); key('ArrowLeft'); state.folded = rows().filter((row) => row.getAttribute('aria-expanded') === 'false').length;
    key('ArrowRight'); key('ArrowRight'); key('ArrowDown'); key('Enter');
    return state;
})()";
