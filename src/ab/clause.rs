//! What a run must keep to, and the word for one that did not.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The eight clauses, then what holds besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clause {
    /// 1: one engine, one scene, one pose, the same before and after every arm; the page draws nothing meanwhile.
    Pinned,
    /// 2: every arm's whole output is the baseline's, byte for byte, and is not what no work at all leaves.
    Identical,
    /// 3: mirrored slots; in one submit for arms that are nothing but GPU work.
    Mirrored,
    /// 4: as many readings as the clock needs to settle are thrown away; medians of the others.
    Warm,
    /// 5: a noise floor of the same session: the baseline in every slot.
    Floor,
    /// 6: floors before and after each arm, and no correction of any kind.
    Interleaved,
    /// 7: an effect inside the band is null.
    Null,
    /// 8: cold times only from shaders that no cache knows.
    Cold,
    /// The effect keeps its sign in reversed slots and in a second browser.
    Sign,
    /// Two independent browser runs at least.
    Second,
    /// Every arm has the content that it is about.
    Content,
    /// No software adapter.
    Hardware,
    /// The GPU's clock is fine, linear and adds up.
    Clock,
    /// Arms that differ in their content alone time alike without content.
    Control,
}

impl Clause {
    /// 1 to 8; 0 for what holds besides.
    pub fn number(self) -> u8 {
        match self {
            Self::Pinned => 1,
            Self::Identical => 2,
            Self::Mirrored => 3,
            Self::Warm => 4,
            Self::Floor => 5,
            Self::Interleaved => 6,
            Self::Null => 7,
            Self::Cold => 8,
            _ => 0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pinned => "pinned scene",
            Self::Identical => "byte identity",
            Self::Mirrored => "mirrored slots",
            Self::Warm => "warm-up",
            Self::Floor => "noise floor",
            Self::Interleaved => "interleaved floors",
            Self::Null => "null inside the band",
            Self::Cold => "cold compile",
            Self::Sign => "sign",
            Self::Second => "second browser",
            Self::Content => "content",
            Self::Hardware => "hardware",
            Self::Clock => "clock",
            Self::Control => "empty control",
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            0 => f.write_str(self.name()),
            number => write!(f, "clause {number} ({})", self.name()),
        }
    }
}

/// A run that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Void {
    pub clause: Clause,
    pub why: String,
}

impl Void {
    pub fn new(clause: Clause, why: impl Into<String>) -> Self {
        Self { clause, why: why.into() }
    }

    /// Void unless `holds`.
    ///
    /// # Errors
    /// The clause, with what `why` says.
    pub fn unless(holds: bool, clause: Clause, why: impl FnOnce() -> String) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(clause, why())) }
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.clause, self.why)
    }
}

impl std::error::Error for Void {}
