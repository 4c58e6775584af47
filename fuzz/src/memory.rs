//! Counts what the program holds, so that an input that asks for far more than it is worth is found.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The system's allocator, with counters.
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Bytes held now.
pub fn held() -> usize {
    HELD.load(Relaxed)
}

/// Forgets the peak so far.
pub fn forget_peak() {
    PEAK.store(held(), Relaxed);
}

/// Most bytes held since [`forget_peak`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

fn grow(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(held, Relaxed);
}

fn shrink(bytes: usize) {
    HELD.fetch_sub(bytes, Relaxed);
}

// SAFETY: every call goes to `System` with the caller's own arguments, and its answer back as it is; the counters
// neither allocate nor unwind.
#[expect(unsafe_code, reason = "a global allocator cannot be written without; nothing is done here but counting")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise for `alloc` is the one that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: `pointer` came from `System`, since all of ours do.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
