// Numbers the workgroups of a dispatch that was folded into rows (gpu::grid).
fn group_index(group: vec3u, groups: vec3u) -> u32 {
    return group.y * groups.x + group.x;
}
