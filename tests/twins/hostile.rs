//! Chunks that were changed at random among others that were not: from every decoder the verdict of the CPU, its bytes,
//! and nothing else.

use planescope::{
    cpu,
    gpu::{
        Context,
        decode::{Decoder, Method},
    },
    shape::{Dtype, FrameLayout},
};

use super::{
    Verdict,
    chunks::{Random, chunk_of, chunk_of_streams, layout},
    decode::{Chunks, compared, lz4_flex_agrees, pixels, random_stream, said},
    ensure,
};

/// Every body by its name, for a page that runs them all.
#[cfg(feature = "twins")]
pub async fn all(context: &Context) -> Vec<(&'static str, Verdict)> {
    vec![(
        "every_decoder_gives_hostile_chunks_the_verdict_of_the_cpu",
        every_decoder_gives_hostile_chunks_the_verdict_of_the_cpu(context).await,
    )]
}

/// `PLANESCOPE_CHUNKS` says how many changed chunks each decoder gets.
pub async fn every_decoder_gives_hostile_chunks_the_verdict_of_the_cpu(context: &Context) -> Verdict {
    let wanted = std::env::var("PLANESCOPE_CHUNKS").ok().and_then(|text| text.parse().ok()).unwrap_or(FEW);
    let mut random = Random(12);
    // Two layouts whose frames every decoder takes, with one block and with a shorter last one; and one that only
    // `team` takes, with a raw tail.
    let layouts = [layout(Dtype::U8, 32, 32, 1024), layout(Dtype::U16, 48, 64, 2048), layout(Dtype::U16, 19, 23, 160)];
    let first = Decoder::new(context, layouts[0], BATCH, Method::default()).await.map_err(said)?;
    for layout in layouts {
        let mut methods = Method::all(&layout);
        methods.dedup_by_key(|method| method.variant);
        for method in methods {
            let decoder = first.sibling(context, layout, BATCH, method).await.map_err(said)?;
            let (mut changed, mut failed) = (0, 0);
            while changed < wanted.div_ceil(layouts.len() as u32) {
                let chunks = batch(&mut random, &layout, &mut changed)?;
                let faults = compared(context, &decoder, &layout, &chunks).await;
                failed += faults.map_err(|what| format!("{}: {what}", method.name()))?.len() as u32;
            }
            println!("HOSTILE {} {changed} {failed}", method.name());
            ensure(failed > changed / 5 && failed < changed, || {
                format!("{}: {failed} of {changed} changed chunks failed", method.name())
            })?;
        }
    }
    Ok(())
}

/// Changed chunks, each behind one that is as it should be.
fn batch(random: &mut Random, layout: &FrameLayout, changed: &mut u32) -> Result<Chunks, String> {
    let mut chunks = Chunks::default();
    for frame in 0..BATCH / 2 {
        let sound = chunk_of(layout, &pixels(random, frame, layout));
        chunks.push(&sound);
        let mut chunk = match frame % 3 {
            0 => made_of_streams(random, layout),
            _ => sound,
        };
        change(random, &mut chunk);
        chunks.push(&chunk);
        lz4_flex_agrees(layout, &chunk)?;
        *changed += 1;
    }
    Ok(chunks)
}

/// A chunk of random sequences, which no encoder would write.
fn made_of_streams(random: &mut Random, layout: &FrameLayout) -> Vec<u8> {
    let parts = cpu::frame_headers::ChunkLayout::of(layout);
    let streams: Vec<_> =
        (0..parts.lz4_blocks).map(|block| random_stream(random, parts.bytes_of(block) as usize)).collect();
    let tail = random.bytes(parts.tail_bytes as usize);
    chunk_of_streams(layout, &streams, &tail)
}

/// Bytes, lengths and counts are spoiled, parts are left out, doubled or cut off.
fn change(random: &mut Random, chunk: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let at = random.below(chunk.len() as u32) as usize;
        match random.below(8) {
            0 => chunk[at] ^= 1 << random.below(8),
            // Tokens and lengths that run on.
            1 => chunk[at] = [0, 0xF0, 0x0F, 0xFF][random.below(4) as usize],
            // An offset of nothing, or of everything.
            2 => {
                let offset = [[0, 0], [0xFF, 0xFF], [1, 0]][random.below(3) as usize];
                for (byte, value) in chunk[at..].iter_mut().zip(offset) {
                    *byte = value;
                }
            }
            // The header and the first length.
            3 => {
                let at = at % 16.min(chunk.len());
                chunk[at] = random.word() as u8;
            }
            4 => chunk.truncate(at.max(1)),
            5 => {
                let end = (at + random.below(64) as usize).min(chunk.len());
                let part = chunk[at..end].to_vec();
                chunk.splice(at..at, part);
            }
            6 if chunk.len() > 1 => {
                let end = (at + 1 + random.below(16) as usize).min(chunk.len() - 1);
                chunk.drain(at.min(end)..end);
            }
            _ => chunk[at] = random.word() as u8,
        }
    }
}

/// Chunks of one decode.
const BATCH: u32 = 500;
/// Changed chunks for each decoder in the ordinary tests.
const FEW: u32 = 750;
