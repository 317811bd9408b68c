//! Short trainings: the loss falls, and the same seed gives the same bits.

use kvrm_models::MemoryOracle;

use super::*;
use crate::adam::Adam;
use crate::job::initial;

/// Bodies of guests, which are enough for a few steps.
const SAMPLE: &str = include_str!("../../crates/train/tests/held_out_loops.txt");

/// Returns the losses of a short training, and its weights.
fn train(
    architecture: Architecture,
    seed: u64,
    mut step: impl FnMut(&[f32]) -> (graph::Graph, burn::tensor::Tensor<1>),
) -> (Vec<f32>, Vec<f32>) {
    const STEPS: u32 = 60;
    let mut flat = initial(architecture, &mut Random::new(seed));
    let mut adam = Adam::new(flat.len());
    let losses = (0..STEPS).map(|number| {
        let (graph, loss) = step(&flat);
        let gradient = graph.flat_gradient(&loss.backward());
        adam.step(&mut flat, &gradient, 1e-3 * (number + 1).min(10) as f32 / 10.0);
        loss.into_scalar::<f32>()
    });
    (losses.collect(), flat)
}

/// Trains a network on the sample.
fn short(architecture: Architecture, balance: Balance, seed: u64) -> (Vec<f32>, Vec<f32>) {
    let records = read_records(SAMPLE).expect("the sample is whole");
    let device = Device::flex().autodiff();
    let mut batches = Batches::new(&records, balance, seed);
    train(architecture, seed, |flat| match architecture {
        Architecture::LoopDetector => detector::loss(flat, &batches.next(), &device),
        _ => recogniser::loss(flat, &batches.next(), &device),
    })
}

#[test]
fn trainings_learn_and_depend_on_nothing_but_the_seed() {
    for (architecture, balance) in
        [(Architecture::LoopDetector, Balance::Kinds), (Architecture::PatternRecogniser, Balance::Patterns)]
    {
        let (losses, weights) = short(architecture, balance, 7);
        let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
        let (first, last) = (mean(&losses[..10]), mean(&losses[50..]));
        assert!(last < 0.8 * first, "{architecture}: the loss goes from {first} to {last}");
        assert_eq!(short(architecture, balance, 7), (losses.clone(), weights), "{architecture}: again");
        assert_ne!(short(architecture, balance, 8).0, losses, "{architecture}: another seed");
    }
}

#[test]
fn forward_passes_are_those_of_kvrm_models() {
    let records = read_records(SAMPLE).expect("the sample is whole");
    let device = Device::flex().autodiff();
    let batch = Batches::new(&records, Balance::Kinds, 3).next();
    let flat = initial(Architecture::LoopDetector, &mut Random::new(3));
    let network = LoopDetector::from_flat(&flat).expect("as many weights as it has");
    let out = detector::forward(&graph::Graph::new(Architecture::LoopDetector, &flat, &device), &batch);
    let counters = out.counters.into_data().try_to_vec::<f32>().expect("they are f32");
    let iterations = out.iterations.into_data().try_to_vec::<f32>().expect("they are f32");
    for (index, sample) in batch.iter().enumerate() {
        let proposal = network.propose(&sample.words, &sample.registers).expect("a body of at most 32 words");
        same(&counters[32 * index..][..32], &proposal.counter_logits).expect("the counters");
        same(&iterations[index..=index], &[proposal.log10_iterations]).expect("the iterations");
    }
    let flat = initial(Architecture::IterationPredictor, &mut Random::new(3));
    let network = IterationPredictor::from_flat(&flat).expect("as many weights as it has");
    let input = iteration_input(&[0.25; 128], 1000, 4, 0x8_0000);
    let graph = graph::Graph::new(Architecture::IterationPredictor, &flat, &device);
    let out = predictor::forward(&graph, &[Pair { input, log10: 0.0, weight: 1.0 }]).into_scalar::<f32>();
    same(&[out], &[network.log10_iterations(&input)]).expect("the iteration predictor");
}

#[test]
fn the_oracle_learns_and_its_forward_pass_is_that_of_kvrm_models() {
    let device = Device::flex().autodiff();
    let short = |seed| {
        let mut batches = oracle::Batches::new(&[], seed);
        train(Architecture::MemoryOracle, seed, |flat| oracle::loss(flat, &batches.next(), &device))
    };
    let (losses, weights) = short(7);
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (first, last) = (mean(&losses[..10]), mean(&losses[50..]));
    assert!(last < 0.8 * first, "the loss goes from {first} to {last}");
    assert_eq!(short(7), (losses.clone(), weights.clone()), "again");
    assert_ne!(short(8).0, losses, "another seed");
    let network = MemoryOracle::from_flat(&weights).expect("as many weights as it has");
    oracle::check(&network, &oracle::Batches::new(&[], 9).next(), &device).expect("the same outputs");
}
