// Four words of a plane at once, a lane's share of 128: each lane of a team of 32 has one bit in each of four
// bitmaps. Their loads do not wait for one another.

const TEAM = 32u;

// The words of the bitmaps `found` that are `lane`'s; `at` is where the first of all their words lies.
fn four_words(found: vec4u, at: u32, lane: u32) -> vec4u {
    let ones = countOneBits(found);
    let before = vec4u(0u, ones.x, ones.x + ones.y, ones.x + ones.y + ones.z);
    let place = vec4u(at) + before + countOneBits(found & vec4u((1u << lane) - 1u));
    // A word that is not there is read as the next one, and not counted.
    let here = vec4u(0u) - ((found >> vec4u(lane)) & vec4u(1u));
    return vec4u(words[place.x], words[place.y], words[place.z], words[place.w]) & here;
}
