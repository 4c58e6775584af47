//! The knobs of a load: read, or set before opening (`__planescope.tuning`, `?tune=`).

use serde::{Deserialize, Serialize};

use crate::{
    gpu::{Method, UploadMode, Variant},
    plan::Budget,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tuning {
    /// Reader threads.
    pub workers: u32,
    /// Bytes of one read job, MiB.
    #[serde(rename = "sliceMiB")]
    pub slice_mib: u32,
    /// Mapped upload buffers.
    pub ring_buffers: u32,
    /// Size of an upload buffer and of a piece, MiB.
    #[serde(rename = "ringMiB")]
    pub ring_mib: u32,
    pub upload_mode: UploadMode,
    /// Most frames of a batch; 0: as many as the decoder's scratch holds.
    pub batch_frames: u32,
    /// Compressed bytes of a batch, MiB.
    #[serde(rename = "batchMiB")]
    pub batch_mib: u32,
    /// Decode variant; `None`: the one that was fastest on this adapter.
    pub variant: Option<Variant>,
    /// Invocations of a decode workgroup; 0: as many as were fastest on this adapter.
    pub workgroup: u32,
    /// Times the variants after the first load on an adapter; `None`: unless that is a software adapter.
    pub choose_variant: Option<bool>,
    /// Keeps the compressed bytes in GPU memory, so that decode variants can be timed on them.
    pub keep_compressed: bool,
}

impl Tuning {
    /// Defaults for a machine with `cores` hardware threads.
    pub fn for_machine(cores: u32) -> Self {
        Self { workers: cores.clamp(1, 4), ..Self::default() }
    }

    /// Limits of a plan. A software adapter decodes some 10 MB/s: small batches keep its picture growing.
    pub fn budget(&self, most_frames: u32, is_software: bool) -> Budget {
        let (batch_bytes, first_batch_bytes) = match is_software {
            true => (4 << 20, 1 << 20),
            false => (u64::from(self.batch_mib) << 20, u64::from(self.batch_mib.div_ceil(4)) << 20),
        };
        let wanted = if self.batch_frames == 0 { most_frames } else { self.batch_frames };
        Budget {
            batch_bytes,
            first_batch_bytes,
            batch_frames: wanted.min(most_frames),
            slice_bytes: u64::from(self.slice_mib.max(1)) << 20,
            gap_bytes: 16 << 10,
        }
    }

    /// How to decode; `chosen` is the fastest on this adapter.
    pub fn method(&self, chosen: Option<Method>) -> Method {
        let chosen = chosen.unwrap_or_default();
        let variant = self.variant.unwrap_or(chosen.variant);
        let workgroup = if self.workgroup == 0 { chosen.workgroup } else { self.workgroup };
        Method { variant, workgroup }
    }

    /// Bytes of a piece.
    pub fn piece_bytes(&self) -> u32 {
        self.ring_mib.clamp(1, 64) << 20
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            workers: 4,
            slice_mib: 16,
            ring_buffers: 12,
            ring_mib: 4,
            upload_mode: UploadMode::Ring,
            batch_frames: 0,
            batch_mib: 64,
            variant: None,
            workgroup: 0,
            choose_variant: None,
            keep_compressed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_setting_keeps_the_other_defaults() {
        let tuning: Tuning = serde_json::from_str(r#"{"workers":2,"uploadMode":"writeBuffer"}"#).expect("valid tuning");
        assert_eq!((tuning.workers, tuning.slice_mib, tuning.upload_mode), (2, 16, UploadMode::WriteBuffer));
    }
}
