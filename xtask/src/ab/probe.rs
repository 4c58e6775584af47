//! One experiment, as `tests/probes/NAME.toml` describes it: its record, its buffers, its arms.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use planescope::ab::{
    Clause,
    experiment::{self, Experiment, Role},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{contents::Contents, record::Record};

/// An experiment and its permanent record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// What is to be found out, and why.
    pub purpose: String,
    pub kind: Kind,
    /// Rounds that count, of each series.
    #[serde(default = "experiment::default_rounds")]
    pub rounds: usize,
    /// The clause that refuses a trap.
    #[serde(default)]
    pub refused_by: Option<Clause>,
    /// Something that was found to be better, was shipped, and was taken back: why.
    #[serde(default)]
    pub reverted: Option<String>,
    /// What would be taken off the readings: refused, whatever it is.
    #[serde(default)]
    pub correction: Option<String>,
    /// What the harness filled in after the runs.
    pub record: Option<Record>,
    #[serde(default, rename = "buffer")]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub control: BTreeMap<String, Contents>,
    #[serde(default)]
    pub cold: bool,
    #[serde(rename = "arm")]
    pub arms: Vec<Arm>,
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub folder: PathBuf,
}

/// What the arms are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Compute shaders over buffers.
    Shaders,
    /// Decode variants of the page, on an open set.
    Decodes,
    /// Products of the page, on an open set.
    Products,
    /// Whole loads of a set, with other knobs.
    Loads,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    pub name: String,
    #[serde(default)]
    pub role: Role,
    pub contents: Contents,
    #[serde(default)]
    pub truth: Option<Contents>,
}

/// One arm; what it holds depends on the kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    pub name: String,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub contents: BTreeMap<String, Contents>,
    /// What the page's `time` is asked for: a decode variant or a product.
    #[serde(default)]
    pub request: Map<String, Value>,
    /// Knobs of the page.
    #[serde(default)]
    pub tuning: Map<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// WGSL files beside the probe, joined in this order.
    pub shader: Vec<PathBuf>,
    #[serde(default = "entry")]
    pub entry: String,
    #[serde(default)]
    pub constants: BTreeMap<String, f64>,
    pub bind: Vec<String>,
    pub workgroups: [u32; 3],
}

fn entry() -> String {
    "main".to_owned()
}

impl Probe {
    /// Reads a probe's file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let mut probe = Self::parse(&text).with_context(|| path.display().to_string())?;
        probe.name = path.file_stem().context("no file name")?.to_string_lossy().into_owned();
        probe.folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(probe)
    }

    /// A probe of this text, without a name.
    pub fn parse(text: &str) -> Result<Self> {
        let probe: Self = toml::from_str(text)?;
        ensure!(!probe.purpose.trim().is_empty(), "a probe needs a purpose");
        ensure!(probe.arms.len() >= 2, "a probe needs a baseline and another arm");
        ensure!(probe.rounds > 0, "rounds = 0 measures nothing");
        for arm in &probe.arms {
            let (has_steps, has_request, has_tuning) =
                (!arm.steps.is_empty(), !arm.request.is_empty(), !arm.tuning.is_empty());
            let fits = match probe.kind {
                Kind::Shaders => has_steps && !has_request && !has_tuning,
                Kind::Decodes | Kind::Products => has_request && !has_steps,
                Kind::Loads => !has_steps && !has_request,
            };
            ensure!(fits, "arm {:?} does not fit {:?}", arm.name, probe.kind);
        }
        Ok(probe)
    }

    /// All probes of a folder, by name.
    pub fn all(folder: &Path) -> Result<Vec<Self>> {
        let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let mut paths: Vec<_> =
            paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// A probe by its name in `folder`, or by its path.
    pub fn named(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(format!("{name}.toml"));
        if path.is_file() {
            return Self::read(&path);
        }
        if Path::new(name).is_file() {
            return Self::read(Path::new(name));
        }
        let known: Vec<String> = Self::all(folder)?.into_iter().map(|probe| probe.name).collect();
        bail!("there is no probe {name}; {} holds {}", folder.display(), known.join(", "))
    }

    /// What the page is asked; `address` gives where a file's content is served.
    pub fn experiment(
        &self,
        contents: &mut impl FnMut(&Contents) -> Result<experiment::Contents>,
    ) -> Result<Experiment> {
        let buffers = self.buffers.iter().map(|buffer| {
            Ok(experiment::Buffer {
                name: buffer.name.clone(),
                role: buffer.role,
                contents: contents(&buffer.contents)?,
                truth: buffer.truth.as_ref().map(&mut *contents).transpose()?,
            })
        });
        let buffers = buffers.collect::<Result<Vec<_>>>()?;
        let mut all = |named: &BTreeMap<String, Contents>| {
            named.iter().map(|(name, found)| Ok((name.clone(), contents(found)?))).collect::<Result<BTreeMap<_, _>>>()
        };
        let control = all(&self.control)?;
        let arms = self.arms.iter().map(|arm| {
            let steps = arm.steps.iter().map(|step| self.step(step)).collect::<Result<_>>()?;
            Ok(experiment::Arm { name: arm.name.clone(), steps, contents: all(&arm.contents)? })
        });
        let arms = arms.collect::<Result<Vec<_>>>()?;
        Ok(Experiment { buffers, arms, rounds: self.rounds, control, cold: self.cold, ..Experiment::default() })
    }

    fn step(&self, step: &Step) -> Result<experiment::Step> {
        let mut shader = String::new();
        for file in &step.shader {
            let path = self.folder.join(file);
            let text = std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            shader.push_str(&text);
        }
        Ok(experiment::Step {
            shader,
            entry: step.entry.clone(),
            constants: step.constants.clone(),
            bind: step.bind.clone(),
            workgroups: step.workgroups,
        })
    }
}
