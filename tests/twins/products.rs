//! Every product of both engines against sums over pixels.

use std::{fmt::Debug, rc::Rc};

use planescope::{
    Error,
    cpu::{self, pixels_to_planes},
    engine::{
        Census, ChunkFault, FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum,
        PixelSet, ScanSquares, ScanSums,
    },
    gpu::{self, Context},
    shape::{Detector, Dtype, FrameLayout, Scan},
};

use super::{
    Verdict, ensure,
    sample::{ABSENT, BROKEN, FRAMES, SENTINEL, Sample, batch, bytes},
};

/// Every body by its name, for a page that runs them all.
#[cfg(feature = "twins")]
pub async fn all(context: &Rc<Context>) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    macro_rules! verdicts {
        ($($name:ident)*) => { $(verdicts.push((stringify!($name), $name(context).await));)* };
    }
    verdicts! {
        products_of_one_pixel_are_exact
        products_of_3_by_3_u16_are_exact
        products_of_a_raw_tail_behind_one_block_are_exact
        products_of_17_by_31_u8_are_exact
        products_of_17_by_31_u32_in_many_blocks_are_exact
        products_of_65_by_63_i16_are_exact
        products_of_96_by_96_i8_in_blocks_across_words_are_exact
        products_of_192_by_192_u16_are_exact
        products_of_192_by_192_i32_are_exact
        products_of_planes_of_more_than_128_words_are_exact
        requests_under_way_together_do_not_disturb_each_other
        a_census_grows_with_the_batches
        batches_that_are_merged_answer_as_before
        a_pattern_of_more_workgroups_than_a_row_is_exact
        pixels_are_packed_as_they_are
        sums_over_hundreds_of_frames_carry_into_the_high_word
    }
    verdicts
}

pub async fn products_of_one_pixel_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(1, 1, Dtype::U8, 8)).await
}

pub async fn products_of_3_by_3_u16_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(3, 3, Dtype::U16, 4096)).await
}

pub async fn products_of_a_raw_tail_behind_one_block_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(3, 3, Dtype::I32, 8)).await
}

pub async fn products_of_17_by_31_u8_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(17, 31, Dtype::U8, 8192)).await
}

pub async fn products_of_17_by_31_u32_in_many_blocks_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(17, 31, Dtype::U32, 64)).await
}

pub async fn products_of_65_by_63_i16_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(65, 63, Dtype::I16, 4088)).await
}

pub async fn products_of_96_by_96_i8_in_blocks_across_words_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(96, 96, Dtype::I8, 1032)).await
}

pub async fn products_of_192_by_192_u16_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(192, 192, Dtype::U16, 4096)).await
}

pub async fn products_of_192_by_192_i32_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(192, 192, Dtype::I32, 2048)).await
}

/// 256 words a plane, and 160 in the last block.
pub async fn products_of_planes_of_more_than_128_words_are_exact(context: &Rc<Context>) -> Verdict {
    check(context, Sample::new(96, 224, Dtype::U8, 8192)).await
}

/// Ten requests before the first answer.
pub async fn requests_under_way_together_do_not_disturb_each_other(context: &Rc<Context>) -> Verdict {
    let sample = Sample::new(17, 31, Dtype::U16, 256);
    let engine = on_gpu(context, &sample).await?;
    let columns: Vec<_> =
        (0..10).map(|wanted| PixelSet::of(sample.layout.detector, move |_, col| col % 10 == wanted)).collect();
    let mut requests: Vec<_> = columns.iter().map(|columns| Box::pin(engine.virtual_image(columns))).collect();
    let mut answers: Vec<Option<Result<ScanSums, String>>> = vec![None; 10];
    std::future::poll_fn(|task| {
        for (request, answer) in requests.iter_mut().zip(&mut answers).filter(|(_, answer)| answer.is_none()).rev() {
            if let std::task::Poll::Ready(sums) = request.as_mut().poll(task) {
                *answer = Some(sums.map_err(told));
            }
        }
        if answers.contains(&None) { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    for (columns, answer) in columns.iter().zip(answers) {
        same("one of ten images", &answer, &Some(Ok(sums_of(&sample, columns))))?;
    }
    Ok(())
}

fn add(context: &Context, engine: &gpu::Engine, batch: &cpu::planes::Batch) -> Verdict {
    let uploaded = gpu::decode::Decoded::upload(context, batch).map_err(told)?;
    engine.add(&uploaded, &batch.frames, &batch.status).map_err(told)
}

pub async fn a_census_grows_with_the_batches(context: &Rc<Context>) -> Verdict {
    let mut sample = Sample::new(17, 31, Dtype::U16, 256);
    let batches = std::mem::take(&mut sample.batches);
    let engine = on_gpu(context, &sample).await?;
    let all_frames = sample.frames.clone();
    sample.frames.iter_mut().for_each(|frame| *frame = None);
    for batch in &batches {
        add(context, &engine, batch)?;
        batch.frames.iter().for_each(|&frame| sample.frames[frame as usize] = all_frames[frame as usize].clone());
        for good in [sample.good(), sample.good(), sample.good().without(&pixels_by_index(&sample, 5))] {
            same("census", &engine.census(&good).await.map_err(told)?, &census_of(&sample, &good))?;
        }
    }
    Ok(())
}

/// A batch a frame, so that there are enough to be merged twice; the census sees some of them before and some after.
pub async fn batches_that_are_merged_answer_as_before(context: &Rc<Context>) -> Verdict {
    let mut sample = Sample::new(17, 31, Dtype::U16, 256);
    sample.batches.clear();
    let engine = on_gpu(context, &sample).await?;
    let (good, all_frames) = (sample.good(), std::mem::replace(&mut sample.frames, vec![None; FRAMES as usize]));
    for frame in (0..FRAMES).filter(|&frame| frame != ABSENT) {
        let one = batch(&sample.layout, &[frame], &all_frames);
        add(context, &engine, &one)?;
        sample.frames[frame as usize].clone_from(&all_frames[frame as usize]);
        same("virtual image", &engine.virtual_image(&good).await.map_err(told)?, &sums_of(&sample, &good))?;
        if frame % 5 == 2 {
            same("census", &engine.census(&good).await.map_err(told)?, &census_of(&sample, &good))?;
        }
    }
    engine.set_missing(&[ABSENT]);
    let apart = engine.len_bytes();
    same("moments", &engine.moments(&good).await.map_err(told)?, &moments_of(&sample, &good))?;
    same("bytes", &engine.len_bytes(), &apart)?;
    for frame in 0..FRAMES {
        same("pattern", &engine.pattern(frame).await.map_err(told)?, &pattern_of(&sample, frame))?;
    }
    let hashes: Vec<_> = (0..FRAMES).map(|frame| hash_of(&sample, frame)).collect();
    same("hashes", &engine.hash_frames(&(0..FRAMES).collect::<Vec<_>>()).await.map_err(told)?, &hashes)?;
    same("census", &engine.census(&good).await.map_err(told)?, &census_of(&sample, &good))
}

/// 64 pixels to each of more than 65,535 workgroups.
pub async fn a_pattern_of_more_workgroups_than_a_row_is_exact(context: &Rc<Context>) -> Verdict {
    let detector = Detector { rows: 2100, cols: 2000 };
    let layout = FrameLayout { detector, dtype: Dtype::U8, block_px: 8192 };
    let pixels: Vec<u8> =
        (0..detector.pixels()).map(|pixel| if pixel % 7 == 0 { (pixel % 251) as u8 } else { 0 }).collect();
    let mut batch = cpu::planes::Batch::default();
    batch.push(&layout, 0, &pixels_to_planes::planes(&layout, &pixels));
    let engine = gpu::Engine::new(context.clone(), layout, 1).await.map_err(told)?;
    add(context, &engine, &batch)?;
    let found = engine.pattern(0).await.map_err(told)?;
    let expected: Vec<u32> = pixels.iter().map(|&value| value.into()).collect();
    ensure(found.pixels == expected, || "the pattern differs".into())
}

/// Pixels instead of records, in two calls, with a failed frame between valid ones, and a raw tail.
pub async fn pixels_are_packed_as_they_are(context: &Rc<Context>) -> Verdict {
    let shapes = [(1, 1, Dtype::U8, 8), (3, 3, Dtype::U16, 4096), (17, 31, Dtype::U8, 8192), (17, 31, Dtype::I32, 64)];
    let more = [(65, 63, Dtype::I16, 4088), (96, 96, Dtype::I8, 1032), (192, 192, Dtype::U32, 2048)];
    for (rows, cols, dtype, block_px) in shapes.into_iter().chain(more) {
        let sample = Sample::new(rows, cols, dtype, block_px);
        let engine = gpu::Engine::new(context.clone(), sample.layout, FRAMES).await.map_err(told)?;
        for frames in [[5, BROKEN, 1], [8, 4, 0]] {
            let fault = FrameFault { frame: BROKEN, fault: ChunkFault::Filter, block: 1 };
            let status = frames.map(|frame| if frame == BROKEN { fault.status() } else { 0 });
            let zeros = vec![0; (rows * cols) as usize];
            let pixels = |frame: u32| sample.frames[frame as usize].as_ref().unwrap_or(&zeros);
            let pixels: Vec<u8> = frames.iter().flat_map(|&frame| bytes(dtype, pixels(frame))).collect();
            engine.add_pixels(&frames, &status, &pixels).await.map_err(told)?;
        }
        for frame in [5, BROKEN, 1, 8, 4, 0] {
            let found = engine.pattern(frame).await.map_err(told)?;
            same(&format!("pattern {frame} of {rows} x {cols}"), &found, &pattern_of(&sample, frame))?;
        }
        same("faults", &engine.faults().len(), &1)?;
        let hashes = engine.hash_frames(&[1, BROKEN, 8]).await.map_err(told)?;
        same("hashes", &hashes, &[1, BROKEN, 8].map(|frame| hash_of(&sample, frame)).to_vec())?;
    }
    Ok(())
}

/// More frames than one lane adds up, with sums above 2^32, of both signs.
pub async fn sums_over_hundreds_of_frames_carry_into_the_high_word(context: &Rc<Context>) -> Verdict {
    for dtype in [Dtype::U32, Dtype::I32] {
        let layout = FrameLayout { detector: Detector { rows: 3, cols: 3 }, dtype, block_px: 8 };
        let pixel = |frame: u32, pixel: u32| match pixel {
            0 => u32::MAX,
            1 => 1 << 31,
            _ => frame.wrapping_mul(0x9E37_79B9).rotate_left(pixel),
        };
        let mut batch = cpu::planes::Batch::default();
        for frame in 0..300 {
            let bytes: Vec<u8> = (0..9).flat_map(|p| pixel(frame, p).to_le_bytes()).collect();
            batch.push(&layout, frame, &pixels_to_planes::planes(&layout, &bytes));
        }
        let engine = gpu::Engine::new(context.clone(), layout, 300).await.map_err(told)?;
        add(context, &engine, &batch)?;
        let total = engine.sum_pattern(&Frames::All).await.map_err(told)?;
        let value =
            |frame, p| if dtype == Dtype::I32 { i64::from(pixel(frame, p) as i32) } else { pixel(frame, p).into() };
        let of = |p: u32| (0..300).map(move |frame| value(frame, p));
        same("sum", &total.sum, &(0..9).map(|p| of(p).sum::<i64>() as u64).collect())?;
        let most = engine.max_pattern(&Frames::All).await.map_err(told)?;
        same("max", &most.max, &(0..9).map(|p| of(p).max().unwrap_or(0) as u32).collect())?;
        same("frames", &total.frames, &300)?;
        let squares = engine.square_pattern(&Frames::All).await.map_err(told)?;
        let square = |p: u32| of(p).map(|value: i64| i128::from(value).pow(2) as u128).sum();
        same("squares", &squares.square, &(0..9).map(square).collect())?;
    }
    Ok(())
}

async fn check(context: &Rc<Context>, mut sample: Sample) -> Verdict {
    let on_gpu = on_gpu(context, &sample).await?;
    let on_cpu = cpu::Engine::new(sample.layout, FRAMES, Box::new(|| Box::pin(async {}))).map_err(told)?;
    for batch in &sample.batches {
        on_cpu.add(batch.clone()).map_err(told)?;
    }
    on_gpu.set_missing(&[ABSENT]);
    on_cpu.set_missing(&[ABSENT]);

    let good = sample.good();
    let census = census_of(&sample, &good);
    same("census, CPU", &on_cpu.census(&good).await, &census)?;
    same("census, GPU", &on_gpu.census(&good).await.map_err(told)?, &census)?;
    on_gpu.exclude(&census.sentinel_frames);
    on_cpu.exclude(&census.sentinel_frames);
    ensure(census.sentinel_frames.contains(&SENTINEL), || "the sentinel frame is not told".into())?;
    sample.excluded = census.sentinel_frames;
    same("states", &on_cpu.frame_states(), &on_gpu.frame_states())?;
    same("state of the absent frame", &on_gpu.frame_states()[ABSENT as usize], &FrameState::Missing)?;
    let fault = FrameFault { frame: BROKEN, fault: ChunkFault::OffsetZero, block: 2 };
    same("faults", &on_gpu.faults(), &vec![fault])?;

    for pixels in [good, everything(&sample), nothing(&sample), pixels_by_index(&sample, 7)] {
        let sums = sums_of(&sample, &pixels);
        same("virtual image, CPU", &on_cpu.virtual_image(&pixels).await, &sums)?;
        same("virtual image, GPU", &on_gpu.virtual_image(&pixels).await.map_err(told)?, &sums)?;
        let moments = moments_of(&sample, &pixels);
        same("moments, CPU", &on_cpu.moments(&pixels).await, &moments)?;
        same("moments, GPU", &on_gpu.moments(&pixels).await.map_err(told)?, &moments)?;
        let squares = squares_of(&sample, &pixels);
        same("squares, CPU", &on_cpu.squares(&pixels).await, &squares)?;
        same("squares, GPU", &on_gpu.squares(&pixels).await.map_err(told)?, &squares)?;
    }
    for frame in 0..=FRAMES {
        let pattern = pattern_of(&sample, frame);
        same(&format!("pattern {frame}, CPU"), &on_cpu.pattern(frame).await, &pattern)?;
        same(&format!("pattern {frame}, GPU"), &on_gpu.pattern(frame).await.map_err(told)?, &pattern)?;
    }
    let rect = Frames::Rect { scan: Scan { rows: 3, cols: 5 }, rows: 0..2, cols: 1..4 };
    for frames in [Frames::All, rect, Frames::Bits(vec![1 << 5 | 1 << 8 | 1 << BROKEN]), Frames::Bits(vec![])] {
        let total = total_of(&sample, &frames);
        same(&format!("sum pattern {frames:?}, CPU"), &on_cpu.sum_pattern(&frames).await, &total)?;
        same(&format!("sum pattern {frames:?}, GPU"), &on_gpu.sum_pattern(&frames).await.map_err(told)?, &total)?;
        let most = most_of(&sample, &frames);
        same(&format!("max pattern {frames:?}, CPU"), &on_cpu.max_pattern(&frames).await, &most)?;
        same(&format!("max pattern {frames:?}, GPU"), &on_gpu.max_pattern(&frames).await.map_err(told)?, &most)?;
        let squares = PatternSquares { square: pattern_squares_of(&sample, &frames), total };
        same(&format!("square pattern {frames:?}, CPU"), &on_cpu.square_pattern(&frames).await, &squares)?;
        let found = on_gpu.square_pattern(&frames).await.map_err(told)?;
        same(&format!("square pattern {frames:?}, GPU"), &found, &squares)?;
    }
    for frames in [vec![12, 0, 0, BROKEN, ABSENT, SENTINEL, 77], (0..FRAMES).collect()] {
        let hashes = frames.iter().map(|&frame| hash_of(&sample, frame)).collect::<Vec<_>>();
        same("hashes, CPU", &on_cpu.hash_frames(&frames).await, &hashes)?;
        same("hashes, GPU", &on_gpu.hash_frames(&frames).await.map_err(told)?, &hashes)?;
    }
    Ok(())
}

/// Fails when the two differ; the message is cut to a readable length.
fn same<T: PartialEq + Debug>(what: &str, found: &T, expected: &T) -> Verdict {
    let cut = |value: &T| format!("{value:?}").chars().take(400).collect::<String>();
    ensure(found == expected, || format!("{what}: {} instead of {}", cut(found), cut(expected)))
}

fn told(error: Error) -> String {
    error.to_string()
}

async fn on_gpu(context: &Rc<Context>, sample: &Sample) -> Result<gpu::Engine, String> {
    let engine = gpu::Engine::new(context.clone(), sample.layout, FRAMES).await.map_err(told)?;
    for batch in &sample.batches {
        add(context, &engine, batch)?;
    }
    Ok(engine)
}

fn everything(sample: &Sample) -> PixelSet {
    PixelSet::of(sample.layout.detector, |_, _| true)
}

fn nothing(sample: &Sample) -> PixelSet {
    PixelSet::of(sample.layout.detector, |_, _| false)
}

/// Every `step`th pixel of the upper half.
fn pixels_by_index(sample: &Sample, step: u32) -> PixelSet {
    let detector = sample.layout.detector;
    PixelSet::of(detector, |row, col| 2 * row <= detector.rows && (row * detector.cols + col).is_multiple_of(step))
}

/// Sum over the pixels of a valid frame, each times what `factor` says of (row, column).
fn sum_of(sample: &Sample, frame: u32, pixels: &PixelSet, factor: impl Fn(u32, u32) -> u32) -> u64 {
    let Some(values) = sample.frames[frame as usize].as_ref().filter(|_| sample.is_valid(frame)) else {
        return 0;
    };
    let cols = sample.layout.detector.cols;
    let counted = (0..).zip(values).filter(|(pixel, _)| pixels.contains(*pixel));
    let sum: i128 = counted.map(|(p, &value)| i128::from(value) * i128::from(factor(p / cols, p % cols))).sum();
    sum as u64
}

fn sums_of(sample: &Sample, pixels: &PixelSet) -> ScanSums {
    let sum = (0..FRAMES).map(|frame| sum_of(sample, frame, pixels, |_, _| 1)).collect();
    ScanSums { sum, valid: valid(sample) }
}

fn moments_of(sample: &Sample, pixels: &PixelSet) -> Moments {
    let sums = |factor: fn(u32, u32) -> u32| (0..FRAMES).map(|frame| sum_of(sample, frame, pixels, factor)).collect();
    Moments { sum: sums(|_, _| 1), sum_row: sums(|row, _| row), sum_col: sums(|_, col| col), valid: valid(sample) }
}

fn squares_of(sample: &Sample, pixels: &PixelSet) -> ScanSquares {
    let square = |frame: u32| {
        let values = sample.frames[frame as usize].as_ref().filter(|_| sample.is_valid(frame));
        let counted = (0..).zip(values.into_iter().flatten()).filter(|(pixel, _)| pixels.contains(*pixel));
        counted.map(|(_, &value)| i128::from(value).pow(2) as u128).sum()
    };
    let ScanSums { sum, valid } = sums_of(sample, pixels);
    ScanSquares { sum, square: (0..FRAMES).map(square).collect(), valid }
}

fn pattern_squares_of(sample: &Sample, frames: &Frames) -> Vec<u128> {
    let chosen: Vec<_> = (0..FRAMES).filter(|&frame| sample.is_valid(frame) && frames.contains(frame)).collect();
    let patterns: Vec<_> = chosen.iter().flat_map(|&frame| &sample.frames[frame as usize]).collect();
    let square = |pixel: usize| patterns.iter().map(|pattern| i128::from(pattern[pixel]).pow(2) as u128).sum();
    (0..sample.layout.detector.pixels() as usize).map(square).collect()
}

fn valid(sample: &Sample) -> Vec<u8> {
    (0..FRAMES).map(|frame| sample.is_valid(frame).into()).collect()
}

fn pattern_of(sample: &Sample, frame: u32) -> Pattern {
    let values = sample.frames.get(frame as usize).into_iter().flatten().flatten();
    let state = match frame {
        BROKEN => FrameState::Failed,
        ABSENT | FRAMES => FrameState::Missing,
        _ if sample.excluded.contains(&frame) => FrameState::Sentinel,
        _ => FrameState::Valid,
    };
    Pattern { pixels: values.map(|&value| value as u32).collect(), state }
}

fn total_of(sample: &Sample, frames: &Frames) -> PatternSum {
    let chosen: Vec<_> = (0..FRAMES).filter(|&frame| sample.is_valid(frame) && frames.contains(frame)).collect();
    let patterns: Vec<_> = chosen.iter().flat_map(|&frame| &sample.frames[frame as usize]).collect();
    let pixels = 0..sample.layout.detector.pixels() as usize;
    PatternSum {
        sum: pixels.map(|pixel| patterns.iter().map(|pattern| pattern[pixel]).sum::<i64>() as u64).collect(),
        frames: chosen.len() as u32,
    }
}

fn most_of(sample: &Sample, frames: &Frames) -> PatternMax {
    let chosen: Vec<_> = (0..FRAMES).filter(|&frame| sample.is_valid(frame) && frames.contains(frame)).collect();
    let patterns: Vec<_> = chosen.iter().flat_map(|&frame| &sample.frames[frame as usize]).collect();
    let least = if sample.layout.dtype.is_signed() { -1 << (sample.layout.dtype.bits() - 1) } else { 0 };
    let pixels = 0..sample.layout.detector.pixels() as usize;
    let max = pixels.map(|p| patterns.iter().map(|pattern| pattern[p]).max().unwrap_or(least) as u32).collect();
    PatternMax { max, frames: chosen.len() as u32 }
}

fn census_of(sample: &Sample, good: &PixelSet) -> Census {
    let is_sentinel = |value: i64| match sample.layout.dtype.is_signed() {
        true => value < 0,
        false => value == (1 << sample.layout.dtype.bits()) - 1,
    };
    let count = |pattern: &[i64]| {
        (0..).zip(pattern).filter(|(pixel, value)| good.contains(*pixel) && is_sentinel(**value)).count() as u32
    };
    let decoded: Vec<_> = (0..).zip(&sample.frames).filter_map(|(f, pattern)| Some((f, pattern.as_ref()?))).collect();
    let is_dead = |pattern: &[i64]| good.count() > 0 && count(pattern) == good.count();
    let live: Vec<_> = decoded.iter().filter(|(_, pattern)| !is_dead(pattern)).collect();
    let always = PixelSet::of(sample.layout.detector, |row, col| {
        let pixel = row * sample.layout.detector.cols + col;
        let sentinel = live.iter().all(|(_, pattern)| is_sentinel(pattern[pixel as usize]));
        !live.is_empty() && good.contains(pixel) && sentinel
    });
    Census {
        sentinel_pixels: always.words,
        sentinel_frames: decoded.iter().filter(|(_, pattern)| is_dead(pattern)).map(|(frame, _)| *frame).collect(),
        sentinel_samples: decoded.iter().map(|(_, pattern)| u64::from(count(pattern))).sum(),
    }
}

/// `weighted64`, written out.
fn hash_of(sample: &Sample, frame: u32) -> Option<u64> {
    let mix = |seed: u32| {
        let x = (seed ^ seed >> 16).wrapping_mul(0x85EB_CA6B);
        let x = (x ^ x >> 13).wrapping_mul(0xC2B2_AE35);
        (x ^ x >> 16) | 1
    };
    let pattern = sample.frames.get(frame as usize)?.as_ref()?;
    let sum = |odd| {
        let terms = (0u32..).zip(pattern).map(|(p, &value)| (value as u32).wrapping_mul(mix(2 * p + odd)));
        terms.fold(0, u32::wrapping_add)
    };
    Some(u64::from(sum(0)) << 32 | u64::from(sum(1)))
}
