//! Tests with complete networks: PyTorch's names and shapes of all layers become the flat form of the architecture.

use std::collections::BTreeMap;

use kvrm_convert::{Format, read, write};
use kvrm_models::{
    Architecture, Dtype, IterationPredictor, LoopDetector, MemoryOracle, NamedTensor, PatternRecogniser,
    TensorFile, Weights, WeightsError,
};

use crate::support::{Tensor, archive, f32s, pickle, state_dict};

/// The tensors of a module in the order of its state dict.
#[derive(Default)]
struct Module {
    tensors: Vec<(String, Vec<usize>)>,
}

impl Module {
    fn tensor(mut self, name: &str, dims: &[usize]) -> Self {
        self.tensors.push((name.to_owned(), dims.to_vec()));
        self
    }

    fn linear(self, name: &str, inputs: usize, outputs: usize) -> Self {
        self.tensor(&format!("{name}.weight"), &[outputs, inputs]).tensor(&format!("{name}.bias"), &[outputs])
    }

    fn norm(self, name: &str, width: usize) -> Self {
        self.tensor(&format!("{name}.weight"), &[width]).tensor(&format!("{name}.bias"), &[width])
    }

    /// Two layers of 128 units each.
    fn lstm(mut self, name: &str, inputs: usize, suffixes: &[&str]) -> Self {
        for (layer, inputs) in [inputs, 128 * suffixes.len()].into_iter().enumerate() {
            for suffix in suffixes {
                let name = |part: &str| format!("{name}.{part}_l{layer}{suffix}");
                self =
                    self.tensor(&name("weight_ih"), &[512, inputs]).tensor(&name("weight_hh"), &[512, 128]);
                self = self.tensor(&name("bias_ih"), &[512]).tensor(&name("bias_hh"), &[512]);
            }
        }
        self
    }

    fn attention(self, name: &str, width: usize) -> Self {
        let name = |part: &str| format!("{name}.{part}");
        self.tensor(&name("in_proj_weight"), &[3 * width, width])
            .tensor(&name("in_proj_bias"), &[3 * width])
            .linear(&name("out_proj"), width, width)
    }

    fn embedding(self, name: &str, inputs: usize) -> Self {
        let name = |part: usize| format!("{name}.{part}");
        self.linear(&name(0), inputs, 128).norm(&name(1), 128).linear(&name(3), 128, 128)
    }
}

fn modules() -> [(Architecture, Module); 4] {
    let detector = Module::default()
        .embedding("inst_embed", 32)
        .linear("reg_field_extract", 32, 96)
        .lstm("seq_encoder", 128, &["", "_reverse"])
        .embedding("reg_embed", 64)
        .attention("cross_attn", 256)
        .linear("type_head.0", 384, 128)
        .linear("type_head.3", 128, 4)
        .linear("counter_attn", 256, 32)
        .linear("iter_head.0", 416, 128)
        .linear("iter_head.2", 128, 1);
    let recogniser = Module::default()
        .tensor("prototypes", &[6, 128])
        .tensor("temperature", &[1])
        .tensor("opcode_embedding.weight", &[256, 128])
        .tensor("position_embedding.weight", &[32, 128])
        .linear("feature_proj", 64, 128)
        .lstm("lstm", 128, &[""])
        .attention("attention", 128)
        .linear("ffn.0", 128, 512)
        .linear("ffn.2", 512, 128)
        .norm("norm", 128);
    let predictor = Module::default()
        .linear("fc1", 131, 128)
        .norm("norm", 128)
        .linear("fc2", 128, 64)
        .linear("fc3", 64, 1);
    let oracle = Module::default()
        .linear("feature_encoder.0", 10, 64)
        .linear("feature_encoder.2", 64, 64)
        .lstm("lstm", 64, &[""])
        .linear("delta_head.0", 128, 128)
        .linear("delta_head.3", 128, 8)
        .linear("confidence_head.0", 128, 64)
        .linear("confidence_head.2", 64, 8)
        .linear("pattern_head.0", 128, 64)
        .linear("pattern_head.2", 64, 4);
    [
        (Architecture::LoopDetector, detector),
        (Architecture::PatternRecogniser, recogniser),
        (Architecture::IterationPredictor, predictor),
        (Architecture::MemoryOracle, oracle),
    ]
}

/// Builds the network of an architecture from its flat form.
fn build(architecture: Architecture, flat: &[f32]) -> Result<(), WeightsError> {
    match architecture {
        Architecture::LoopDetector => LoopDetector::from_flat(flat).map(drop),
        Architecture::PatternRecogniser => PatternRecogniser::from_flat(flat).map(drop),
        Architecture::IterationPredictor => IterationPredictor::from_flat(flat).map(drop),
        _ => MemoryOracle::from_flat(flat).map(drop),
    }
}

/// Returns the bytes of a PyTorch file whose tensors follow one another in one storage.
fn torch(module: &Module, values: &[f32]) -> Vec<u8> {
    let mut offset = 0;
    let size = |size: usize| i32::try_from(size).expect("less than 2^31");
    let tensors = module.tensors.iter().map(|(name, dims)| {
        let strides: Vec<i32> = (0..dims.len()).map(|dim| size(dims[dim + 1..].iter().product())).collect();
        let tensor = Tensor {
            name: name.clone(),
            storage: "FloatStorage",
            key: "0",
            len: size(values.len()),
            offset: size(offset),
            dims: dims.iter().copied().map(size).collect(),
            strides,
        };
        offset += dims.iter().product::<usize>();
        tensor
    });
    let tensors: Vec<_> = tensors.collect();
    archive(&pickle(&state_dict(&tensors)), &[("0", &f32s(values))])
}

#[test]
fn networks_that_look_at_sequences_convert_from_pytorch_and_numpy() {
    for (architecture, module) in modules() {
        let count: usize = module.tensors.iter().map(|(_, dims)| dims.iter().product::<usize>()).sum();
        assert_eq!(count, architecture.parameters(), "{architecture}");
        let values: Vec<f32> = (0..count).map(|index| (index % 1_999) as f32 / 4_096.0 - 0.25).collect();

        let read_as = |file: &str, bytes: &[u8]| {
            let content = read(file, bytes).expect("an honest file");
            let weights = Weights::from_tensors(file, None, content).expect("all tensors in their shapes");
            assert_eq!(weights.architecture(), architecture, "{file}: by names and shapes");
            assert_eq!(weights.values(), values, "{file}: {architecture} in flat form");
            weights
        };
        let weights = read_as("net.pt", &torch(&module, &values));
        let named = TensorFile { metadata: BTreeMap::new(), ..weights.to_tensors() };
        let npz = write("net.npz", Format::Npz, &named, Dtype::F32).expect("it can be written");
        read_as("net.npz", &npz);
        let flat = NamedTensor {
            name: "flat".to_owned(),
            dims: vec![count],
            dtype: Dtype::F32,
            values: values.clone(),
        };
        let flat = TensorFile { tensors: vec![flat], metadata: BTreeMap::new() };
        let npy = write("net.npy", Format::Npy, &flat, Dtype::F32).expect("it can be written");
        read_as("net.npy", &npy);

        assert_eq!(build(architecture, weights.values()), Ok(()), "{architecture} from its weights");
    }
}

#[test]
fn a_wrong_tensor_of_a_memory_oracle_is_named() {
    let [.., (architecture, mut module)] = modules();
    let index = module.tensors.iter().position(|(name, _)| name == "delta_head.3.weight");
    let (_, dims) = &mut module.tensors[index.expect("the head has this layer")];
    *dims = vec![4, 128]; // Four deltas instead of eight.
    let values = vec![0.5; architecture.parameters()];
    let content = read("net.pt", &torch(&module, &values)).expect("an honest file");
    let error = Weights::from_tensors("net.pt", None, content).expect_err("the shape is wrong");
    assert_eq!(
        error.to_string(),
        "net.pt: tensor `delta_head.3.weight`: expected [8, 128] in memory-oracle, found [4, 128]",
        "names file, tensor and both shapes"
    );
}
