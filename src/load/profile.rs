//! What a load did and how long each part took: `window.__loadprof`.

use serde::Serialize;

use super::Tuning;

/// Milliseconds count from the hand-over of the files; GB are 1e9 bytes.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadProfile {
    pub total_ms: f64,
    /// To the first presented virtual image of at least 5 % of the positions, spread over the scan.
    pub first_image_ms: Option<f64>,
    pub master_read_ms: f64,
    pub parse_ms: f64,
    /// From the first to the last byte read.
    pub read_ms: f64,
    /// Sum of the workers' own read times.
    pub read_worker_ms: f64,
    /// Main thread waiting for a worker with nothing else to do.
    pub read_wait_ms: f64,
    /// Main thread copying into mapped buffers.
    pub upload_ms: f64,
    pub map_wait_ms: f64,
    /// Sum of the decode passes by GPU timestamps.
    pub gpu_decode_ms: Option<f64>,
    /// Last submit to queue done.
    pub gpu_wait_ms: f64,
    /// Longest stretch in which the main thread could not paint.
    pub main_block_ms: f64,
    /// Last byte uploaded to last decode confirmed.
    pub upload_tail_ms: f64,
    pub stages: Vec<Stage>,
    #[serde(rename = "compressedGB")]
    pub compressed_gb: f64,
    #[serde(rename = "decodedGB")]
    pub decoded_gb: f64,
    #[serde(rename = "residentGB")]
    pub resident_gb: f64,
    #[serde(rename = "fileGB")]
    pub file_gb: f64,
    pub source_dtype: String,
    /// Path of the dataset in its file, the order of its axes (one letter each), and the channel where there are any.
    pub dataset: String,
    pub axes: String,
    pub channel: Option<String>,
    pub resident: String,
    /// Variant and workgroup that decoded: "lane/64".
    pub decode_variant: String,
    /// What was timed to choose it, where it was.
    pub decode_choice: Option<String>,
    pub frames: u32,
    pub frames_missing: u32,
    pub frames_failed: u32,
    pub chunks: u32,
    pub files: u32,
    pub files_missing: u32,
    pub bad_pixels: u32,
    pub scan_rows: u32,
    pub scan_cols: u32,
    pub scan_shape_from: String,
    pub det_rows: u32,
    pub det_cols: u32,
    pub source_kind: SourceKind,
    pub local_files: u32,
    pub worker_count: u32,
    #[serde(rename = "sliceMiB")]
    pub slice_mib: u32,
    pub ring_buffers: u32,
    #[serde(rename = "ringMiB")]
    pub ring_mib: u32,
    pub batch_frames: u32,
    pub adapter_info: String,
    pub software_adapter: bool,
    pub timestamp_query: bool,
    /// Subgroup operations are never asked for (wgpu cannot request them on the web).
    pub subgroups: bool,
    #[serde(rename = "maxBufferGB")]
    pub max_buffer_gb: f64,
    #[serde(rename = "maxStorageBufferGB")]
    pub max_storage_buffer_gb: f64,
    pub gpu_errors: Vec<String>,
    pub tuning: Tuning,
    /// What the user was told when the load failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
}

/// One part of the load, in absolute times since the hand-over, so that overlap can be seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    pub name: String,
    pub start_ms: f64,
    pub end_ms: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    #[default]
    File,
    Url,
    Opfs,
    Demo,
}
