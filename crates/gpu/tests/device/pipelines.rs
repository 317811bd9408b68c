//! Tests of shaders and pipelines, and of the errors of invalid ones.

use kvrm_gpu::pipeline::{self, Access, Shader};
use kvrm_gpu::{Buffer, Error};

use crate::support::device;

const DOUBLE: &str = "\
@group(0) @binding(0) var<storage, read> input: array<u64>;
@group(0) @binding(1) var<storage, read_write> output: array<u64>;
override workgroup_size: u32 = 1;
override factor: u32;
@compute @workgroup_size(workgroup_size)
fn double(@builtin(global_invocation_id) id: vec3u) {
    output[id.x] = input[id.x] * u64(factor);
}
";

/// Maps lines as if the linker had joined two modules, the first with five lines.
fn locate(line: usize) -> (String, usize) {
    if line <= 5 { ("first.wgsl".to_owned(), line) } else { ("second.wgsl".to_owned(), line - 5) }
}

fn compile(source: &str) -> Result<Shader, Error> {
    Shader::compile(device(), source, &locate)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn constants_choose_workgroup_size_and_more() {
    let layout = pipeline::storage_layout(device(), "double", &[Access::Read, Access::ReadWrite])
        .expect("the layout is valid");
    let shader = compile(DOUBLE).expect("the shader is valid");
    for (size, workgroups, factor) in [(1, 64, 3u32), (32, 2, 5), (64, 1, 7)] {
        let constants = [("workgroup_size", f64::from(size)), ("factor", f64::from(factor))];
        let pipeline = shader.pipeline("double", &[&layout], &constants).expect("the shader is valid");
        let values: Vec<u64> = (0..64).map(|i| i << 35).collect();
        let input = Buffer::with_contents(device(), "input", &values).expect("the buffer is small");
        let output = Buffer::zeroed(device(), "output", input.bytes()).expect("the buffer is small");
        let group = pipeline::bind(device(), "double", &layout, &[&input, &output]).expect("the buffers fit");
        device()
            .submit("doubling", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(workgroups, 1, 1);
            })
            .expect("the device works");
        let contents = device().download(&[(&output, 0..output.bytes())]).expect("the device works");
        let expected: Vec<u64> = values.iter().map(|value| value * u64::from(factor)).collect();
        assert_eq!(
            bytemuck::pod_collect_to_vec::<u8, u64>(&contents[0]),
            expected,
            "in workgroups of {size}"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_shader_that_does_not_compile_is_reported_with_module_and_line() {
    let cases = [
        // Errors of syntax, of names, and of types.
        ("fn a() {\n    let = 1;\n}\n", "first.wgsl", 2),
        ("\n\n\n\n\n\nfn a() -> u32 {\n    return missing;\n}\n", "second.wgsl", 3),
        ("fn a() -> u32 {\n    return 1lu;\n}\n", "first.wgsl", 2),
    ];
    for (source, module, line) in cases {
        let error = compile(source).expect_err("the shader has an error");
        let Error::Shader { location, message } = &error else { panic!("another error: {error}") };
        assert_eq!(*location, Some((module.to_owned(), line)), "of {source:?}: {message}");
        assert!(
            error.to_string().starts_with(&format!("{module}:{line}: ")),
            "the location comes first: {error}"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_pipeline_that_cannot_be_made_is_reported_with_its_entry_point() {
    let layout = pipeline::storage_layout(device(), "double", &[Access::Read, Access::ReadWrite])
        .expect("the layout is valid");
    let read_only = pipeline::storage_layout(device(), "read only", &[Access::Read, Access::Read])
        .expect("the layout is valid");
    let shader = compile(DOUBLE).expect("the shader is valid");
    let factor = ("factor", 2.0);
    let cases = [
        ("no such entry point", "triple", vec![&layout], vec![factor]),
        ("no bind group", "double", vec![], vec![factor]),
        ("a buffer that cannot be written", "double", vec![&read_only], vec![factor]),
        ("a constant that has no value", "double", vec![&layout], vec![]),
        ("too large a workgroup", "double", vec![&layout], vec![factor, ("workgroup_size", 1e6)]),
    ];
    for (name, wanted, layouts, constants) in cases {
        let error = shader.pipeline(wanted, &layouts, &constants).expect_err(name);
        let Error::Pipeline { entry, message } = &error else { panic!("{name}: another error: {error}") };
        assert_eq!(entry, wanted, "{name}");
        assert!(!message.is_empty(), "{name}: the message says why");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn more_buffers_than_a_shader_may_have_are_refused() {
    let accesses = vec![Access::Read; device().limits().storage_buffers as usize + 1];
    let layout = pipeline::storage_layout(device(), "many", &accesses);
    let refused = layout.and_then(|layout| {
        device().catch("a pipeline layout", || {
            device().raw().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                bind_group_layouts: &[Some(&layout)],
                ..wgpu::PipelineLayoutDescriptor::default()
            })
        })
    });
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
}
