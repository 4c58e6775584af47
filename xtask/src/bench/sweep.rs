//! Knobs of `__planescope.tuning`, each with the values to try: `workgroup=16,32,64`.

use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

/// One setting of the knobs.
pub type Tuning = Map<String, Value>;

/// One knob and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    knob: String,
    values: Vec<Value>,
}

impl FromStr for Sweep {
    type Err = anyhow::Error;

    /// Values are JSON where they can be read so (numbers, true), else texts.
    fn from_str(text: &str) -> Result<Self> {
        let (knob, values) = text.split_once('=').with_context(|| format!("{text}: expected KNOB=VALUE,VALUE"))?;
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        ensure!(!knob.trim().is_empty(), "{text}: no knob before the =");
        ensure!(values.iter().all(|value| !value.is_empty()), "{text}: an empty value");
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        Ok(Self { knob: knob.trim().to_owned(), values: values.into_iter().map(value).collect() })
    }
}

/// Every combination of the values, the last knob changing fastest; without a knob the one that changes nothing.
pub fn configurations(sweeps: &[Sweep]) -> Vec<Tuning> {
    sweeps.iter().fold(vec![Tuning::new()], |tunings, sweep| {
        let with = |tuning: &Tuning, value: &Value| {
            let mut tuning = tuning.clone();
            tuning.insert(sweep.knob.clone(), value.clone());
            tuning
        };
        tunings.iter().flat_map(|tuning| sweep.values.iter().map(move |value| with(tuning, value))).collect()
    })
}

/// A setting in one line: `workers=4 ringMiB=8`; "as shipped" without a knob.
pub fn in_words(tuning: &Tuning) -> String {
    if tuning.is_empty() {
        return "as shipped".to_owned();
    }
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    tuning.iter().map(|(knob, value)| format!("{knob}={}", text(value))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> Sweep {
        text.parse().expect("a valid sweep")
    }

    #[test]
    fn numbers_are_read_as_numbers_and_the_rest_as_texts() {
        let read = sweep("uploadMode=ring, 8,0.5");
        assert_eq!(read.values, [Value::from("ring"), Value::from(8), Value::from(0.5)]);
        assert_eq!(read.knob, "uploadMode");
    }

    #[test]
    fn every_value_of_one_knob_meets_every_value_of_the_other() {
        let all = configurations(&[sweep("workers=1,4"), sweep("ringMiB=2,4,8")]);
        let words: Vec<String> = all.iter().map(in_words).collect();
        assert_eq!(words.len(), 6);
        assert_eq!(
            (&*words[0], &*words[1], &*words[5]),
            ("ringMiB=2 workers=1", "ringMiB=4 workers=1", "ringMiB=8 workers=4")
        );
        assert_eq!(configurations(&[]), [Tuning::new()]);
    }

    #[test]
    fn a_sweep_without_knob_or_value_is_refused_by_its_text() {
        for text in ["workers", "=1,2", "workers=", "workers=1,,2"] {
            let refused = text.parse::<Sweep>().expect_err("not a sweep");
            assert!(refused.to_string().contains(text), "{refused}");
        }
    }
}
