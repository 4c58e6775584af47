//! Products of both engines against sums over pixels, on the Vulkan driver that `VK_ICD_FILENAMES` names.

mod twins;

use std::rc::Rc;

use planescope::gpu::Context;
use twins::{Verdict, ensure, products};

fn run(body: impl AsyncFnOnce(&Rc<Context>) -> Verdict) -> Verdict {
    pollster::block_on(async {
        let context = Rc::new(Context::new().await.map_err(|error| error.to_string())?);
        body(&context).await?;
        ensure(context.errors().is_empty(), || context.errors().join("; "))
    })
}

macro_rules! twin_tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() -> Verdict {
            run(products::$name)
        })*
    };
}

twin_tests! {
    products_of_one_pixel_are_exact
    products_of_3_by_3_u16_are_exact
    products_of_a_raw_tail_behind_one_block_are_exact
    products_of_17_by_31_u8_are_exact
    products_of_17_by_31_u32_in_many_blocks_are_exact
    products_of_65_by_63_i16_are_exact
    products_of_96_by_96_i8_in_blocks_across_words_are_exact
    products_of_192_by_192_u16_are_exact
    products_of_192_by_192_i32_are_exact
    requests_under_way_together_do_not_disturb_each_other
    a_census_grows_with_the_batches
    a_batch_of_more_workgroups_than_a_row_is_summed
    sums_over_hundreds_of_frames_carry_into_the_high_word
}
