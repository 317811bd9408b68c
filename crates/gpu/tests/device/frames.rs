//! Accesses find every word of every frame, in each number of pools.

use std::num::NonZeroU32;

use kvrm_gpu::Buffer;
use kvrm_gpu::pipeline::Shader;
use kvrm_shaders::interface::machine::MachineGroup;
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::layout::FRAME_WORDS;
use kvrm_shaders::link_source;
use kvrm_shaders::variants::FramePools;

use crate::support::device;

/// The frames of a pool.
const POOL_FRAMES: usize = 4;
/// Adds one to the high half of each word of each frame, in several ways. A word whose low half is not its own number gets
/// the high half of `WRONG`, and so does a word of a frame whose handle is not that of its number.
const KERNEL: &str = "
import package::machine::frames::{
    frame_half, frame_handle, frame_load, frame_number, frame_store, frame_store_half,
};

const WRONG = 0xdead0000u;

@compute @workgroup_size(64)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    let number = id.x / 512u;
    let word = id.x % 512u;
    // An entry of the TLB has permissions beside the handle.
    let frame = frame_handle(number) | (word & 3u);
    let is_right = frame_number(frame) == number && frame_half(frame, word, 0u) == id.x;
    if !is_right {
        frame_store_half(frame, word, 1u, WRONG);
    } else if (word & 4u) == 0u {
        frame_store_half(frame, word, 1u, frame_half(frame, word, 1u) + 1u);
    } else {
        frame_store(frame, word, frame_load(frame, word) + 0x100000000lu);
    }
}
";

/// The number of bindings before those of frames.
const FIRST_POOL: u32 = MachineGroup::<()>::BINDINGS.len() as u32;

/// Returns the layout of the buffers before those of frames and `pools` bindings, the last of which may be an array.
fn layout(pools: usize, array: Option<u32>) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..FIRST_POOL + pools as u32)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: array.filter(|_| binding == FIRST_POOL).and_then(NonZeroU32::new),
        })
        .collect();
    device().raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("frames"),
        entries: &entries,
    })
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_word_of_every_frame_is_found_in_all_numbers_of_pools() {
    let buffers = device().limits().storage_buffers as usize;
    let fitting = FramePools::ALL.iter().filter(|pools| match pools {
        FramePools::Array => device().info().has_buffer_arrays,
        _ => pools.pools() + FIRST_POOL as usize <= buffers,
    });
    assert!(fitting.clone().count() >= 1, "a shader may have {buffers} buffers");
    for pools in fitting {
        let count = pools.pools();
        let linked = link_source("tests::frames", KERNEL, pools.substitutions()).expect("links");
        let locate =
            |line| linked.locate(line).map_or(("".into(), 0), |(path, line)| (path.to_owned(), line));
        let shader = Shader::compile(device(), &linked.source, &locate).expect("the shader is valid");
        let is_array = *pools == FramePools::Array;
        let layout = layout(if is_array { 1 } else { count }, is_array.then_some(count as u32));
        let pool_words = POOL_FRAMES * FRAME_WORDS as usize;
        let shift = [("POOL_SHIFT", f64::from(pool_words.ilog2()))];
        let constants = if count == 1 { &shift[..0] } else { &shift };
        let pipeline = shader.pipeline("count", &[&layout], constants).expect("the shader is valid");

        let unused: Vec<Buffer> = (0..FIRST_POOL)
            .map(|_| Buffer::zeroed(device(), "unused", 16).expect("the buffer is small"))
            .collect();
        let words =
            |pool: usize| -> Vec<u64> { (pool * pool_words..).map(|n| n as u64).take(pool_words).collect() };
        let frames: Vec<Buffer> = (0..count)
            .map(|pool| Buffer::with_contents(device(), "pool", &words(pool)).expect("the buffer is small"))
            .collect();
        let elements: Vec<_> = frames.iter().map(|pool| pool.raw().as_entire_buffer_binding()).collect();
        let single = elements.iter().map(|element| wgpu::BindingResource::Buffer(element.clone()));
        let resources: Vec<_> =
            if is_array { vec![wgpu::BindingResource::BufferArray(&elements)] } else { single.collect() };
        let unused = unused.iter().map(|buffer| buffer.raw().as_entire_binding());
        let entries: Vec<_> = (0..)
            .zip(unused.chain(resources))
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let group = device().raw().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("frames"),
            layout: &layout,
            entries: &entries,
        });
        device()
            .submit("frames", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups((count * pool_words / 64) as u32, 1, 1);
            })
            .expect("the device works");
        for (pool, frames) in frames.iter().enumerate() {
            let contents = device().download(&[(frames, 0..frames.bytes())]).expect("the device works");
            let found: Vec<u64> = bytemuck::pod_collect_to_vec(&contents[0]);
            let expected: Vec<u64> = words(pool).iter().map(|word| word + (1 << 32)).collect();
            assert!(found == expected, "the words of pool {pool} of {count}");
        }
    }
}
