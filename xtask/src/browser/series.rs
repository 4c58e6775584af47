//! A tilt series on the page: four sets opened together, a budget for three of them, links, order, stars, and memory that
//! is given back.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Bench, FILE_INPUT, bundles::digests, walk::AXE};
use crate::test::{
    data::{self, SMALL_TILTS},
    tools,
};

/// What is known of the series.
const FACTS: &str = "__planescope.series";
pub(super) const SETTLED: &str = "__planescope.seriesSettled().then(() => null)";

/// A number for each picture on screen, from its pixels: 0 where nothing was painted.
const PAINTED: &str = "(() => { const hash = (canvas) => { const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);\
     let hash = 0, any = 0; for (let i = 0; i < data.length; i += 4) { any |= data[i] | data[i + 1] | data[i + 2]; hash = Math.imul(hash ^ data[i], 0x01000193); }\
     return any ? hash >>> 0 : 0; };\
     const { active, panels } = __planescope.series;\
     return panels.map((place) => hash(place === active ? document.querySelector('#canvas-image') : document.querySelector(`.tile[data-place=\"${place}\"] canvas`))); })()";

/// The cursor's place in every panel, as it is drawn.
const CURSORS: &str = "(() => { const { active, panels } = __planescope.series;\
     return panels.map((place) => (place === active ? document.querySelector('#over-image') : document.querySelector(`.tile[data-place=\"${place}\"] .over`)).querySelector('.scan')?.getAttribute('d')); })()";

impl Bench<'_> {
    pub async fn series(&mut self) -> Result<()> {
        self.open_page().await?;
        self.limited("1280x720", async |browser| browser.screenshot(1280, 720).await).await?;
        let before = self.look("__planescope.memory.usedBytes").await?;
        self.opened_together().await?;
        self.budget_of_three().await?;
        self.shared_or_own().await?;
        self.in_order().await?;
        self.played().await?;
        self.closed(&before).await
    }

    /// Files of four sets, picked together: a choice, and by one click a series.
    pub(super) async fn open_tilts(&mut self, series: &data::Bench) -> Result<()> {
        let files = series.files()?;
        self.limited("files", async |browser| browser.choose_files(FILE_INPUT, &files).await).await?;
        self.until("document.querySelector('[data-do=open-all]')", 300).await?;
        self.click("[data-do=open-all]").await?;
        self.until(FACTS, 100).await?;
        self.look(SETTLED).await.map(drop)
    }

    async fn opened_together(&mut self) -> Result<()> {
        self.open_tilts(&SMALL_TILTS).await?;
        let facts = self.look(FACTS).await?;
        let of =
            |name: &str| Value::from_iter(facts["sets"].as_array().into_iter().flatten().map(|set| set[name].clone()));
        self.compare("series: labels in order", &of("label"), &json!(["tilt 00", "tilt 01", "tilt 02", "tilt 03"]));
        self.compare("series: all sets lie in memory", &of("mark"), &json!(vec!["resident"; 4]));
        self.compare("series: four panels", &facts["panels"], &json!([0, 1, 2, 3]));
        for (place, digest) in digests(&SMALL_TILTS)?.iter().enumerate() {
            let found = self.look(&format!("__planescope.hashAll({place})")).await?;
            self.compare(&format!("series: the digest of panel {}", place + 1), &found["digest"], &json!(digest));
        }
        let painted = self.look(PAINTED).await?;
        let painted: std::collections::BTreeSet<u64> =
            painted.as_array().into_iter().flatten().filter_map(Value::as_u64).filter(|hash| *hash != 0).collect();
        self.compare("series: four pictures, all different", &json!(painted.len()), &json!(4));
        self.look(&format!("{}; null", tools::axe()?)).await?;
        for _ in 0..2 {
            self.look("document.querySelector('#theme-button').click()").await?;
            self.until("!document.getAnimations().some((a) => a.playState === 'running')", 30).await?;
            let theme = self.look("document.documentElement.dataset.theme").await?;
            let found = self.look(AXE).await?;
            self.compare(&format!("axe-core finds nothing in a series, {theme}"), &found, &json!([]));
        }
        Ok(())
    }

    /// Room for three of four: a scrub pages in, and the last picture stays meanwhile.
    async fn budget_of_three(&mut self) -> Result<()> {
        let budget = "(() => { const { sets } = __planescope.series; const most = Math.max(...sets.map((set) => set.bytes)); __planescope.setBudget(3.3 * most); return null; })()";
        self.look(budget).await?;
        self.look(SETTLED).await?;
        let facts = self.look(FACTS).await?;
        let is_within = facts["residentBytes"].as_f64() <= facts["budgetBytes"].as_f64();
        let out: Vec<&Value> =
            facts["sets"].as_array().into_iter().flatten().filter(|set| set["isResident"] == false).collect();
        self.compare("series: a budget of three holds three", &json!([is_within, out.len()]), &json!([true, 1]));
        self.until("document.querySelector('.tile[data-mark=out]')", 50).await?;
        self.shown("series: the panel says that its set is not resident", ".tile[data-mark=out] .tile-mark").await?;
        let before = self.look(PAINTED).await?;
        // The slider, by its own key.
        self.look("document.querySelector('#series-at').focus()").await?;
        self.key("End", 0).await?;
        self.expect("series: the slider's last set is active", "__planescope.series.active", json!(3)).await?;
        let now = self.look(PAINTED).await?;
        let is_blank = now.as_array().into_iter().flatten().any(|hash| hash == 0);
        self.compare("series: no picture is blank while a set is read again", &json!(is_blank), &json!(false));
        self.look("document.activeElement.blur()").await?;
        for (place, digest) in digests(&SMALL_TILTS)?.iter().enumerate() {
            self.look(&format!("__planescope.activate({place}).then(() => null)")).await?;
            let found = self.look("__planescope.hashAll()").await?;
            self.compare(
                &format!("series: paged in, the digest of set {}", place + 1),
                &found["digest"],
                &json!(digest),
            );
        }
        self.look("__planescope.activate(0).then(() => null)").await?;
        self.look(SETTLED).await?;
        let after = self.look(PAINTED).await?;
        self.compare("series: the pictures are those of before", &after, &before);
        // A new detector reaches the set that is not resident, too.
        self.look("__planescope.set({ product: 'custom', custom: { shape: 'disc', centre: [96, 96], inner: 0, outer: 8.5 } })").await?;
        self.look(SETTLED).await?;
        let changed = self.look(PAINTED).await?;
        let differ = |at: usize| changed[at] != after[at] && changed[at] != 0;
        self.compare("series: a new detector changes every picture", &json!((0..4).all(differ)), &json!(true));
        self.look("__planescope.setBudget()").await?;
        self.look(SETTLED).await.map(drop)
    }

    /// The cursor: one for all, or each its own, by a press in a panel.
    async fn shared_or_own(&mut self) -> Result<()> {
        self.click(".tile[data-place=\"1\"] .tile-view").await?;
        self.expect("series: a press in a panel looks at its set", "__planescope.series.active", json!(1)).await?;
        let cursors = self.look(CURSORS).await?;
        let same = |cursors: &Value, at: usize| cursors[at] == cursors[0] && cursors[0].is_string();
        self.compare("series: one cursor for all", &json!((1..4).all(|at| same(&cursors, at))), &json!(true));
        self.click("#link-cursor").await?;
        self.look("document.querySelector('#view-image').focus()").await?;
        self.key("ArrowRight", 8).await?;
        let apart = self.look(CURSORS).await?;
        let moved: Vec<bool> = (0..4).map(|at| apart[at] != cursors[at]).collect();
        self.compare("series: unlinked, one cursor moves", &json!(moved), &json!([false, true, false, false]));
        self.click("#link-cursor").await?;
        let again = self.look(CURSORS).await?;
        self.compare("series: linked again, all follow", &json!((1..4).all(|at| same(&again, at))), &json!(true));
        for link in ["detector", "contrast", "view"] {
            self.click(&format!("#link-{link}")).await?;
            let unlinked = format!("__planescope.state().series.links.{link}");
            self.expect(&format!("series: {link} is unlinked"), &unlinked, json!(false)).await?;
        }
        let before = self.look(PAINTED).await?;
        self.look("document.querySelector('#view-image').focus()").await?;
        self.key("+", 0).await?;
        let zoomed = self.look(PAINTED).await?;
        let moved: Vec<bool> = (0..4).map(|at| zoomed[at] != before[at]).collect();
        self.compare("series: unlinked, one picture is zoomed", &json!(moved), &json!([false, true, false, false]));
        for link in ["detector", "contrast", "view"] {
            self.click(&format!("#link-{link}")).await?;
        }
        self.key("f", 8).await?;
        self.expect("series: all are linked", "__planescope.state().series?.links ?? null", Value::Null).await
    }

    /// Order, stars and hiding, by pointer and by key.
    async fn in_order(&mut self) -> Result<()> {
        let order = "__planescope.series.panels";
        let (from, to) = (
            self.middle(".tile[data-place=\"3\"] .tile-mark").await,
            self.middle(".tile[data-place=\"0\"] .tile-view").await?,
        );
        // The mark of a resident set is empty: the head is taken beside the name.
        let from = match from {
            Ok(from) => from,
            Err(_) => {
                let [x, y] = self.middle(".tile[data-place=\"3\"] .tile-head").await?;
                [x, y]
            }
        };
        let way = [from, [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0], to];
        self.limited("a drag of a head", async |browser| browser.drag(&way).await).await?;
        self.until("__planescope.series.panels[0] === 3", 20).await?;
        self.expect("series: a panel is dragged to the front", order, json!([3, 0, 1, 2])).await?;
        self.key(",", 2).await?;
        self.expect("series: the active set moves by its key", order, json!([3, 1, 0, 2])).await?;
        self.look("document.querySelector('.tile[data-place=\"2\"] .tile-name').focus()").await?;
        self.key("ArrowLeft", 8).await?;
        self.expect("series: a panel moves by arrow keys on its head", order, json!([3, 1, 2, 0])).await?;
        self.look("document.activeElement.blur()").await?;
        for _ in 0..3 {
            self.key("z", 2).await?;
        }
        self.expect("series: the order is undone", order, json!([0, 1, 2, 3])).await?;

        self.key("k", 0).await?;
        self.click(".tile[data-place=\"2\"] [data-do^=star]").await?;
        let starred = "__planescope.series.sets.filter((set) => set.isStarred).map((set) => set.place)";
        self.expect("series: stars by key and by pointer", starred, json!([1, 2])).await?;
        self.click("#only-starred").await?;
        self.expect("series: only sets with a star", order, json!([1, 2])).await?;
        self.click("#only-starred").await?;
        self.click(".tile[data-place=\"3\"] [data-do^=hide-set]").await?;
        self.key("K", 8).await?;
        self.expect("series: hidden by pointer and by key", order, json!([0, 2])).await?;
        self.click("#show-hidden").await?;
        self.expect("series: all are shown again", order, json!([0, 1, 2, 3])).await
    }

    async fn played(&mut self) -> Result<()> {
        self.look("__planescope.activate(0).then(() => null)").await?;
        self.key("j", 0).await?;
        self.until("__planescope.series.active === 3", 100).await?;
        self.expect("series: played to its last set", "__planescope.series.active", json!(3)).await?;
        self.until("__planescope.series.active === 0", 50).await?;
        self.key("Escape", 0).await?;
        self.expect(
            "series: and from the beginning, until it is stopped",
            "__planescope.series.isPlaying",
            json!(false),
        )
        .await?;
        self.key("g", 0).await?;
        self.expect("series: one panel", "document.querySelectorAll('.tile').length", json!(1)).await?;
        self.key("g", 0).await?;
        self.key(".", 0).await?;
        let stepped = "[__planescope.series.panels.length, document.querySelectorAll('.tile').length]";
        self.expect("series: and the grid again", stepped, json!([4, 4])).await
    }

    /// Memory is given back: a set's when it is closed, all with the last one.
    async fn closed(&mut self, before: &Value) -> Result<()> {
        self.look(SETTLED).await?;
        let used = "__planescope.memory.usedBytes";
        let all = self.look(used).await?.as_f64().context("bytes")?;
        let of_one = self.look("__planescope.series.sets[0].bytes").await?.as_f64().context("bytes")?;
        self.click("[data-do=\"close-set 0\"]").await?;
        self.until(&format!("{used} <= {}", all - of_one), 50).await?;
        let left = self.look(used).await?.as_f64().context("bytes")?;
        self.compare("series: a closed set gives its memory back", &json!(left <= all - of_one), &json!(true));
        self.expect("series: three sets are left", "__planescope.series.sets.length", json!(3)).await?;
        self.click("aside [data-do=close-all]").await?;
        self.until(&format!("{used} === 0"), 50).await?;
        self.expect("series: with the last set the ledger is empty", used, json!(0)).await?;
        self.expect("series: the page is empty", "document.body.dataset.stage", json!("empty")).await?;
        let was_ready = before.as_f64().is_some_and(|bytes| bytes > 0.0);
        self.compare("series: it was not empty before either", &json!(was_ready), &json!(true));
        let files = SMALL_TILTS.files()?;
        let profile = self.open_once(&files[..3]).await?;
        self.compare("series: another set opens afterwards", &profile["error"], &Value::Null);
        let found = self.ask("hashes()").await?;
        self.compare("series: and is right", &found["digest"], &json!(digests(&SMALL_TILTS)?[0]));
        self.expect(
            "series: and stands alone",
            "[__planescope.series, document.querySelectorAll('.tile').length]",
            json!([null, 0]),
        )
        .await
    }
}
