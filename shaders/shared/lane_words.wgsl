// The words of a plane that one invocation of a team takes, from the bitmaps of 128 words. Their loads do not wait
// for one another. A word that is not there is read as the next one, and not counted.

/// Words `lane`, 32 + lane, 64 + lane and 96 + lane, for a team of 32; `at` is where the first of all words lies.
fn four_words(found: vec4u, at: u32, lane: u32) -> vec4u {
    let place = places(found, at, lane);
    return load_words(place, (found >> vec4u(lane)) & vec4u(1u));
}

/// 4 neighbouring words of each bitmap, for a team of 8.
struct Sixteen {
    a: vec4u,
    b: vec4u,
    c: vec4u,
    d: vec4u,
}

fn sixteen_words(found: vec4u, at: u32, lane: u32) -> Sixteen {
    let place = places(found, at, 4u * lane);
    let bits = found >> vec4u(4u * lane);
    return Sixteen(
        neighbours(place.x, bits.x), neighbours(place.y, bits.y),
        neighbours(place.z, bits.z), neighbours(place.w, bits.w),
    );
}

// Where in each bitmap the first word from `bit` on lies.
fn places(found: vec4u, at: u32, bit: u32) -> vec4u {
    let ones = countOneBits(found);
    let before = vec4u(0u, ones.x, ones.x + ones.y, ones.x + ones.y + ones.z);
    return vec4u(at) + before + countOneBits(found & vec4u((1u << bit) - 1u));
}

fn neighbours(place: u32, bits: u32) -> vec4u {
    let here = (vec4u(bits) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
    return load_words(vec4u(place) + vec4u(0u, here.x, here.x + here.y, here.x + here.y + here.z), here);
}

fn load_words(place: vec4u, here: vec4u) -> vec4u {
    return vec4u(words[place.x], words[place.y], words[place.z], words[place.w]) & (vec4u(0u) - here);
}
