//! The adapter and its device: what it is, what it can hold, and one guarded way to give it work.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use wgpu::{Backends, DeviceType, ErrorFilter, Features, Limits};

use super::memory::{Buffer, Ledger};
use crate::error::{Error, Kind, Result};

/// A device, its queue and its books. Made once; everything on the GPU is made through it.
pub struct Context {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub adapter: AdapterFacts,
    /// The limits the device was asked for; nothing may exceed them.
    pub limits: Limits,
    ledger: Arc<Ledger>,
    trouble: Trouble,
}

/// What the adapter says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterFacts {
    /// Name, driver and back end, for people: "llvmpipe (LLVM 15.0.6, 256 bits), llvmpipe, Vulkan".
    pub info: String,
    /// True where a CPU plays GPU (SwiftShader, lavapipe, WARP): to be said, never hidden.
    pub is_software: bool,
    /// True where passes can be timed.
    pub has_timestamps: bool,
}

/// What the error scopes around some work have caught, once that is known.
pub type Verdict = Pin<Box<dyn Future<Output = Result<()>>>>;

impl Context {
    /// The browser's high-performance adapter, or the first Vulkan one (`VK_ICD_FILENAMES` picks the driver).
    ///
    /// # Errors
    /// `Gpu` without an adapter, or when the device is refused.
    pub async fn new() -> Result<Self> {
        let mut attempts = ATTEMPTS;
        let adapter = loop {
            match request_adapter().await {
                Ok(adapter) => break adapter,
                Err(_) if attempts > 1 => attempts -= 1,
                Err(error) => {
                    return Err(Error::new(Kind::Gpu, "no_webgpu", "No WebGPU here")
                        .expected("a WebGPU adapter")
                        .found(error.to_string())
                        .action("Use a current Chrome with hardware acceleration, or the CPU path"));
                }
            }
            #[cfg(target_arch = "wasm32")]
            gloo_timers::future::TimeoutFuture::new(RETRY_MS).await;
        };
        Self::on(&adapter).await
    }

    /// A device on `adapter` with every limit this program lives by raised to what the adapter offers.
    async fn on(adapter: &wgpu::Adapter) -> Result<Self> {
        let limits = raised(&adapter.limits());
        let has_timestamps = adapter.features().contains(Features::TIMESTAMP_QUERY);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("planescope.device"),
            required_features: if has_timestamps { Features::TIMESTAMP_QUERY } else { Features::empty() },
            required_limits: limits.clone(),
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| {
            Error::new(Kind::Gpu, "device_refused", "The graphics adapter refused a device").found(error.to_string())
        })?;
        let trouble = Trouble::default();
        trouble.listen(&device);
        #[cfg(target_arch = "wasm32")]
        let facts = AdapterFacts::of_page(&device, &adapter.get_info(), has_timestamps);
        #[cfg(not(target_arch = "wasm32"))]
        let facts = AdapterFacts::of(&adapter.get_info(), has_timestamps);
        Ok(Self { device, queue, adapter: facts, limits, ledger: Arc::default(), trouble })
    }

    /// The same device, its ledger and its errors, under other limits than it was made with: tighter ones.
    pub fn within(&self, limits: Limits) -> Self {
        Self {
            device: self.device.clone(),
            queue: self.queue.clone(),
            adapter: self.adapter.clone(),
            limits,
            ledger: self.ledger.clone(),
            trouble: self.trouble.clone(),
        }
    }

    /// Bytes one buffer may have when a shader binds it whole.
    pub fn max_binding_bytes(&self) -> u64 {
        self.limits.max_buffer_size.min(self.limits.max_storage_buffer_binding_size)
    }

    /// A zeroed buffer of `bytes` (rounded up to 4, at least 4), entered in the ledger until dropped.
    ///
    /// # Errors
    /// `Gpu` above the device's limits or the ledger's budget. An out-of-memory of the driver shows in
    /// the [`Context::guarded`] scope around the call.
    pub fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<Buffer> {
        self.make_buffer(label, bytes, usage, false)
    }

    /// The same, mapped for writing from the start.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn mapped_buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<Buffer> {
        self.make_buffer(label, bytes, usage, true)
    }

    fn make_buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages, mapped: bool) -> Result<Buffer> {
        let bytes = bytes.next_multiple_of(4).max(4);
        let limit = match usage.contains(wgpu::BufferUsages::STORAGE) {
            true => self.max_binding_bytes(),
            false => self.limits.max_buffer_size,
        };
        if bytes > limit {
            return Err(Error::new(Kind::Gpu, "buffer_too_large", "The graphics adapter has no buffer of this size")
                .at(label)
                .expected(format!("at most {limit} bytes"))
                .found(bytes.to_string()));
        }
        let entry = self.ledger.enter(label, bytes)?;
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size: bytes, usage, mapped_at_creation: mapped };
        Ok(Buffer::new(self.device.create_buffer(&descriptor), entry))
    }

    /// A storage buffer holding `words`, with COPY_SRC and COPY_DST.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn storage_of(&self, label: &str, words: &[u32]) -> Result<Buffer> {
        use wgpu::BufferUsages as Usage;
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let buffer = self.buffer(label, bytes.len() as u64, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// A uniform buffer holding `data`.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn uniform_of<T: bytemuck::NoUninit>(&self, label: &str, data: &T) -> Result<Buffer> {
        use wgpu::BufferUsages as Usage;
        let bytes = bytemuck::bytes_of(data);
        let buffer = self.buffer(label, bytes.len() as u64, Usage::UNIFORM | Usage::COPY_DST)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Runs `work` (which makes objects or submits, and does not await) inside error scopes.
    ///
    /// # Errors
    /// What `work` returns, or what the scopes caught: `Gpu` for validation, memory and driver errors.
    pub async fn guarded<T>(&self, what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let (result, verdict) = self.watched(what, work);
        verdict.await?;
        result
    }

    /// The same without waiting: what the scopes have caught is known when the verdict is. Nothing that `work` has
    /// made may be shown before.
    pub fn watched<T>(&self, what: &str, work: impl FnOnce() -> Result<T>) -> (Result<T>, Verdict) {
        let filters = [ErrorFilter::OutOfMemory, ErrorFilter::Internal, ErrorFilter::Validation];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let result = work();
        // The last one pushed is popped first.
        let caught = scopes.into_iter().rev().map(|scope| scope.pop()).collect::<Vec<_>>();
        let (trouble, what) = (self.trouble.clone(), what.to_owned());
        let verdict = async move {
            for scope in caught {
                if let Some(error) = scope.await {
                    trouble.note(format!("{what}: {error}"), true);
                    return Err(gpu_error(&error).at(what));
                }
            }
            Ok(())
        };
        (result, Box::pin(verdict))
    }

    /// Encodes with `record` and submits, inside error scopes. Returns before the GPU has finished.
    ///
    /// # Errors
    /// As [`Context::guarded`].
    pub async fn submit<T>(
        &self,
        label: &str,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<T>,
    ) -> Result<T> {
        let (result, verdict) = self.submit_watched(label, record);
        verdict.await?;
        result
    }

    /// The same without waiting, as [`Context::watched`].
    pub fn submit_watched<T>(
        &self,
        label: &str,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<T>,
    ) -> (Result<T>, Verdict) {
        self.watched(label, || {
            let mut encoder =
                self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) });
            let result = record(&mut encoder)?;
            self.queue.submit([encoder.finish()]);
            Ok(result)
        })
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Fails when one of the errors after the first `count` of [`Context::errors`] was caught by no scope: for work that
    /// none watches. What a scope has caught belongs to other work.
    ///
    /// # Errors
    /// `Gpu` with the first of them.
    pub fn unwatched_trouble_since(&self, count: usize) -> Result<()> {
        match self.trouble.unwatched_since(count) {
            Some(message) => {
                Err(Error::new(Kind::Gpu, "gpu_internal", "The graphics driver refused some work").found(message))
            }
            None => Ok(()),
        }
    }

    /// Waits until the device is lost; gives the browser's words.
    pub async fn lost(&self) -> String {
        std::future::poll_fn(|context| self.trouble.poll_lost(context.waker())).await
    }

    /// All errors since the device was made: from scopes, uncaptured ones, a lost device.
    pub fn errors(&self) -> Vec<String> {
        self.trouble.all()
    }
}

async fn request_adapter() -> Result<wgpu::Adapter, wgpu::RequestAdapterError> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = Backends::VULKAN | Backends::BROWSER_WEBGPU;
    let options =
        wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
    wgpu::Instance::new(descriptor).request_adapter(&options).await
}

/// A browser that has just started offers no adapter until its GPU process is up.
const ATTEMPTS: u32 = if cfg!(target_arch = "wasm32") { 8 } else { 1 };
#[cfg(target_arch = "wasm32")]
const RETRY_MS: u32 = 200;

impl AdapterFacts {
    fn of(info: &wgpu::AdapterInfo, has_timestamps: bool) -> Self {
        let parts = [info.name.clone(), info.driver.clone(), format!("{:?}", info.backend)];
        let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let is_software = info.device_type == DeviceType::Cpu || names_software(&text);
        Self { info: text, is_software, has_timestamps }
    }
}

#[cfg(target_arch = "wasm32")]
impl AdapterFacts {
    /// In a page the names are those of `GPUDevice.adapterInfo`
    /// (<https://www.w3.org/TR/webgpu/#gpuadapterinfo>), which wgpu does not pass on.
    fn of_page(device: &wgpu::Device, info: &wgpu::AdapterInfo, has_timestamps: bool) -> Self {
        let mut facts = Self::of(info, has_timestamps);
        let named = device.as_webgpu().and_then(|raw| js_sys::Reflect::get(raw, &"adapterInfo".into()).ok());
        let Some(named) = named.filter(wasm_bindgen::JsValue::is_object) else { return facts };
        let word = |key: &str| js_sys::Reflect::get(&named, &key.into()).ok().and_then(|word| word.as_string());
        let words = ["vendor", "architecture", "device", "description"].map(word).into_iter().flatten();
        let names = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        if !names.is_empty() {
            facts.is_software |= names_software(&names);
            facts.info = format!("{names}, WebGPU");
        }
        facts
    }
}

/// True for the names CPU rasterisers go by; some of them call themselves a GPU.
fn names_software(name: &str) -> bool {
    let name = name.to_lowercase();
    ["swiftshader", "llvmpipe", "lavapipe", "softpipe", "basic render", "warp"].iter().any(|word| name.contains(word))
}

/// WebGPU's default limits, or what a lesser adapter has, with those raised that bound a batch.
fn raised(offered: &Limits) -> Limits {
    let mut limits = Limits::defaults().or_worse_values_from(offered);
    limits.max_buffer_size = offered.max_buffer_size;
    limits.max_storage_buffer_binding_size = offered.max_storage_buffer_binding_size;
    limits.max_storage_buffers_per_shader_stage = offered.max_storage_buffers_per_shader_stage;
    limits.max_compute_workgroups_per_dimension = offered.max_compute_workgroups_per_dimension;
    limits.max_compute_invocations_per_workgroup = offered.max_compute_invocations_per_workgroup;
    limits.max_compute_workgroup_size_x = offered.max_compute_workgroup_size_x;
    limits.max_compute_workgroup_storage_size = offered.max_compute_workgroup_storage_size;
    limits.max_texture_dimension_2d = offered.max_texture_dimension_2d;
    limits
}

fn gpu_error(error: &wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::new(Kind::Gpu, "gpu_memory", "The graphics memory is full")
            .action("Close other tabs or programs that use the graphics card, or open fewer sets"),
        wgpu::Error::Validation { description, .. } => {
            Error::new(Kind::Internal, "gpu_validation", "The graphics work was refused").found(description.clone())
        }
        wgpu::Error::Internal { description, .. } => {
            Error::new(Kind::Gpu, "gpu_internal", "The graphics driver failed").found(description.clone())
        }
    }
}

/// Every error the device reported, in order; and whether it is lost.
#[derive(Clone, Default)]
struct Trouble(Arc<Mutex<Reported>>);

#[derive(Default)]
struct Reported {
    messages: Vec<Message>,
    lost: Option<String>,
    waiting: Option<Waker>,
}

struct Message {
    text: String,
    /// A scope has caught it, and whoever opened that knows.
    is_watched: bool,
}

impl Trouble {
    fn listen(&self, device: &wgpu::Device) {
        let uncaptured = self.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            uncaptured.note(format!("uncaptured: {error}"), false);
        }));
        let lost = self.clone();
        device.set_device_lost_callback(move |reason, message| {
            // A device that is given up goes without a word.
            if reason != wgpu::DeviceLostReason::Destroyed {
                lost.note(format!("device lost: {message}"), false);
            }
            lost.lose(message);
        });
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, text: String, is_watched: bool) {
        self.reported().messages.push(Message { text, is_watched });
    }

    fn all(&self) -> Vec<String> {
        self.reported().messages.iter().map(|message| message.text.clone()).collect()
    }

    fn unwatched_since(&self, count: usize) -> Option<String> {
        let reported = self.reported();
        let unwatched = reported.messages.iter().skip(count).find(|message| !message.is_watched);
        unwatched.map(|message| message.text.clone())
    }

    fn lose(&self, message: String) {
        let waiting = {
            let mut reported = self.reported();
            reported.lost = Some(message);
            reported.waiting.take()
        };
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn poll_lost(&self, waker: &Waker) -> Poll<String> {
        let mut reported = self.reported();
        match &reported.lost {
            Some(message) => Poll::Ready(message.clone()),
            None => {
                reported.waiting = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}
