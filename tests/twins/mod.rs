//! Bodies of the tests that compare every GPU pass with its CPU twin. They run natively, on whatever
//! Vulkan driver `VK_ICD_FILENAMES` names, and in a browser (feature `twins`).

pub mod chunks;
pub mod decode;
pub mod hostile;
pub mod products;
pub mod sample;
pub mod words;

/// What is wrong, in a sentence.
pub type Verdict = Result<(), String>;

/// Fails with `message` unless `holds`.
pub fn ensure(holds: bool, message: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(message()) }
}
