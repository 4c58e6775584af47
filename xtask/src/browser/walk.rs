//! The page without a pointer and without eyes: axe-core (<https://github.com/dequelabs/axe-core>) on its states, and a
//! walk by the Tab key alone.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Bench;
use crate::test::tools;

/// What is looked at: a name, and what brings it about.
const STATES: [(&str, &str); 8] = [
    ("the empty page", "null"),
    ("an image", "__planescope.openDemo().then(() => null)"),
    ("a deflection", "__planescope.set({ product: 'com' })"),
    ("a phase", "__planescope.set({ product: 'phase' })"),
    (
        "a polygon",
        "(document.querySelector('#shape-polygon').click(), __planescope.set({ maximised: 'pattern' }), null)",
    ),
    (
        "the export sheet",
        "(__planescope.set({ maximised: null }), document.querySelector('[data-do=export]').click(), null)",
    ),
    (
        "the keys",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=keys]').click(), null)",
    ),
    (
        "the help",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=help]').click(), null)",
    ),
];

/// Runs axe-core and gives what it finds wrong, in short. Over pictures contrast cannot be told from the style sheet.
pub(super) const AXE: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>\
     nodes.map(({ target, any, all, none }) => `${id} at ${target.join(' ')}: ${[...any, ...all, ...none].map((c) => c.message).join('; ')}`)))";

/// Where the focus is: its name, whether it can be seen, and whether it is marked.
const FOCUS: &str = "(() => { const e = document.activeElement; if (!e || e === document.body) return null; const r = e.getBoundingClientRect(), s = getComputedStyle(e);\
     const field = e.closest('.field'), outlined = (s) => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1;\
     const marked = outlined(s) || (field && outlined(getComputedStyle(field))) || getComputedStyle(e, '::after').borderStyle.includes('solid');\
     return { id: e.id || e.dataset.do || e.className, name: e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent, seen: r.width > 0 && r.height > 0, marked }; })()";

impl Bench<'_> {
    pub async fn walk(&mut self) -> Result<()> {
        let axe = tools::axe()?;
        for theme in ["dark", "light"] {
            self.limited("the theme", async |browser| browser.prefer(theme).await).await?;
            self.open_page().await?;
            self.look(&format!("{axe}; null")).await?;
            for (name, act) in STATES {
                self.look(act).await?;
                self.settle().await?;
                // Colours pass from one theme to the other.
                self.until("!document.getAnimations().some((a) => a.playState === 'running')", 30).await?;
                let found = self.look(AXE).await?;
                self.compare(&format!("axe-core finds nothing in {name}, {theme}"), &found, &json!([]));
            }
        }
        self.by_tab().await
    }

    /// From the top to the end by Tab: every stop is named, seen and marked, and the parts come in their order.
    async fn by_tab(&mut self) -> Result<()> {
        self.open_page().await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.settle().await?;
        self.look("document.activeElement.blur()").await?;
        let mut stops: Vec<Value> = Vec::new();
        for _ in 0..120 {
            self.key("Tab", 0).await?;
            let stop = self.look(FOCUS).await?;
            if stop.is_null() || stops.first() == Some(&stop) {
                break;
            }
            stops.push(stop);
        }
        ensure!(stops.len() > 20, "the walk ends after {} stops", stops.len());
        let wrong: Vec<&Value> = stops
            .iter()
            .filter(|stop| {
                let is_named = stop["name"].as_str().is_some_and(|name| !name.trim().is_empty());
                !is_named || stop["seen"] != true || stop["marked"] != true
            })
            .collect();
        self.compare("every stop of the Tab key is named, seen and marked", &json!(wrong), &json!([]));
        let order = [
            "open-button",
            "play",
            "view-image",
            "low-image",
            "shape-disc",
            "view-pattern",
            "low-pattern",
            "inner",
            "scale-step",
        ];
        let place =
            |id: &str| stops.iter().position(|stop| stop["id"] == id || (id == "inner" && stop["id"] == "outer"));
        let places: Vec<usize> =
            order.iter().map(|id| place(id).with_context(|| format!("{id} is no stop"))).collect::<Result<_>>()?;
        self.compare("the order of the stops", &json!(places.is_sorted()), &json!(true));

        // Without a pointer: the detector is shaped, moved, sized and typed; the cursor walks.
        self.look("document.querySelector('#view-pattern').focus()").await?;
        self.key("d", 0).await?;
        self.key("ArrowRight", 8).await?;
        self.key("]", 0).await?;
        let custom = self.look("__planescope.state().custom").await?;
        self.compare("by keys: the next shape", &custom["shape"], &json!("annulus"));
        self.look("document.querySelector('#view-image').focus()").await?;
        let before = self.look("__planescope.state().cursor ?? [16, 16]").await?;
        self.key("ArrowDown", 0).await?;
        self.key("ArrowRight", 8).await?;
        let after = self.look("__planescope.state().cursor").await?;
        let moved = |at: usize| after[at].as_i64().zip(before[at].as_i64()).map(|(a, b)| a - b);
        self.compare("by keys: the cursor", &json!([moved(0), moved(1)]), &json!([1, 10]));
        Ok(())
    }
}
