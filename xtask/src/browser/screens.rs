//! Screenshots for people to look at, in `target/screenshots`.

use std::path::Path;

use anyhow::Result;

use super::{Bench, FILE_INPUT, cdp::Browser};
use crate::{paths, test::data};

/// The window sizes in which the page must look right, CSS pixels.
const SIZES: [(u32, u32); 3] = [(1280, 720), (2560, 1440), (390, 844)];

/// A small file is read and shown by then.
const SETTLED: std::time::Duration = std::time::Duration::from_millis(1500);

impl Bench<'_> {
    /// The empty page, the demo set and its phase, the chooser and a set with all choices, dark and light, in every size.
    pub async fn screenshots(&mut self) -> Result<()> {
        let folder = paths::target().join("screenshots");
        std::fs::create_dir_all(&folder)?;
        for theme in ["dark", "light"] {
            // The page asks for the theme when it starts.
            self.limited("the theme", async |browser| browser.prefer(theme).await).await?;
            self.open_page().await?;
            self.limited("screenshots", async |browser| shots(browser, &folder, "empty", theme).await).await?;
            let open = "window.__planescope.openDemo().then(() => null)";
            self.limited("the demo set", async |browser| browser.evaluate(open).await).await?;
            self.limited("screenshots", async |browser| shots(browser, &folder, "demo", theme).await).await?;
            let com = "window.__planescope.set({ product: 'phase', analysis: 'fft' })";
            self.limited("the phase", async |browser| browser.evaluate(com).await).await?;
            self.limited("screenshots", async |browser| shots(browser, &folder, "phase", theme).await).await?;
            for (state, file) in [("choice", "several.h5"), ("axes", "matlab_4d.mat")] {
                let file = [data::axes_folder().join(file)];
                self.limited("files", async |browser| browser.choose_files(FILE_INPUT, &file).await).await?;
                tokio::time::sleep(SETTLED).await;
                self.limited("screenshots", async |browser| shots(browser, &folder, state, theme).await).await?;
            }
        }
        Ok(())
    }
}

async fn shots(browser: &mut Browser, folder: &Path, state: &str, theme: &str) -> Result<()> {
    for (width, height) in SIZES {
        let picture = browser.screenshot(width, height).await?;
        std::fs::write(folder.join(format!("{state}-{theme}-{width}x{height}.png")), picture)?;
    }
    Ok(())
}
