//! A kernel that can call each function of the list.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kvrm_gpu::Buffer;
use kvrm_gpu::pipeline::{Access, Shader, bind, storage_layout};
use kvrm_shaders::link_source;

use super::list::{ARGUMENTS, RESULTS, TWINS, Twin};
use crate::support::device;

/// The number of invocations in a workgroup.
const WORKGROUP: usize = 64;
/// The maximum number of workgroups in a row of a dispatch. Larger dispatches have several rows.
const ROW: usize = 1024;
/// The number of functions in a `switch`. Mesa's llvmpipe nests every case in the one before, and has room for 80
/// levels.
const SWITCH: usize = 32;

const BEGIN: &str = "
fn format_of(word: u64) -> Format {
    return fp_format(16u << (u32(word & 3lu) % 3u), (word & 4lu) != 0lu);
}

fn number_of(word: u64) -> Number {
    var number = fp_unpack(word, format_of(2lu), 0u);
    if number.kind == KIND_FINITE && number.sign == 1u {
        number.rest = number.significand * 0x9e3779b97f4a7c15lu;
    }
    return number;
}

@group(0) @binding(0) var<storage, read> chosen: array<u32>;
@group(0) @binding(1) var<storage, read> words: array<u64>;
@group(0) @binding(2) var<storage, read_write> results: array<u64>;

@compute @workgroup_size(64)
fn call(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (workgroup.y * 1024u + workgroup.x) * 64u + local;
    if index >= chosen[1] {
        return;
    }
    let first = index * ARGUMENTS;
    let place = index * RESULTS;
";

pub(crate) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Kernel {
    pub(crate) fn new() -> Self {
        let linked = link_source("twins", &source(), &[]).expect("the modules exist");
        let locate = |line: usize| {
            let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
            place.unwrap_or_else(|| ("twins".to_owned(), line))
        };
        let shader =
            Shader::compile(device(), &linked.source, &locate).unwrap_or_else(|error| panic!("{error}"));
        let accesses = [Access::Read, Access::Read, Access::ReadWrite];
        let layout = storage_layout(device(), "twins", &accesses).expect("every device has three bindings");
        let pipeline = shader.pipeline("call", &[&layout], &[]).expect("the shader is valid");
        Self { pipeline, layout }
    }

    /// Calls a function, given by its number in the list, for each of the cases, and returns the results.
    pub(crate) fn call(&self, number: usize, cases: &[[u64; ARGUMENTS]]) -> Vec<[u64; RESULTS]> {
        let chosen = Buffer::with_contents(device(), "chosen", &[number as u32, cases.len() as u32]);
        let words = Buffer::with_contents(device(), "words", cases.as_flattened());
        let results = Buffer::zeroed(device(), "results", (8 * RESULTS * cases.len()) as u64);
        let buffers = [chosen, words, results].map(|buffer| buffer.expect("the buffer is small"));
        let group =
            bind(device(), "twins", &self.layout, &buffers.each_ref()).expect("the buffers match the layout");
        let workgroups = cases.len().div_ceil(WORKGROUP);
        device()
            .submit("calling a twin", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(workgroups.min(ROW) as u32, workgroups.div_ceil(ROW) as u32, 1);
            })
            .expect("the GPU works");
        let [_, _, results] = buffers;
        let contents = device().download(&[(&results, 0..results.bytes())]).expect("the GPU works");
        let words: Vec<u64> = bytemuck::pod_collect_to_vec(&contents[0]);
        words.as_chunks().0.to_vec()
    }
}

/// Returns the text of the kernel: imports, and a case for each function.
fn source() -> String {
    let mut imports: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut switches = String::new();
    for (group, twins) in TWINS.chunks(SWITCH).enumerate() {
        let mut cases = String::new();
        for (number, twin) in (group * SWITCH..).zip(twins) {
            imports.entry(twin.module.to_owned()).or_default().push(twin.name);
            writeln!(cases, "case {number}u: {{ {} }}", call(twin)).expect("a string takes any text");
        }
        write!(
            switches,
            "if chosen[0] / {SWITCH}u == {group}u {{\nswitch chosen[0] {{\n{cases}default: {{}}\n}}\n}}\n"
        )
        .expect("a string takes any text");
    }
    // The text in `BEGIN` uses these names, which are not functions of the list.
    for (module, name) in [("format", "Format"), ("number", "Number"), ("constants", "KIND_FINITE")] {
        imports.entry(["arm64::float::", module].concat()).or_default().push(name);
    }
    let imports = imports
        .iter()
        .map(|(module, names)| format!("import package::{module}::{{{}}};\n", names.join(", ")));
    let imports = imports.collect::<String>();
    let sizes = format!("const ARGUMENTS = {ARGUMENTS}u;\nconst RESULTS = {RESULTS}u;\n");
    format!("{imports}{sizes}{BEGIN}{switches}}}\n")
}

/// Returns the statements that call a function.
fn call(twin: &Twin) -> String {
    let arguments = (0..)
        .zip(twin.arguments)
        .map(|(index, argument): (usize, _)| argument.replace("{}", &format!("words[first + {index}u]")));
    let mut text = format!("let r = {}({});", twin.name, arguments.collect::<Vec<_>>().join(", "));
    for (index, result) in twin.results.iter().enumerate() {
        write!(text, " results[place + {index}u] = {result};").expect("a string takes any text");
    }
    text
}
