//! The pictures of `docs/screenshots`: one for each thing that the page can do, taken of the page as it is.

use std::path::Path;

use anyhow::{Result, ensure};
use serde_json::json;

use super::{
    Bench, FILE_INPUT,
    cdp::Browser,
    launch,
    series::SETTLED,
    viewer::{IS_OPEN, PICKS_DEMO},
};
use crate::{paths, serve, test::data};

/// A picture: its name, how it comes about on the demo set, and the theme.
struct Picture {
    name: &'static str,
    theme: &'static str,
    /// What has to be done after a view was set.
    act: &'static str,
    state: &'static str,
}

const fn picture(name: &'static str, theme: &'static str, state: &'static str, act: &'static str) -> Picture {
    Picture { name, theme, act, state }
}

/// In the order of README.
const PICTURES: &[Picture] = &[
    picture(
        "detector",
        "dark",
        "{ product: 'custom', custom: { shape: 'wedge', centre: disc.centre, inner: 0.5 * disc.radius, outer: 2 * disc.radius, from: -60, to: 40 }, pattern: 'mean' }",
        "null",
    ),
    picture(
        "products",
        "dark",
        "{ product: 'com', pattern: 'cursor' }",
        "(document.querySelector('[data-do=find-rotation]').click(), null)",
    ),
    picture("phase", "light", "{ product: 'phase' }", "null"),
    picture("spread", "dark", "{ product: 'std', custom: null, pattern: 'std' }", "null"),
    picture(
        "scan-side",
        "light",
        "{ product: 'adf', tool: 'disc', region: { shape: 'disc', centre: [15, 17], inner: 0, outer: 7 }, pattern: 'max', analysis: 'figures' }",
        "null",
    ),
    picture(
        "display",
        "dark",
        "{ product: 'bf', tool: 'cursor', region: null, pattern: 'cursor', image_view: { factor: 4, centre: [16, 14] }, looks: { ...state.looks, image: { scale: 'linear', map: 'viridis' }, pattern: { scale: 'log', map: 'turbo' } } }",
        "null",
    ),
    picture(
        "calibration",
        "light",
        "{ image_view: { factor: 1 }, looks: {}, scales: { alpha_mrad: 21.4 }, product: 'haadf' }",
        "(document.querySelector('#scale-step').scrollIntoView({ block: 'center' }), document.querySelector('#view-pattern').focus(), null)",
    ),
    picture(
        "analysis",
        "dark",
        "{ scales: {}, product: 'adf', analysis: 'fft', tool: 'cursor' }",
        "(document.querySelector('#analysis-fft').scrollIntoView({ block: 'end' }), null)",
    ),
    picture(
        "line",
        "dark",
        "{ analysis: 'line', tool: 'line', line: { from: [6, 4], to: [25, 28], width: 3 } }",
        "(document.querySelector('#analysis-plot').scrollIntoView({ block: 'end' }), null)",
    ),
    picture(
        "scan-shape",
        "light",
        "{ tool: 'cursor', line: null, analysis: 'radial', order: { offset: 3, snake: true } }",
        "(document.querySelector('#set-more').open = true, document.querySelector('#side').scrollTo(0, 0), null)",
    ),
    picture(
        "export",
        "light",
        "{ order: {} }",
        "(document.querySelector('#set-more').open = false, document.querySelector('[data-do=export]').click(), null)",
    ),
    picture(
        "python",
        "dark",
        "{ }",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=python]').click(), null)",
    ),
    picture(
        "information",
        "light",
        "{ }",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=information]').click(), null)",
    ),
    picture(
        "keys",
        "dark",
        "{ }",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=keys]').click(), null)",
    ),
    picture(
        "help",
        "light",
        "{ }",
        "(document.querySelector('dialog[open]').close(), document.querySelector('[data-do=help]').click(), null)",
    ),
];

/// Without the notice that the tests' adapter is in software.
const HIDE: &str = "document.querySelector('[data-do=hide-gpu-notice]')?.click()";

/// The largest picture, and all of them, bytes.
const LARGEST: usize = 200_000;
const ALL: usize = 2_500_000;

/// Takes all pictures of the page in `dist/`.
pub fn take(chrome: &Path, python: &Path) -> Result<()> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let url = serve::serve(&paths::dist(), &[], 0)?.url;
        let browser = Browser::start(&launch(chrome, "pictures", None)).await?;
        let mut bench = Bench {
            browser,
            python,
            twins_url: url.clone(),
            url,
            mode: "headless",
            tally: crate::test::Tally::default(),
        };
        bench.pictures().await
    })
}

impl Bench<'_> {
    async fn pictures(&mut self) -> Result<()> {
        let out = paths::root().join("docs/screenshots");
        std::fs::create_dir_all(&out)?;
        let mut bytes = 0;
        self.themed("dark").await?;
        self.recent_for_picture().await?;
        self.look(HIDE).await?;
        bytes += self.shoot(&out, "open", [1280, 720]).await?;
        bytes += self.shoot_reading(&out).await?;
        bytes += self.shoot_bad(&out).await?;
        bytes += self.shoot_series(&out).await?;
        self.open_page().await?;
        self.look("__planescope.openDemo().then(() => null)").await?;
        self.look(HIDE).await?;
        self.settle().await?;
        for Picture { name, theme, act, state } in PICTURES {
            self.themed(theme).await?;
            let set = format!(
                "(() => {{ const state = __planescope.state(), disc = state.disc; __planescope.set({{ ...{state}, pattern_smoothing: 'off' }}); }})()"
            );
            self.look(&set).await?;
            self.settle().await?;
            self.look(act).await?;
            self.settle().await?;
            bytes += self.shoot(&out, name, [1280, 720]).await?;
        }
        self.look("document.querySelector('dialog[open]').close()").await?;
        self.look("__planescope.set({ product: 'bf' })").await?;
        bytes += self.shoot(&out, "phone", [390, 844]).await?;
        ensure!(bytes <= ALL, "all pictures have {bytes} bytes, more than {ALL}");
        println!("docs/screenshots: {bytes} bytes");
        Ok(())
    }

    async fn themed(&mut self, theme: &str) -> Result<()> {
        self.limited("the theme", async |browser| browser.prefer(theme).await).await?;
        if self.look("typeof __planescope").await? == json!("undefined") {
            self.open_page().await?;
        }
        // The page asks for the theme when it starts; from then on the user chooses it.
        let change = format!(
            "document.documentElement.dataset.theme === '{theme}' || document.querySelector('#theme-button').click()"
        );
        self.look(&change).await.map(drop)
    }

    /// The empty page, with a set that was open before.
    async fn recent_for_picture(&mut self) -> Result<()> {
        self.look(PICKS_DEMO).await?;
        self.look("document.querySelector('[data-do=open-files]').click()").await?;
        self.until("document.querySelector('#recent b')", 200).await?;
        self.open_page().await
    }

    /// A set whose reading was stopped half-way: a part of the picture, and the offer to read the rest.
    async fn shoot_reading(&mut self, out: &Path) -> Result<usize> {
        self.open_page().await?;
        self.look("(__planescope.tuning = { ...__planescope.tuning, workers: 1, sliceMiB: 1, batchFrames: 64 }, null)")
            .await?;
        // Large enough to be read for longer than the disc takes to be found in its first patterns.
        let mut files = data::TILTS.files()?;
        files.retain(|file| file.to_string_lossy().contains("tilt_00"));
        self.limited("files", async |browser| browser.choose_files(FILE_INPUT, &files).await).await?;
        let part = "(async () => { for (let i = 0; i < 20000 && !__planescope.state().disc; i++) await new Promise((done) => setTimeout(done, 1));\
             document.querySelector('[data-do=cancel]').click(); })()";
        self.look(part).await?;
        self.settle().await?;
        self.look(HIDE).await?;
        self.shoot(out, "reading", [1280, 720]).await
    }

    /// Bad pixels, told and left out.
    async fn shoot_bad(&mut self, out: &Path) -> Result<usize> {
        self.open_page().await?;
        let files = data::BENCH[2].files()?;
        self.limited("files", async |browser| browser.choose_files(FILE_INPUT, &files).await).await?;
        self.until(IS_OPEN, 300).await?;
        self.settle().await?;
        self.look(HIDE).await?;
        self.shoot(out, "bad-pixels", [1280, 720]).await
    }

    /// A series of four tilts with memory for three.
    async fn shoot_series(&mut self, out: &Path) -> Result<usize> {
        self.open_page().await?;
        self.open_tilts(&data::TILTS).await?;
        self.look(HIDE).await?;
        let budget = "(() => { const { sets } = __planescope.series; __planescope.setBudget(3.3 * Math.max(...sets.map((set) => set.bytes))); return null; })()";
        self.look(budget).await?;
        self.click(".tile[data-place=\"1\"] [data-do^=star]").await?;
        self.click(".tile[data-place=\"1\"] .tile-view").await?;
        self.look(SETTLED).await?;
        self.settle().await?;
        self.shoot(out, "series", [1280, 720]).await
    }

    async fn shoot(&mut self, out: &Path, name: &str, [width, height]: [u32; 2]) -> Result<usize> {
        let picture = self.limited(name, async |browser| browser.screenshot(width, height).await).await?;
        let picture = super::palette::reduced(&picture)?;
        println!("    {name}.png {} bytes", picture.len());
        ensure!(picture.len() <= LARGEST, "{name}.png has {} bytes, more than {LARGEST}", picture.len());
        std::fs::write(out.join(format!("{name}.png")), &picture)?;
        Ok(picture.len())
    }
}
