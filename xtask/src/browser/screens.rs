//! Screenshots for people to look at, in `target/screenshots`.

use std::path::Path;

use anyhow::Result;

use super::cdp::Browser;
use crate::paths;

/// The window sizes and themes in which the page must look right.
const LOOKS: [(u32, u32, &str); 4] =
    [(1280, 720, "dark"), (1280, 720, "light"), (2560, 1440, "dark"), (2560, 1440, "light")];

/// The empty page and the demo set, in every look.
pub async fn take(browser: &mut Browser, url: &str) -> Result<()> {
    let folder = paths::target().join("screenshots");
    std::fs::create_dir_all(&folder)?;
    browser.open(url).await?;
    browser.evaluate("window.__planescope.ready").await?;
    shots(browser, &folder, "empty").await?;
    browser.evaluate("window.__planescope.openDemo().then(() => null)").await?;
    shots(browser, &folder, "demo").await
}

async fn shots(browser: &mut Browser, folder: &Path, state: &str) -> Result<()> {
    for (width, height, theme) in LOOKS {
        let picture = browser.screenshot(width, height, theme).await?;
        std::fs::write(folder.join(format!("{state}-{theme}-{width}x{height}.png")), picture)?;
    }
    Ok(())
}
