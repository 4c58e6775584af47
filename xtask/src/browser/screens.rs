//! Screenshots for people to look at, in `target/screenshots`.

use std::path::Path;

use anyhow::Result;

use super::{Bench, cdp::Browser};
use crate::paths;

/// The window sizes in which the page must look right, CSS pixels.
const SIZES: [(u32, u32); 2] = [(1280, 720), (2560, 1440)];

impl Bench<'_> {
    /// The empty page and the demo set, dark and light, in every size.
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
