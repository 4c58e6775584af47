//! Words in which two buffers differ, on the GPU and on the CPU.

use std::rc::Rc;

use planescope::{
    cpu::compare_words::compare_words,
    gpu::{Context, compare_words::CompareWords},
};

use super::{Verdict, chunks::Random, ensure};

/// Every body by its name, for a page that runs them all.
#[cfg(feature = "twins")]
pub async fn all(context: &Rc<Context>) -> Vec<(&'static str, Verdict)> {
    vec![("words_that_differ_are_counted", words_that_differ_are_counted(context).await)]
}

/// One word, a part of an invocation's words, several rows of workgroups; all, some, and only the last word differ.
pub async fn words_that_differ_are_counted(context: &Rc<Context>) -> Verdict {
    let compare = CompareWords::new(context);
    let mut random = Random(7);
    for words in [1, 63, 1024, 1025, 100_003] {
        let expected: Vec<u32> = (0..words).map(|_| random.word() | 1).collect();
        let mut some = expected.clone();
        some.iter_mut().for_each(|word| *word = if random.below(3) == 0 { *word ^ 8 } else { *word });
        let mut last = expected.clone();
        last.iter_mut().rev().take(1).for_each(|word| *word = 0);
        for found in [expected.clone(), some, last, vec![0; words]] {
            let buffers = (context.storage_of("found", &found), context.storage_of("expected", &expected));
            let (Ok(a), Ok(b)) = buffers else { return Err("no buffer".into()) };
            let count = compare.count(context, &a, &b).await.map_err(|error| error.to_string())?;
            let twin = u64::from(compare_words(&found, &expected));
            ensure(count == twin, || format!("{words} words: {count} differ on the GPU, {twin} on the CPU"))?;
        }
    }
    let (Ok(short), Ok(long)) = (context.storage_of("short", &[1, 2]), context.storage_of("long", &[1, 2, 3])) else {
        return Err("no buffer".into());
    };
    let count = compare.count(context, &short, &long).await.map_err(|error| error.to_string())?;
    ensure(count == 3, || format!("buffers of 2 and 3 words differ in {count} words, not in all"))
}
