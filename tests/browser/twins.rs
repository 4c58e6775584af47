//! The twin tests in a page: the bodies of `tests/twins` on Chrome's WebGPU.

#[cfg(target_arch = "wasm32")]
mod page {
    use std::rc::Rc;

    use planescope::{gpu::Context, twins};
    use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

    /// Runs every body; JSON, `[[name, what is wrong or null], ...]`.
    ///
    /// # Errors
    /// The page has no WebGPU.
    #[wasm_bindgen]
    pub async fn verdicts() -> Result<String, JsValue> {
        console_error_panic_hook::set_once();
        let failure = |error: planescope::Error| JsValue::from(error.to_string());
        let context = Rc::new(Context::new().await.map_err(failure)?);
        let mut verdicts = twins::decode::all(&context).await;
        verdicts.extend(twins::hostile::all(&context).await);
        verdicts.extend(twins::products::all(&context).await);
        verdicts.extend(twins::words::all(&context).await);
        let faults = context.errors();
        let quiet = if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) };
        verdicts.push(("the_gpu_reports_no_error", quiet));
        let rows: Vec<_> = verdicts.into_iter().map(|(name, verdict)| (name, verdict.err())).collect();
        serde_json::to_string(&rows).map_err(|error| error.to_string().into())
    }
}

fn main() {}
