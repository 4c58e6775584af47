//! Screenshots for people to look at, in `target/screenshots`.

use std::path::Path;

use anyhow::Result;

use super::{Bench, cdp::Browser};
use crate::paths;

/// The window sizes and themes in which the page must look right.
const LOOKS: [(u32, u32, &str); 4] =
    [(1280, 720, "dark"), (1280, 720, "light"), (2560, 1440, "dark"), (2560, 1440, "light")];

impl Bench<'_> {
    /// The empty page and the demo set, in every look.
    pub async fn screenshots(&mut self) -> Result<()> {
        let folder = paths::target().join("screenshots");
        std::fs::create_dir_all(&folder)?;
        self.open_page().await?;
        self.limited("screenshots", async |browser| shots(browser, &folder, "empty").await).await?;
        let open = "window.__planescope.openDemo().then(() => null)";
        self.limited("the demo set", async |browser| browser.evaluate(open).await).await?;
        self.limited("screenshots", async |browser| shots(browser, &folder, "demo").await).await
    }
}

async fn shots(browser: &mut Browser, folder: &Path, state: &str) -> Result<()> {
    for (width, height, theme) in LOOKS {
        let picture = browser.screenshot(width, height, theme).await?;
        std::fs::write(folder.join(format!("{state}-{theme}-{width}x{height}.png")), picture)?;
    }
    Ok(())
}
