//! Comparison of shader functions with their twins in Rust.

use kvrm_gpu::Buffer;
use kvrm_gpu::pipeline::{Access, Shader, bind, storage_layout};
use kvrm_shaders::{MODULES, link_source};
use kvrm_spiking::{fixed, random};
use kvrm_testkit::random::Random;

use crate::support::kernels;

/// Declares calls of each function with the words `a` and `b`, in WGSL and in Rust.
macro_rules! twins { ($($wgsl:literal $rust:expr;)*) => {
    const CALLS: &[&str] = &[$($wgsl),*];
    fn results(a: u64, b: u64) -> Vec<u64> {
        vec![$({ let call: fn(u64, u64) -> u64 = $rust; call(a, b) }),*]
    }
} }

twins! {
    "u64(u32(mul(i32(a), i32(b))))" |a, b| fixed::mul(a as i32, b as i32) as u32 as u64;
    "u64(u32(mul_unit(i32(a), i32(min(u32(b), 0x40000000u)))))"
        |a, b| fixed::mul(a as i32, (b as u32).min(1 << fixed::COEFFICIENT_BITS) as i32) as u32 as u64;
    "u64(u32(add(i32(a), i32(b))))" |a, b| fixed::add(a as i32, b as i32) as u32 as u64;
    "u64(u32(saturated(i64(a))))" |a, _| fixed::saturate(a as i64) as u32 as u64;
    "add_wide(a, b)" |a, b| (a as i64).saturating_add(b as i64) as u64;
    "leak(a, u32(b >> 33u))" |a, b| fixed::leak(a as i64, (b >> 33) as u32) as u64;
    "round_shift(u64(i64(a) >> 1u), u32(b % 62lu + 1lu))"
        |a, b| fixed::round_shift(a as i64 >> 1, (b % 62 + 1) as u32) as u64;
    "u64(u32(contribution(i32(a), u32(b & 0xfffffflu))))"
        |a, b| fixed::contribution(a as i32, (b & 0xff_ffff) as u32) as u32 as u64;
    "u64(scale(u32(a & 255lu), (a >> 63u) != 0lu, u32(b)))"
        |a, b| fixed::scale((a & 255) as u32, a >> 63 != 0, b as u32).into();
    "u64(pcg(u32(a)))" |a, _| random::pcg(a as u32).into();
    "u64(excitability(u32(a), u32(b)))" |a, b| random::excitability(a as u32, b as u32).into();
    "u64(step_key(u32(a), u32(b), u32(b >> 32u)))" |a, b| random::step_key(a as u32, b).into();
    "u64(draw(u32(a), u32(b)))" |a, b| random::draw(a as u32, b as u32).into();
}

fn source() -> String {
    let calls = CALLS.iter().enumerate();
    let calls: String =
        calls.map(|(index, call)| format!("    results[place + {index}u] = {call};\n")).collect();
    format!(
        "import package::spiking::fixed::{{add, add_wide, contribution, leak, mul, mul_unit, round_shift, saturated, scale}};\n\
         import package::spiking::random::{{draw, excitability, pcg, step_key}};\n\
         @group(0) @binding(0) var<storage, read> words: array<u64>;\n\
         @group(0) @binding(1) var<storage, read_write> results: array<u64>;\n\
         @compute @workgroup_size(64)\n\
         fn call(@builtin(global_invocation_id) id: vec3<u32>) {{\n\
         let a = words[2u * id.x];\n    let b = words[2u * id.x + 1u];\n    let place = {}u * id.x;\n{calls}}}\n",
        CALLS.len()
    )
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn twins_agree() {
    let edges = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, i64::MAX as u64, u64::MAX];
    let mut words: Vec<u64> = edges.iter().flat_map(|&a| edges.iter().flat_map(move |&b| [a, b])).collect();
    let mut random = Random::new(6);
    words.extend((0..2 * 64 * 15).map(|_| random.bits() >> (random.bits() % 64)));

    let device = kernels().device();
    let linked = link_source("twins", &source(), &[]).expect("the modules exist");
    let locate =
        |line| linked.locate(line).map_or((String::new(), line), |(path, line)| (path.to_owned(), line));
    let layout = storage_layout(device, "twins", &[Access::Read, Access::ReadWrite])
        .expect("every device has two bindings");
    let pipeline = Shader::compile(device, &linked.source, &locate)
        .and_then(|shader| shader.pipeline("call", &[&layout], &[]))
        .unwrap_or_else(|error| panic!("{error}"));
    let input = Buffer::with_contents(device, "words", &words).expect("the buffer is small");
    let bytes = 4 * words.len() as u64 * CALLS.len() as u64;
    let output = Buffer::zeroed(device, "results", bytes).expect("the buffer is small");
    let group = bind(device, "twins", &layout, &[&input, &output]).expect("the buffers match the layout");
    let calling = device.submit("calling twins", |encoder| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(words.len() as u32 / 128, 1, 1);
    });
    calling.expect("the device works");
    let found: Vec<u64> =
        bytemuck::pod_collect_to_vec(&device.download(&[(&output, 0..bytes)]).expect("the engine works")[0]);
    for (pair, found) in words.chunks(2).zip(found.chunks(CALLS.len())) {
        for ((call, found), expected) in CALLS.iter().zip(found).zip(results(pair[0], pair[1])) {
            assert_eq!(*found, expected, "{call} of a = {:#x} and b = {:#x}", pair[0], pair[1]);
        }
    }
}

/// Returns the names of the functions of a module whose comment names a twin.
fn twins_of(text: &str) -> Vec<&str> {
    let mut is_twin = false;
    let mut twins = Vec::new();
    for line in text.lines() {
        twins.extend(line.strip_prefix("fn ").filter(|_| is_twin).and_then(|rest| rest.split('(').next()));
        is_twin = line.starts_with("/// Twin: `");
    }
    twins
}

#[test]
fn every_function_with_a_twin_is_called() {
    let calls = |name: &str| CALLS.iter().any(|call| call.contains(&format!("{name}(")));
    let mut count = 0;
    for (path, text) in
        MODULES.iter().filter(|(path, _)| ["spiking/fixed.wgsl", "spiking/random.wgsl"].contains(path))
    {
        for name in twins_of(text) {
            assert!(calls(name), "{path}: `{name}` has no line in `twins!`");
            count += 1;
        }
    }
    assert_eq!(count, CALLS.len(), "each line of `twins!` calls one function");
}
