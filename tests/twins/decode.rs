//! Decoding on the GPU against the CPU: planes word for word, faults by name and block.

use std::{rc::Rc, task::Poll};

use planescope::{
    cpu::{self, block_pixels::PixelOutput},
    engine::{ChunkFault, FrameFault, Slot},
    gpu::{
        Buffer, Context,
        decode::{
            Decoded, Decoder, Method, PADDING_BYTES, Variant, max_batch_frames,
            trial::{Compressed, Output, Trial},
        },
        planes::Store,
    },
    shape::{Dtype, FrameLayout},
};

use super::{
    Verdict,
    chunks::{Random, Stream, chunk_of, chunk_of_streams, layout, one_block, planes_of},
    ensure,
};

/// Every body by its name, for a page that runs them all.
#[cfg(feature = "twins")]
pub async fn all(context: &Context) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    macro_rules! verdicts {
        ($($name:ident)*) => { $(verdicts.push((stringify!($name), $name(context).await));)* };
    }
    verdicts! {
        every_type_and_shape_decodes_exactly
        matches_of_every_offset_and_length_are_copied
        random_streams_are_decoded
        blocks_beyond_the_reach_of_an_offset_are_decoded
        each_fault_fails_its_frame_alone
        the_lowest_bad_block_is_named
        mutated_chunks_get_the_verdict_of_the_cpu
        a_batch_of_more_workgroups_than_a_row_holds
        a_decoder_used_again_forgets_the_last_batch
        records_that_outgrow_their_arena_are_decoded_again
        decodes_into_one_store_do_not_disturb_each_other
        every_output_of_every_kernel_is_what_the_cpu_makes
        batches_are_as_large_as_the_limits_allow
    }
    verdicts
}

/// Chunks of a batch, at whatever byte they come to lie.
#[derive(Default)]
struct Chunks {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

impl Chunks {
    fn push(&mut self, chunk: &[u8]) {
        let frame = 7 + 3 * self.slots.len() as u32;
        self.slots.push(Slot { frame, offset: self.bytes.len() as u32, len_bytes: chunk.len() as u32 });
        self.bytes.extend(chunk);
        // Any alignment, and something behind a chunk that is not its own.
        self.bytes.extend(&[0xA5; 3][..self.slots.len() % 4]);
    }

    fn of(chunks: &[Vec<u8>]) -> Self {
        let mut all = Self::default();
        chunks.iter().for_each(|chunk| all.push(chunk));
        all
    }

    fn upload(&self, context: &Context) -> Result<Buffer, String> {
        let mut padded = self.bytes.clone();
        padded.resize(padded.len().next_multiple_of(4) + PADDING_BYTES as usize, 0);
        let words: Vec<u32> = padded.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        context.storage_of("twins.compressed", &words).map_err(said)
    }

    fn chunk(&self, slot: usize) -> &[u8] {
        let Slot { offset, len_bytes, .. } = self.slots[slot];
        &self.bytes[offset as usize..][..len_bytes as usize]
    }
}

/// A device and the passes, which take a while to make.
struct Twins<'a> {
    context: &'a Context,
    decoder: Decoder,
}

impl<'a> Twins<'a> {
    async fn on(context: &'a Context) -> Result<Self, String> {
        Ok(Self { context, decoder: Decoder::new(context, one_block(8), 1, Method::default()).await.map_err(said)? })
    }

    async fn without_faults(&self, layout: &FrameLayout, chunks: &[Vec<u8>]) -> Verdict {
        let faults = self.faults(layout, &Chunks::of(chunks)).await?;
        ensure(faults.is_empty(), || format!("{layout:?}: {faults:?}"))
    }

    /// Decodes on the GPU by every variant and compares every slot with the CPU twin; gives the faults.
    async fn faults(&self, layout: &FrameLayout, chunks: &Chunks) -> Result<Vec<FrameFault>, String> {
        let mut first = None;
        // A workgroup each, and the baseline elsewhere: making pipelines takes most of the time.
        let mut methods = Method::all(layout);
        methods.dedup_by_key(|method| method.variant);
        methods.retain(|method| matches!(method.variant, Variant::Lane | Variant::Team));
        for method in methods {
            let decoder = self.decoder.sibling(self.context, *layout, chunks.slots.len() as u32, method).await;
            let faults = compared(self.context, &decoder.map_err(said)?, layout, chunks).await;
            first.get_or_insert(faults.map_err(|what| format!("{method:?}: {what}"))?);
        }
        first.ok_or_else(|| format!("{layout:?}: no method"))
    }
}

fn said(error: planescope::Error) -> String {
    error.to_string()
}

async fn compared(
    context: &Context,
    decoder: &Decoder,
    layout: &FrameLayout,
    chunks: &Chunks,
) -> Result<Vec<FrameFault>, String> {
    let compressed = chunks.upload(context)?;
    let decoded = decoder.decode(context, &compressed, &chunks.slots).await.map_err(said)?;
    compare(context, &decoded, layout, chunks).await
}

/// Compares all that a decode has made with what the CPU makes; gives the faults.
async fn compare(
    context: &Context,
    decoded: &Decoded,
    layout: &FrameLayout,
    chunks: &Chunks,
) -> Result<Vec<FrameFault>, String> {
    let read = async |buffer: &Buffer| context.read_words(buffer, 0, buffer.size() / 4).await.map_err(said);
    let Store { words, table, slots } = &decoded.store;
    let (words, table, slots) = (read(words).await?, read(table).await?, read(slots).await?);
    let words = &words[..decoded.len_words as usize];
    let first_slot = decoded.first_slot as usize;
    let table = &table[first_slot * layout.blocks() as usize..];
    let slots = &slots[2 * first_slot..];
    let mut records = 0;
    let mut faults = Vec::new();
    for (i, slot) in chunks.slots.iter().enumerate() {
        let at = || format!("{layout:?}, slot {i}");
        let expected = cpu::decode::planes(layout, chunks.chunk(i));
        let status = expected.as_ref().err().map_or(0, |&(fault, block)| fault as u32 | block << 8);
        ensure(slots[2 * i..][..2] == [slot.frame, status], || {
            format!("{}: expected status {status:#x}, found {:#x}", at(), slots[2 * i + 1])
        })?;
        let places = &table[i * layout.blocks() as usize..][..layout.blocks() as usize];
        match expected {
            Ok(planes) => {
                records +=
                    compare_records(layout, &planes, words, places).map_err(|what| format!("{}: {what}", at()))?
            }
            Err((fault, block)) => {
                faults.push(FrameFault { frame: slot.frame, fault, block });
                ensure(places.iter().all(|&place| place == u32::MAX), || {
                    format!("{}: a failed frame has a record", at())
                })?;
            }
        }
    }
    // Blocks of a frame that fails in another may have left theirs, and others may lie before these.
    let may_be_more = !faults.is_empty() || first_slot > 0;
    ensure(records == words.len() || may_be_more && records < words.len(), || {
        format!("{layout:?}: records of {records} words in {} words", words.len())
    })?;
    ensure(faults == decoded.faults, || format!("expected {faults:?}, found {:?}", decoded.faults))?;
    ensure(context.errors().is_empty(), || format!("{:?}", context.errors()))?;
    Ok(faults)
}

/// Decodes that follow one another into a store, one that makes far more than was thought, and others after it; damaged
/// frames among them. All are looked at when all are done.
pub async fn decodes_into_one_store_do_not_disturb_each_other(context: &Context) -> Verdict {
    let layout = layout(Dtype::U16, 64, 96, 4096);
    let mut random = Random(11);
    let mut batches: Vec<Chunks> = (0..6).map(|_| Chunks::default()).collect();
    for (i, chunks) in batches.iter_mut().enumerate() {
        for frame in 0..5 + 7 * i as u32 {
            let values = if i == 3 { vec![255; 64 * 96 * 2] } else { pixels(&mut random, frame, &layout) };
            let mut chunk = chunk_of(&layout, &values);
            if i % 2 == 0 && frame == 3 {
                chunk.truncate(chunk.len() - 1);
            }
            chunks.push(&chunk);
        }
    }
    let decoder = Decoder::new(context, layout, 64, Method::default()).await.map_err(said)?;
    let frames = batches.iter().map(|chunks| chunks.slots.len() as u32).sum();
    let bytes = batches.iter().map(|chunks| chunks.bytes.len() as u64).sum();
    let (room, verdict) = decoder.expect(context, bytes, frames);
    room.map_err(said)?;
    verdict.await.map_err(said)?;
    let mut decoded = Vec::new();
    for chunks in &batches {
        let compressed = chunks.upload(context)?;
        decoded.push(decoder.decode(context, &compressed, &chunks.slots).await.map_err(said)?);
    }
    for (i, (decoded, chunks)) in decoded.iter().zip(&batches).enumerate() {
        let faults = compare(context, decoded, &layout, chunks).await.map_err(|what| format!("batch {i}: {what}"))?;
        ensure(faults.len() == usize::from(i % 2 == 0), || format!("batch {i}: {faults:?}"))?;
    }
    let starts: Vec<u32> = decoded.iter().map(|decoded| decoded.first_slot).collect();
    ensure(starts[..3] == [0, 5, 17] && starts[3..5] == [0, 0], || format!("they begin at {starts:?}"))
}

/// Compares a frame's records with its planes; gives their words.
fn compare_records(layout: &FrameLayout, planes: &[u32], words: &[u32], places: &[u32]) -> Result<usize, String> {
    let mut rest = planes;
    let mut total = 0;
    for (block, &place) in (0..).zip(places) {
        let (planes, later) = rest.split_at(layout.block_words(block) as usize);
        rest = later;
        let expected = cpu::pack_blocks::record(planes, layout.plane_words(block));
        let found = words.get(place as usize..).and_then(|words| words.get(..expected.len())).unwrap_or_default();
        ensure(found == expected, || {
            let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            format!("block {block}: record at {place} differs from word {first:?} of {} on", expected.len())
        })?;
        total += expected.len();
    }
    Ok(total)
}

pub async fn every_type_and_shape_decodes_exactly(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(1);
    let types = [Dtype::U8, Dtype::U16, Dtype::U32, Dtype::I8, Dtype::I16, Dtype::I32];
    let shapes = [
        (192, 192, 0),
        (3, 3, 0),
        (1, 1, 0),
        (1, 7, 8),
        (8, 1, 8),
        (96, 96, 0),
        (65, 63, 512),
        (33, 31, 24),
        (17, 16, 272),
        (514, 7, 1000),
    ];
    for dtype in types {
        for (shape, (rows, cols, block_px)) in shapes.into_iter().enumerate() {
            // The reference filter's default is 8 KiB.
            let layout = layout(dtype, rows, cols, if block_px == 0 { 8192 / dtype.bytes() } else { block_px });
            let mut chunks = Vec::new();
            for frame in 0..if shape == 0 { 5 } else { 19 } {
                let pixels = pixels(&mut random, frame, &layout);
                let chunk = chunk_of(&layout, &pixels);
                let planes = cpu::decode::planes(&layout, &chunk);
                ensure(planes == Ok(planes_of(&layout, &pixels)), || format!("{layout:?}: the CPU twin is wrong"))?;
                chunks.push(chunk);
            }
            twins.without_faults(&layout, &chunks).await?;
        }
    }
    Ok(())
}

/// Little-endian pixels: empty, saturated, one count, noise, sparse counts, few values.
fn pixels(random: &mut Random, frame: u32, layout: &FrameLayout) -> Vec<u8> {
    let bytes = layout.dtype.bytes() as usize;
    let len = layout.detector.pixels() as usize;
    match frame % 6 {
        0 => vec![0; len * bytes],
        1 => vec![255; len * bytes],
        2 => (0..len * bytes).map(|i| u8::from(i == len / 2 * bytes)).collect(),
        3 => random.bytes(len * bytes),
        4 => (0..len).flat_map(|_| (random.below(20) / 17).to_le_bytes()[..bytes].to_vec()).collect(),
        _ => (0..len).flat_map(|i| (i as u32 / 5 % 300 * random.below(2)).to_le_bytes()[..bytes].to_vec()).collect(),
    }
}

pub async fn matches_of_every_offset_and_length_are_copied(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(2);
    let size = 8192;
    let layout = one_block(size);
    let mut chunks = Vec::new();
    for offset in (1..=40).chain([63, 64, 65, 127, 255, 256, 257, 511, 512, 513, 1024, 2000]) {
        for zeros in [false, true] {
            let mut stream = Stream::of(size as usize);
            let first = if zeros { vec![0; offset + 3] } else { random.bytes(offset + offset % 4) };
            stream.sequence(&first, offset as u16, 4);
            for len in (4..60).chain([63, 64, 65, 269, 270, 271, 273, 274, 511, 512, 513, 524, 525, 526, 529, 900]) {
                let literals = random.below(6) as usize * usize::from(!zeros || len % 7 == 0);
                if stream.room() > literals + len {
                    let literals = random.bytes(literals);
                    stream.sequence(&literals, offset as u16, len);
                }
            }
            let rest = stream.room();
            chunks.push(chunk_of_streams(&layout, &[stream.end(&random.bytes(rest))], &[]));
        }
    }
    twins.without_faults(&layout, &chunks).await
}

/// A stream of random sequences, with the lengths at which the format or the kernel changes its ways.
fn random_stream(random: &mut Random, size: usize) -> Vec<u8> {
    let turning_points =
        [0, 1, 3, 4, 5, 14, 15, 16, 18, 19, 20, 31, 32, 33, 255, 256, 269, 270, 271, 273, 274, 524, 525, 526, 780];
    let length = |random: &mut Random| match random.below(4) {
        0 => turning_points[random.below(turning_points.len() as u32) as usize],
        1 => random.below(90) as usize,
        _ => random.below(9) as usize,
    };
    let mut stream = Stream::of(size);
    loop {
        let literals = length(random);
        let literals = if random.below(3) == 0 { vec![0; literals] } else { random.bytes(literals) };
        let len = 4 + length(random);
        let reach = (stream.made + literals.len()).min(65535) as u32;
        if reach == 0 {
            continue;
        }
        if literals.len() + len > stream.room() {
            let rest = stream.room();
            return stream.end(&random.bytes(rest));
        }
        let near = if random.below(2) == 0 { reach } else { reach.min(12) };
        stream.sequence(&literals, 1 + random.below(near) as u16, len);
    }
}

pub async fn random_streams_are_decoded(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(3);
    for size in [8, 16, 24, 128, 1000, 4096, 8192] {
        let layout = one_block(size);
        let chunks: Vec<_> =
            (0..70).map(|_| chunk_of_streams(&layout, &[random_stream(&mut random, size as usize)], &[])).collect();
        twins.without_faults(&layout, &chunks).await?;
    }
    Ok(())
}

pub async fn blocks_beyond_the_reach_of_an_offset_are_decoded(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(4);
    let size = 200_000;
    let layout = one_block(size as u32);
    let mut far = Stream::of(size);
    let far = far.sequence(&random.bytes(65_535), u16::MAX, 70_000).sequence(&[9], u16::MAX, 30_000);
    let far = {
        let rest = far.room();
        far.end(&random.bytes(rest))
    };
    let mut run = Stream::of(size);
    let run = {
        run.sequence(&[0], 1, size - 5);
        run.end(&[1, 2, 3, 4])
    };
    let mut ones = Stream::of(size);
    let ones = {
        ones.sequence(&[1], 1, size - 1);
        ones.end(&[])
    };
    let literals = Stream::of(size).end(&random.bytes(size));
    let streams = [far, run, ones, literals, random_stream(&mut random, size)];
    twins.without_faults(&layout, &streams.map(|stream| chunk_of_streams(&layout, &[stream], &[]))).await
}

pub async fn each_fault_fails_its_frame_alone(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    use ChunkFault::*;
    let mut random = Random(5);
    let layout = layout(Dtype::U16, 12, 13, 64);
    let good = |random: &mut Random| {
        let values: Vec<u8> = (0..156).flat_map(|_| [random.below(5) as u8, 0]).collect();
        chunk_of(&layout, &values)
    };
    // The second block of the chunk made of `stream`; the others are noise.
    let bad = |random: &mut Random, stream: Vec<u8>| {
        let noise = |random: &mut Random, len| Stream::of(len).end(&random.bytes(len));
        let streams = [noise(random, 128), stream, noise(random, 48)];
        chunk_of_streams(&layout, &streams, &random.bytes(8))
    };
    let mut chunks = vec![good(&mut random)];
    let mut expected = Vec::new();
    let streams: [(Vec<u8>, ChunkFault); 12] = [
        (vec![], ShortOutput),
        (vec![0x10, 1, 0, 0, 0], OffsetZero),
        (vec![0x10, 1, 2, 0, 0], OffsetBeforeBlock),
        (vec![0xF0, 255], InputOverrun),
        (vec![0x1F, 1, 1, 0, 255, 0], OutputOverrun),
        (vec![0x1F, 1, 1, 0, 100, 0x10, 3], ShortOutput),
        (vec![0x1F, 1, 1, 0, 108], InputOverrun),
        (vec![0x1F, 1, 1, 0, 108, 0x10, 3], TrailingInput),
        (vec![0x1F, 1, 1, 0, 109, 0x10, 3], OutputOverrun),
        ([&[0xF0, 114][..], &[7; 129]].concat(), OutputOverrun),
        (vec![0x1F, 1, 1, 0, 107, 0x20, 3, 4], OutputOverrun),
        (vec![0x1F, 1, 1, 0, 108, 0x20, 3, 4, 5], TrailingInput),
    ];
    for (stream, fault) in streams {
        chunks.push(bad(&mut random, stream));
        expected.push((fault, 1));
        chunks.push(good(&mut random));
    }
    let mut headers = [chunks[0].clone(), chunks[0].clone(), chunks[0].clone(), chunks[0].clone(), chunks[0].clone()];
    headers[0][7] += 1;
    headers[1][3] = 1;
    headers[2][10] ^= 1;
    headers[3][12] = 0x7F;
    headers[4].truncate(11);
    for (chunk, fault) in headers.into_iter().zip([DecodedSize, DecodedSize, BlockSize, BlockLength, ChunkTooShort]) {
        chunks.push(chunk);
        expected.push((fault, 0));
    }
    let mut tail = chunks[0].clone();
    tail.pop();
    chunks.push(tail);
    expected.push((ChunkTooShort, 2));
    chunks.push(good(&mut random));
    let faults = twins.faults(&layout, &Chunks::of(&chunks)).await?;
    let found: Vec<_> = faults.iter().map(|fault| (fault.fault, fault.block)).collect();
    ensure(found == expected, || format!("expected {expected:?}, found {found:?}"))
}

pub async fn the_lowest_bad_block_is_named(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(6);
    let layout = layout(Dtype::U8, 8, 32, 16);
    let chunks: Vec<_> = (0..40)
        .map(|_| {
            let stream = |random: &mut Random| match random.below(5) {
                0 => vec![0x10, 1, 0, 0],
                1 => vec![0x10, 1],
                _ => Stream::of(16).end(&random.bytes(16)),
            };
            let streams: Vec<_> = (0..16).map(|_| stream(&mut random)).collect();
            chunk_of_streams(&layout, &streams, &[])
        })
        .collect();
    let faults = twins.faults(&layout, &Chunks::of(&chunks)).await?;
    ensure(faults.len() > 30, || format!("{} frames failed", faults.len()))
}

pub async fn mutated_chunks_get_the_verdict_of_the_cpu(context: &Context) -> Verdict {
    let twins = Twins::on(context).await?;
    let mut random = Random(7);
    let layout = layout(Dtype::U16, 19, 23, 160);
    let mut chunks = Chunks::default();
    for frame in 0..3000 {
        let mut chunk = chunk_of(&layout, &pixels(&mut random, frame, &layout));
        if frame % 4 == 0 {
            let streams = [320, 320, 224].map(|size| random_stream(&mut random, size));
            chunk = chunk_of_streams(&layout, &streams, &random.bytes(10));
        }
        for _ in 0..=random.below(3) {
            let at = random.below(chunk.len() as u32) as usize;
            chunk[at] = random.word() as u8;
        }
        chunks.push(&chunk);
        if frame % 9 == 0 {
            let last = chunks.slots.last_mut().ok_or("a chunk was pushed")?;
            last.len_bytes -= random.below(last.len_bytes);
        }
        lz4_flex_agrees(&layout, chunks.chunk(frame as usize))?;
    }
    let faults = twins.faults(&layout, &chunks).await?;
    ensure((500..2900).contains(&faults.len()), || format!("{} of 3000 mutated chunks failed", faults.len()))
}

/// The CPU twin accepts a block exactly when lz4_flex fills it, with the same bytes.
fn lz4_flex_agrees(layout: &FrameLayout, chunk: &[u8]) -> Verdict {
    let chunk_layout = cpu::frame_headers::ChunkLayout::of(layout);
    let Ok(parts) = cpu::frame_headers::walk(&chunk_layout, chunk) else { return Ok(()) };
    for (block, range) in (0..).zip(parts.blocks) {
        let size = chunk_layout.bytes_of(block) as usize;
        let (mut ours, mut theirs) = (vec![0; size], vec![0; size]);
        let accepted = cpu::lz4::decode(&chunk[range.clone()], &mut ours).is_ok();
        let filled = lz4_flex::block::decompress_into(&chunk[range.clone()], &mut theirs).ok() == Some(size);
        ensure(accepted == filled && (!accepted || ours == theirs), || {
            format!("lz4_flex disagrees on {:?}", &chunk[range])
        })?;
    }
    Ok(())
}

pub async fn a_batch_of_more_workgroups_than_a_row_holds(context: &Context) -> Verdict {
    let limits = wgpu::Limits { max_compute_workgroups_per_dimension: 40, ..context.limits.clone() };
    let context = &context.within(limits);
    let twins = Twins::on(context).await?;
    let mut random = Random(8);
    let layout = layout(Dtype::U8, 3, 7, 8);
    for frames in [13, 14, 2700] {
        let chunks: Vec<_> = (0..frames).map(|_| chunk_of(&layout, &random.bytes(21))).collect();
        twins.without_faults(&layout, &chunks).await?;
    }
    Ok(())
}

/// The scratch of one batch serves the next, and batches on their way together have one each.
pub async fn a_decoder_used_again_forgets_the_last_batch(context: &Context) -> Verdict {
    let mut random = Random(9);
    let layout = layout(Dtype::U16, 21, 11, 64);
    let mut batch = |frames: u32, first: u32| {
        Chunks::of(
            &(0..frames).map(|i| chunk_of(&layout, &pixels(&mut random, first + 3 * i, &layout))).collect::<Vec<_>>(),
        )
    };
    let (noise, counts) = (batch(40, 0), batch(33, 1));
    let mut damaged = batch(40, 2);
    damaged.bytes[12] = 0xFF;
    let decoder = Decoder::new(context, layout, 40, Method::default()).await.map_err(said)?;
    for (chunks, faults) in [(&noise, 0), (&damaged, 1), (&counts, 0), (&noise, 0)] {
        let found = compared(context, &decoder, &layout, chunks).await?;
        ensure(found.len() == faults, || format!("{found:?}"))?;
    }
    let mut batches = [&noise, &counts].map(|chunks| (Box::pin(compared(context, &decoder, &layout, chunks)), None));
    std::future::poll_fn(|task| {
        for (batch, answer) in batches.iter_mut().filter(|(_, answer)| answer.is_none()) {
            if let Poll::Ready(faults) = batch.as_mut().poll(task) {
                *answer = Some(faults);
            }
        }
        if batches.iter().any(|(_, answer)| answer.is_none()) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    for (_, answer) in batches {
        ensure(answer == Some(Ok(vec![])), || format!("{answer:?}"))?;
    }
    Ok(())
}

/// Streams of a few bytes that unpack to nothing but words of their own: far more than is reserved for them.
pub async fn records_that_outgrow_their_arena_are_decoded_again(context: &Context) -> Verdict {
    let layout = layout(Dtype::U16, 64, 64, 4096);
    let chunks: Vec<_> = (0..70).map(|i| chunk_of(&layout, &vec![1 + i as u8; 8192])).collect();
    let chunks = Chunks::of(&chunks);
    let decoder = Decoder::new(context, layout, 70, Method::default()).await.map_err(said)?;
    for _ in 0..2 {
        let faults = compared(context, &decoder, &layout, &chunks).await?;
        ensure(faults.is_empty(), || format!("{faults:?}"))?;
    }
    Ok(())
}

pub async fn every_output_of_every_kernel_is_what_the_cpu_makes(context: &Context) -> Verdict {
    let mut random = Random(10);
    let context = &Rc::new(context.within(context.limits.clone()));
    for (dtype, rows, cols) in [(Dtype::I16, 64, 96), (Dtype::U32, 64, 48)] {
        let layout = layout(dtype, rows, cols, 8192 / dtype.bytes());
        let frames: Vec<_> = (0..13).map(|frame| pixels(&mut random, frame, &layout)).collect();
        let mut chunks = Chunks::default();
        frames.iter().for_each(|pixels| chunks.push(&chunk_of(&layout, pixels)));
        // The last chunk is damaged.
        chunks.slots[12].len_bytes -= 1;
        let set = [Compressed { buffer: Rc::new(chunks.upload(context)?), slots: chunks.slots.clone() }];
        // Making a pipeline takes longer than a run: one workgroup, and all outputs for one type only.
        let mut methods = Method::all(&layout);
        methods.dedup_by_key(|method| method.variant);
        for method in methods {
            let outputs = if dtype == Dtype::I16 && method.variant != Variant::BlockCoop { 4 } else { 1 };
            let is_wanted = |output: &&Output| dtype == Dtype::I16 || **output != Output::Planes;
            for &output in Output::of(method.variant).iter().filter(is_wanted).take(outputs) {
                let at = || format!("{layout:?}, {method:?}, {output:?}");
                let trial = Trial::new(context, layout, method, output, &set).await.map_err(said)?;
                let found = trial.hashes(context, &set, 200).await.map_err(said)?;
                let (mut hashes, mut all_outside) = (vec![None; 200], 0);
                for (slot, pixels) in chunks.slots.iter().zip(&frames).take(12) {
                    let (hash, outside) = expected_output(&layout, pixels, output);
                    hashes[slot.frame as usize] = Some(hash);
                    all_outside += outside;
                }
                ensure(found.0 == hashes, || format!("{}: {:?} instead of {hashes:?}", at(), found.0))?;
                let is_audited = matches!(output, Output::Pixels(PixelOutput::U8Clip | PixelOutput::U8Low));
                // The pixels of the damaged frame's good blocks are counted too.
                ensure(!is_audited || found.1 >= all_outside, || format!("{}: {} outside", at(), found.1))?;
            }
        }
    }
    Ok(())
}

/// The hash of a frame as the CPU writes it, and how many of its pixels lie outside 0 to 255.
fn expected_output(layout: &FrameLayout, pixels: &[u8], output: Output) -> (u64, u64) {
    let output = if let Output::Pixels(output) = output { output } else { PixelOutput::Exact };
    let planes = cpu::pixels_to_planes::planes(layout, pixels);
    let (bytes, outside) = cpu::block_pixels::pixels(layout, &planes, output);
    let dtype = if output == PixelOutput::Exact { layout.dtype } else { Dtype::U8 };
    let written = FrameLayout { dtype, ..*layout };
    let mut batch = cpu::planes::Batch::default();
    batch.push(&written, 0, &cpu::pixels_to_planes::planes(&written, &bytes));
    (batch.planes(&written, 0).map(|frame| cpu::hash_frames::weighted64(&frame)).unwrap_or_default(), outside)
}

pub async fn batches_are_as_large_as_the_limits_allow(context: &Context) -> Verdict {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, ..context.limits.clone() };
    let context = context.within(limits);
    // 8 planes of 256 words, 9 starts and 64 words of bitmaps, should nothing shrink.
    let frames = max_batch_frames(&context, &one_block(8192), Method::TEAM);
    ensure(frames == (1 << 20) / (4 * (2048 + 9 + 64)), || format!("{frames} frames"))?;
    ensure(max_batch_frames(&context, &one_block(1 << 20), Method::default()) == 0, || {
        "a frame beyond the limits".to_owned()
    })
}
