//! GPU passes against their CPU twins and against sums written out in the plainest way, on whatever Vulkan
//! driver `VK_ICD_FILENAMES` names. The bodies take a device and nothing else, so that a page can run them too.

mod products;
mod sample;

use std::rc::Rc;

use planescope::gpu::Context;

fn run<F: Future<Output = ()>>(body: impl FnOnce(Rc<Context>) -> F) {
    pollster::block_on(async {
        let context = Rc::new(Context::new().await.expect("a Vulkan driver, e.g. Mesa's lavapipe"));
        body(context.clone()).await;
        assert_eq!(context.errors(), Vec::<String>::new());
    });
}

macro_rules! twins {
    ($($module:ident: $($name:ident)*;)*) => {
        $($(#[test] fn $name() { run($module::$name); })*)*
    };
}

twins! {
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
        requests_under_way_together_do_not_disturb_each_other
        a_census_grows_with_the_batches;
}
