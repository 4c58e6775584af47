//! What the page may run and what it asks the network for.

use anyhow::Result;
use serde_json::json;

use super::{Bench, START};
use crate::test::data;

/// Whether a script that somebody puts into the page runs, an inline one and one from elsewhere.
const INTRUDER: &str = "(async () => {
    const refused = [];
    document.addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
    const inline = document.createElement('script');
    inline.textContent = 'window.intruded = true';
    document.head.append(inline);
    const foreign = document.createElement('script');
    foreign.src = 'https://example.invalid/x.js';
    document.head.append(foreign);
    const evaluated = document.createElement('div');
    evaluated.setAttribute('onclick', 'window.intruded = true');
    evaluated.click();
    for (let i = 0; i < 100 && refused.length < 3; i++) await new Promise((done) => setTimeout(done, 20));
    return [refused.sort(), window.intruded ?? false];
})()";

/// Views that make the engine, the exports and the worker threads work.
const USED: &str = "(async () => {
    for (const product of ['com', 'phase', 'haadf', 'bf']) {
        await __planescope.set({ product });
        await new Promise((done) => setTimeout(done, 300));
    }
    await __planescope.hashAll();
    await __planescope.meanPattern();
    await __planescope.open();
    return __planescope.errors();
})()";

/// A worker that asks for what it is told, once the client has had time to watch it.
const WORKER: &str = "(async () => {
    const source = 'onmessage = async ({ data }) => postMessage((await fetch(data)).status)';
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    window.asks = (address) => new Promise((done, fail) => {
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = () => fail(new Error('the worker failed'));
        worker.postMessage(address);
    });
    await new Promise((done) => setTimeout(done, 500));
})()";

impl Bench<'_> {
    /// The page under its own policy: it works, nobody else's script does, and once it has started it asks for nothing.
    pub async fn security(&mut self) -> Result<()> {
        let url = self.url.clone();
        self.limited("the network", async |browser| browser.watch_network().await).await?;
        self.limited("the page's start", async |browser| browser.open(&url).await).await?;
        self.limited("__planescope.ready", async |browser| browser.evaluate(START).await).await?;
        // Readers start beside the page: what they are made of is asked for until each can work.
        self.open_once(&data::BENCH[0].files()?).await?;
        let asked = self.limited("requests", async |browser| browser.take_requests().await).await?;
        let own = asked.iter().filter(|address| address.starts_with(&url)).count();
        self.compare(
            &format!("security: the page is made of files of its own server ({own} requests)"),
            &json!([own > 2, asked.len()]),
            &json!([true, own]),
        );
        let errors = self.evaluate("using the page", USED).await?;
        self.open_once(&data::BENCH[1].files()?).await?;
        let asked = self.limited("requests", async |browser| browser.take_requests().await).await?;
        self.compare("security: a page at work asks the network for nothing", &json!(asked), &json!([]));
        self.compare("security: a page at work under its policy has no errors", &errors, &json!([]));
        self.compare("security: nothing on the console", &json!(self.browser.complaints()), &json!([]));
        // That nothing was seen means something only where requests are seen: the page's, and those of a worker.
        self.evaluate("a worker", WORKER).await?;
        self.limited("requests", async |browser| browser.take_requests().await).await?;
        let address = json!(format!("{url}index.html"));
        self.evaluate("a request", &format!("fetch({address}).then((reply) => reply.status)")).await?;
        self.evaluate("a request of a worker", &format!("window.asks({address})")).await?;
        let asked = self.limited("requests", async |browser| browser.take_requests().await).await?;
        self.compare("security: requests of the page and of a worker are seen", &json!(asked.len()), &json!(2));
        let intruded = self.evaluate("scripts put into the page", INTRUDER).await?;
        let refused = json!([["script-src-attr", "script-src-elem", "script-src-elem"], false]);
        self.compare("security: scripts put into the page do not run", &intruded, &refused);
        // What the policy refused was told on the console, rightly.
        self.open_page().await
    }
}
