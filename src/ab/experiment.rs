//! What `__planescope.time` is asked: compute shaders against each other, over buffers of stated contents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Arms over the same buffers. The first arm is the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Experiment {
    pub buffers: Vec<Buffer>,
    pub arms: Vec<Arm>,
    /// Rounds that count, of each series; a round has nine slots.
    #[serde(default = "default_rounds")]
    pub rounds: usize,
    /// The contents of some buffers under which all arms must take the same time: a scene without content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub control: BTreeMap<String, Contents>,
    /// Measure how long each arm takes to compile, too. Its shaders then declare `override UNIQUE: u32` and write it
    /// into the first word of the buffer called `unique`.
    #[serde(default)]
    pub cold: bool,
    /// Slots of the caller's own (an arm each), in place of contests: readings come back without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Vec<usize>>,
    /// Run on a software adapter, whose times say nothing: for tests of the instrument.
    #[serde(default)]
    pub allow_software: bool,
}

pub fn default_rounds() -> usize {
    24
}

/// One storage or uniform buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Buffer {
    pub name: String,
    #[serde(default)]
    pub role: Role,
    /// Zero for outputs and scratch.
    #[serde(default)]
    pub contents: Contents,
    /// What the baseline must leave in an output; else its own output is what the other arms are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<Contents>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Holds its contents; an arm that changes it voids the run.
    #[default]
    Input,
    /// Zeroed before each slot, outside the timed span, and compared in full.
    Output,
    /// Zeroed likewise, not compared.
    Scratch,
}

/// Words of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged, deny_unknown_fields)]
pub enum Contents {
    /// Zero.
    Zero { words: u64 },
    /// These.
    Words { values: Vec<u32> },
    /// Well mixed bits, the same for the same seed.
    Random { random: u64, seed: u32 },
    /// The bytes of a file beside the page, `bytes` of them (a multiple of 4), `repeat` times over.
    File {
        url: String,
        bytes: u64,
        #[serde(default = "once")]
        repeat: u64,
    },
}

impl Default for Contents {
    fn default() -> Self {
        Self::Zero { words: 0 }
    }
}

fn once() -> u64 {
    1
}

impl Contents {
    /// Bytes, all repeats included.
    pub fn len_bytes(&self) -> u64 {
        match self {
            Self::Zero { words } | Self::Random { random: words, .. } => 4 * words,
            Self::Words { values } => 4 * values.len() as u64,
            Self::File { bytes, repeat, .. } => bytes.saturating_mul(*repeat),
        }
    }
}

/// One way to do the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arm {
    pub name: String,
    /// Dispatches, one after another, timed together.
    pub steps: Vec<Step>,
    /// Contents of buffers that differ from the experiment's: this arm then has an engine of its own, and its outputs
    /// are compared with what the baseline's steps make of the same contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<String, Contents>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// WGSL.
    pub shader: String,
    #[serde(default = "main")]
    pub entry: String,
    /// Values of `override` constants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, f64>,
    /// Buffers at bindings 0, 1, 2 ... of group 0; the shader uses all of them.
    pub bind: Vec<String>,
    /// Workgroups in x, y, z.
    pub workgroups: [u32; 3],
}

fn main() -> String {
    "main".to_owned()
}
