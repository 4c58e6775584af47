//! Every pass on the GPU against its CPU twin, on the Vulkan driver that `VK_ICD_FILENAMES` names.

#[path = "mod.rs"]
mod bodies;

use std::rc::Rc;

use bodies::{Verdict, ensure};
use planescope::gpu::Context;

fn run(body: impl AsyncFnOnce(&Rc<Context>) -> Verdict) -> Verdict {
    pollster::block_on(async {
        let context = Rc::new(Context::new().await.map_err(|error| error.to_string())?);
        body(&context).await?;
        ensure(context.errors().is_empty(), || context.errors().join("; "))
    })
}

macro_rules! twin_tests {
    ($module:ident: $($name:ident)*) => {
        mod $module {
            $(#[test]
            fn $name() -> super::Verdict {
                super::run(async |context| super::bodies::$module::$name(context).await)
            })*
        }
    };
}

twin_tests! {
    decode:
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

twin_tests! {
    hostile:
    every_decoder_gives_hostile_chunks_the_verdict_of_the_cpu
}

twin_tests! {
    products:
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

twin_tests! {
    words:
    words_that_differ_are_counted
}
