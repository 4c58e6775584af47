//! One page of a Chrome that was started for tests or measurements, over the
//! [DevTools protocol](https://chromedevtools.github.io/devtools-protocol/): JSON over a web socket.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use crate::chrome;

/// Where in its profile Chrome writes the web socket's address.
const ADDRESS: &str = "DevToolsActivePort";
/// Whether the page is there, and not the empty one before it.
const LOADED: &str = "document.readyState === 'complete' && location.protocol.startsWith('http')";
/// How long Chrome may take to start.
const START: Duration = Duration::from_secs(60);
/// How long it may take to end.
const END: Duration = Duration::from_secs(15);

/// A running Chrome with one page. It is ended when this is dropped.
pub struct Browser {
    process: Child,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    session: String,
    last_id: u64,
    complaints: Vec<String>,
    /// Addresses that page and workers asked for, once [`Browser::watch_network`] was called.
    requests: Vec<String>,
    /// Workers whose requests are not watched yet.
    unwatched: Vec<String>,
    /// Sessions of the workers that run, in the order of their start.
    workers: Vec<String>,
}

/// How Chrome is started.
pub struct Launch {
    pub program: PathBuf,
    /// What Chrome prints goes to a file beside it.
    pub profile: PathBuf,
    /// With what an earlier browser stored in the profile; else it is emptied first.
    pub keeps_profile: bool,
    /// Beside those that this client needs itself.
    pub flags: Vec<String>,
    /// The X display of a window, where it is not the environment's.
    pub display: Option<String>,
}

impl Browser {
    /// Starts Chrome.
    pub async fn start(launch: &Launch) -> Result<Self> {
        let Launch { program, profile, keeps_profile, flags, display } = launch;
        // An old address must not be taken for the new browser's.
        let _ = std::fs::remove_file(profile.join(ADDRESS));
        if profile.exists() && !keeps_profile {
            std::fs::remove_dir_all(profile).with_context(|| profile.display().to_string())?;
        }
        std::fs::create_dir_all(profile).with_context(|| profile.display().to_string())?;
        let mut command = Command::new(program);
        command.args(chrome::QUIET).args(flags).arg("--remote-debugging-port=0");
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.envs(display.as_ref().map(|display| ("DISPLAY", display)));
        let log = std::fs::File::create(profile.with_extension("log"))?;
        command.arg("about:blank").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let process = command.spawn().with_context(|| format!("{} did not start", program.display()))?;
        let mut browser = Self::over(process, profile).await?;
        browser.new_page().await?;
        Ok(browser)
    }

    /// The page of a Chrome that another program has started on this profile, and that ends with it.
    pub async fn attach(program: Child, profile: &Path) -> Result<Self> {
        let mut browser = Self::over(program, profile).await?;
        let is_page = |target: &&Value| {
            target["type"] == "page" && target["url"].as_str().is_some_and(|url| url.starts_with("http"))
        };
        let start = time::Instant::now();
        loop {
            let targets = browser.call("Target.getTargets", json!({})).await?;
            if let Some(target) = targets["targetInfos"].as_array().into_iter().flatten().find(is_page) {
                browser.take(&target["targetId"]).await?;
                break;
            }
            ensure!(start.elapsed() < START, "no page was opened in 60 s");
            time::sleep(Duration::from_millis(50)).await;
        }
        // A page that has only begun to load cannot be asked yet.
        while browser.evaluate(LOADED).await.ok() != Some(json!(true)) {
            ensure!(start.elapsed() < START, "the page did not load in 60 s");
            time::sleep(Duration::from_millis(50)).await;
        }
        Ok(browser)
    }

    /// Speaks to the Chrome of `process`, which is ended with this.
    async fn over(process: Child, profile: &Path) -> Result<Self> {
        // From here on, an error must end the process as well.
        let mut process = Guard(Some(process));
        let address = time::timeout(START, devtools_address(&mut process, profile))
            .await
            .context("Chrome did not start in 60 s")??;
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = connect_async_with_config(address, Some(config), false).await?;
        let process = process.0.take().context("the process is held until here")?;
        Ok(Browser {
            process,
            socket,
            session: String::new(),
            last_id: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            unwatched: Vec::new(),
            workers: Vec::new(),
        })
    }

    async fn new_page(&mut self) -> Result<()> {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"})).await?;
        self.take(&target["targetId"]).await
    }

    async fn take(&mut self, target: &Value) -> Result<()> {
        let attach = json!({"targetId": target, "flatten": true});
        let session = self.call("Target.attachToTarget", attach).await?;
        session["sessionId"].as_str().context("no session")?.clone_into(&mut self.session);
        for domain in ["Runtime", "Page", "DOM", "Log"] {
            self.call(&format!("{domain}.enable"), json!({})).await?;
        }
        Ok(())
    }

    /// Opens an address and waits until the page has loaded; complaints of the page before are forgotten.
    pub async fn open(&mut self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({"url": "about:blank"})).await?;
        self.complaints.clear();
        self.call("Page.navigate", json!({"url": url})).await?;
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))",
        )
        .await?;
        Ok(())
    }

    /// The value of a JavaScript expression, awaited when it is a promise. It must survive JSON.
    pub async fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let arguments =
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let mut answer = self.call("Runtime.evaluate", arguments).await?;
        if let Some(details) = answer.get("exceptionDetails") {
            let thrown = &details["exception"];
            let text = thrown["description"].as_str().or(thrown["value"].as_str()).or(details["text"].as_str());
            bail!("{}", text.unwrap_or("an exception without a text"));
        }
        Ok(answer["result"]["value"].take())
    }

    /// Puts files on the element that `selector` finds first, as a user's choice would.
    pub async fn choose_files(&mut self, selector: &str, files: &[PathBuf]) -> Result<()> {
        let find = json!({"expression": format!("document.querySelector({})", json!(selector))});
        let found = self.call("Runtime.evaluate", find).await?;
        let object = found["result"]["objectId"].as_str().with_context(|| format!("the page has no {selector}"))?;
        self.call("DOM.setFileInputFiles", json!({"objectId": object, "files": files})).await?;
        Ok(())
    }

    /// Presses a key as a user does. `modifiers`: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift.
    pub async fn press(&mut self, key: &str, modifiers: u32) -> Result<()> {
        let code = match key {
            " " => "Space".to_owned(),
            key if key.len() == 1 && key.chars().all(|c| c.is_ascii_digit()) => format!("Digit{key}"),
            key if key.len() == 1 => format!("Key{}", key.to_uppercase()),
            key => key.to_owned(),
        };
        let windows = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            key => key.to_uppercase().bytes().next().map_or(0, u32::from),
        };
        let mut down = json!({"type": "rawKeyDown", "key": key, "code": code, "modifiers": modifiers, "windowsVirtualKeyCode": windows});
        if (key.len() == 1 || key == "Enter") && modifiers & 2 == 0 {
            down["type"] = json!("keyDown");
            down["text"] = json!(if key == "Enter" { "\r" } else { key });
        }
        self.call("Input.dispatchKeyEvent", down).await?;
        let up = json!({"type": "keyUp", "key": key, "code": code, "modifiers": modifiers, "windowsVirtualKeyCode": windows});
        self.call("Input.dispatchKeyEvent", up).await?;
        Ok(())
    }

    /// Types into what has the focus.
    pub async fn type_text(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({"text": text})).await?;
        Ok(())
    }

    /// Presses the left button at the first point, moves along the others and lets go; CSS px of the window.
    pub async fn drag(&mut self, points: &[[f64; 2]]) -> Result<()> {
        let last = points.len().saturating_sub(1);
        for (place, [x, y]) in points.iter().enumerate() {
            let kind = if place == 0 { "mousePressed" } else { "mouseMoved" };
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event).await?;
            if place == last {
                let event =
                    json!({"type": "mouseReleased", "x": x, "y": y, "button": "left", "buttons": 0, "clickCount": 1});
                self.call("Input.dispatchMouseEvent", event).await?;
            }
        }
        Ok(())
    }

    /// Fingers: down at the first places, along the others, and up; CSS px of the window.
    pub async fn touch(&mut self, steps: &[Vec<[f64; 2]>]) -> Result<()> {
        for (place, fingers) in steps.iter().enumerate() {
            let points: Vec<Value> =
                fingers.iter().enumerate().map(|(id, [x, y])| json!({"x": x, "y": y, "id": id})).collect();
            let kind = if place == 0 { "touchStart" } else { "touchMove" };
            self.call("Input.dispatchTouchEvent", json!({"type": kind, "touchPoints": points})).await?;
        }
        self.call("Input.dispatchTouchEvent", json!({"type": "touchEnd", "touchPoints": []})).await?;
        Ok(())
    }

    /// Kills Chrome's GPU process; Chrome starts another.
    pub async fn crash_gpu(&mut self) -> Result<()> {
        self.call("Browser.crashGpuProcess", json!({})).await?;
        Ok(())
    }

    /// Files that the page saves go to this folder.
    pub async fn save_into(&mut self, folder: &Path) -> Result<()> {
        let arguments = json!({"behavior": "allow", "downloadPath": folder, "eventsEnabled": false});
        self.call("Browser.setDownloadBehavior", arguments).await?;
        Ok(())
    }

    /// What the system prefers from now on: "dark" or "light".
    pub async fn prefer(&mut self, theme: &str) -> Result<()> {
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.call("Emulation.setEmulatedMedia", scheme).await?;
        Ok(())
    }

    /// Lets an origin store so many bytes; as many as usual without a number.
    pub async fn allow(&mut self, origin: &Value, bytes: Option<u64>) -> Result<()> {
        let mut quota = json!({"origin": origin});
        if let Some(bytes) = bytes {
            quota["quotaSize"] = json!(bytes);
        }
        self.call("Storage.overrideQuotaForOrigin", quota).await?;
        Ok(())
    }

    /// Bytes after garbage was collected: of JavaScript's objects, and of its buffers.
    pub async fn heap(&mut self) -> Result<(f64, f64)> {
        self.call("HeapProfiler.collectGarbage", json!({})).await?;
        let usage = self.call("Runtime.getHeapUsage", json!({})).await?;
        let bytes = |key: &str| usage[key].as_f64().unwrap_or_default();
        Ok((bytes("usedSize"), bytes("backingStorageSize")))
    }

    /// A screenshot of a window of this size in CSS pixels, as PNG.
    pub async fn screenshot(&mut self, width: u32, height: u32) -> Result<Vec<u8>> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size).await?;
        // Two frames and a while: the page lays itself out anew, draws its canvases, and fills its shelf when idle.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 4000))))",
        )
        .await?;
        let shot = self.call("Page.captureScreenshot", json!({"format": "png"})).await?;
        Ok(BASE64_STANDARD.decode(shot["data"].as_str().context("no picture")?)?)
    }

    /// Notes from now on what the page and its workers ask the network for.
    pub async fn watch_network(&mut self) -> Result<()> {
        self.call("Network.enable", json!({})).await?;
        self.watch_workers().await
    }

    /// Attaches from now on to every worker that the page starts.
    pub async fn watch_workers(&mut self) -> Result<()> {
        let workers = json!({"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true});
        self.call("Target.setAutoAttach", workers).await?;
        Ok(())
    }

    /// Workers that run now.
    pub async fn workers(&mut self) -> Result<usize> {
        // Events that are under way arrive before the answer.
        self.evaluate("new Promise((done) => setTimeout(done, 200))").await?;
        Ok(self.workers.len())
    }

    /// The value of an expression in one of the workers.
    pub async fn in_worker(&mut self, place: usize, expression: &str) -> Result<Value> {
        let session = self.workers.get(place).context("there is no such worker")?.clone();
        let answer = self.call_in(&session, "Runtime.evaluate", json!({"expression": expression})).await?;
        ensure!(answer.get("exceptionDetails").is_none(), "a worker: {}", answer["exceptionDetails"]);
        Ok(answer["result"]["value"].clone())
    }

    /// The same in all of them.
    pub async fn in_workers(&mut self, expression: &str) -> Result<()> {
        for place in 0..self.workers().await? {
            self.in_worker(place, expression).await?;
        }
        Ok(())
    }

    /// Runs a script in every page before its own.
    pub async fn before_pages(&mut self, script: &str) -> Result<()> {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": script})).await?;
        Ok(())
    }

    /// The addresses of all requests since the last time, `blob:` and `data:` left out, which never leave the page.
    pub async fn take_requests(&mut self) -> Result<Vec<String>> {
        for session in std::mem::take(&mut self.unwatched) {
            // A worker that has ended asks for nothing more.
            let _ = self.call_in(&session, "Network.enable", json!({})).await;
        }
        // Events that are under way arrive before the answer.
        self.evaluate("0").await?;
        Ok(std::mem::take(&mut self.requests))
    }

    /// Which browser this is, as it calls itself: `Chrome/156.0.7000.1`.
    pub async fn version(&mut self) -> Result<String> {
        let version = self.call("Browser.getVersion", json!({})).await?;
        Ok(version["product"].as_str().context("no product")?.to_owned())
    }

    /// Ends Chrome in order and waits until it is gone, so that the next one finds the machine free.
    pub async fn close(mut self) {
        // Chrome may end before it answers.
        let _ = time::timeout(END, self.call("Browser.close", json!({}))).await;
        let start = time::Instant::now();
        while start.elapsed() < END && matches!(self.process.try_wait(), Ok(None)) {
            time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Closes the page as a user closes its window; how the program ends that has started Chrome.
    pub async fn close_page(mut self) -> Result<Option<i32>> {
        // The page may be gone before it answers.
        let _ = time::timeout(END, self.call("Page.close", json!({}))).await;
        let start = time::Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status.code());
            }
            ensure!(start.elapsed() < 2 * END, "the program that has started Chrome does not end with its page");
            time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What the page wrote to the console as an error, threw without catching it, or failed to load.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        let session = self.session.clone();
        self.call_in(&session, method, params).await
    }

    /// In the session of one target; in the browser's own where `session` is empty.
    async fn call_in(&mut self, session: &str, method: &str, params: Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).await?;
        loop {
            let message = self.socket.next().await.context("Chrome closed its socket")??;
            let Message::Text(text) = message else { continue };
            let mut message: Value = serde_json::from_str(&text)?;
            if message["id"] != json!(id) {
                self.note(&message);
                ensure!(message["method"] != "Inspector.targetCrashed", "the page crashed");
                continue;
            }
            if let Some(error) = message.get("error") {
                bail!("{method}: {error}");
            }
            return Ok(message["result"].take());
        }
    }

    /// Keeps what an event complains about.
    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") if params["type"] == "error" || params["type"] == "assert" => {
                let words = params["args"].as_array().into_iter().flatten();
                let words = words.filter_map(|word| word["value"].as_str().or(word["description"].as_str()));
                self.complaints.push(words.collect::<Vec<_>>().join(" "));
            }
            Some("Runtime.exceptionThrown") => {
                let thrown = &params["exceptionDetails"];
                let text = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
                self.complaints.push(format!("not caught: {}", text.unwrap_or("an exception")));
            }
            Some("Log.entryAdded") if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                let (text, url) = (entry["text"].as_str(), entry["url"].as_str());
                self.complaints.push(format!("{} {}", text.unwrap_or_default(), url.unwrap_or_default()));
            }
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                if !["blob:", "data:"].iter().any(|local| url.starts_with(local)) {
                    self.requests.push(url.to_owned());
                }
            }
            Some("Target.attachedToTarget") if params["targetInfo"]["type"] == "worker" => {
                self.unwatched.extend(params["sessionId"].as_str().map(str::to_owned));
                self.workers.extend(params["sessionId"].as_str().map(str::to_owned));
            }
            Some("Target.detachedFromTarget") => {
                self.workers.retain(|session| params["sessionId"] != session.as_str());
            }
            Some("Inspector.targetCrashed") => self.complaints.push("the page crashed".to_owned()),
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// A process that is ended unless it is taken out.
struct Guard(Option<Child>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(process) = &mut self.0 {
            end(process);
        }
    }
}

fn end(process: &mut Child) {
    // Neither can fail in a way that matters: the process is then gone already.
    let _ = process.kill();
    let _ = process.wait();
}

/// The web socket's address, which Chrome writes into its profile once it listens: the port, then the path.
async fn devtools_address(process: &mut Guard, profile: &Path) -> Result<String> {
    let file = profile.join(ADDRESS);
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if let [port, path] = text.lines().collect::<Vec<_>>()[..] {
            return Ok(format!("ws://127.0.0.1:{port}{path}"));
        }
        if let Some(status) = process.0.as_mut().map(Child::try_wait).transpose()?.flatten() {
            bail!("Chrome ended at once ({status}); {} tells why", profile.with_extension("log").display());
        }
        time::sleep(Duration::from_millis(50)).await;
    }
}
