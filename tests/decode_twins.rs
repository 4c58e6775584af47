//! The GPU's decode against the CPU's, on the Vulkan driver that `VK_ICD_FILENAMES` names.

mod twins;

use planescope::gpu::Context;
use twins::{Verdict, decode};

fn run(body: impl AsyncFnOnce(&Context) -> Verdict) -> Verdict {
    pollster::block_on(async {
        let context = Context::new().await.map_err(|error| error.to_string())?;
        body(&context).await
    })
}

macro_rules! twin_tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() -> Verdict {
            run(decode::$name)
        })*
    };
}

twin_tests! {
    every_type_and_shape_decodes_exactly
    matches_of_every_offset_and_length_are_copied
    random_streams_are_decoded
    blocks_beyond_the_reach_of_an_offset_are_decoded
    each_fault_fails_its_frame_alone
    the_lowest_bad_block_is_named
    mutated_chunks_get_the_verdict_of_the_cpu
    a_batch_of_more_workgroups_than_a_row_holds
}
