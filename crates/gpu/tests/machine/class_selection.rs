//! Class selection by networks, correct and wrong ones, in every mode: runs are the same, and decisions are counted
//! correctly.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{W2, W4, W5, X0, X1, X2, X3, X4, X5, X6, at};
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::{Class, Features, class_of};
use kvrm_gpu::{Bounds, ClassSelection, Error, GpuEngine, GpuExecutor, SelectionMode};
use kvrm_machine::{
    Builder, ClassDecisions, Decisions, Executor, Factory, Image, Machine, PAGE_BYTES, Plan, ReferenceEngine,
    Stop,
};
use kvrm_models::{
    Architecture, DispatchNetwork, SmallDispatchNetwork, TUPLES, Weights, dispatch_labels, dispatch_layout,
};
use kvrm_testkit::guests::{GUESTS, guest};
use kvrm_testkit::random::Random;

use crate::support::{CODE, DATA, Gpu, Lane, assert_same_machines, device, lanes, read, text_and_data};

/// A GPU engine whose lanes ask a network for classes.
#[derive(Clone, Debug)]
pub(crate) struct NetworkGpu {
    pub(crate) selection: ClassSelection,
    pub(crate) bounds: Bounds,
}

impl Factory for NetworkGpu {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(GpuExecutor::with_bounds(device(), plan, &self.selection, self.bounds.clone())?))
    }

    fn images_max(&self) -> usize {
        Gpu.images_max()
    }
}

/// The ways of evaluating a network: by lanes that share a workgroup, with and without subgroups, and by lanes that
/// have a workgroup each.
pub(crate) const SPREADS: [Bounds; 3] = [
    Bounds::NONE,
    Bounds { subgroups: false, ..Bounds::NONE },
    Bounds { workgroup: Some(1), ..Bounds::NONE },
];

/// The number of lanes, which is more than a workgroup has.
const LANES: usize = 70;
/// The number of steps of a lane.
const STEPS: u64 = 150;

fn builtin_weights(architecture: Architecture) -> Vec<f32> {
    let (weights, _) =
        Weights::builtin(architecture).expect("the file is complete").expect("the weights are built in");
    weights.into_values()
}

/// Weights of a network, and the classes that the host computes with them.
struct Scenario {
    name: &'static str,
    weights: Weights,
    class: Box<dyn Fn(u32) -> Class>,
    /// The number of tuples whose class is right.
    tuples_right: u32,
}

impl Scenario {
    fn large(name: &'static str, flat: Vec<f32>) -> Self {
        let network = DispatchNetwork::from_flat(&flat).expect("the number of weights is right");
        assert!(network.is_exact(), "{name}: the network is exact, so host and device agree on every tuple");
        let answers = network.classes_of_all();
        let right = answers.iter().zip(dispatch_labels()).filter(|(answer, label)| *answer == label).count();
        let weights =
            Weights::from_flat(Architecture::Dispatch, flat).expect("the number of weights is right");
        Self { name, weights, class: Box::new(move |word| network.class(word)), tuples_right: right as u32 }
    }

    fn small(name: &'static str, flat: Vec<f32>) -> Self {
        let network = SmallDispatchNetwork::from_flat(&flat).expect("the number of weights is right");
        let tuples_right = network.agreement().right;
        let weights =
            Weights::from_flat(Architecture::SmallDispatch, flat).expect("the number of weights is right");
        Self { name, weights, class: Box::new(move |word| network.class(word)), tuples_right }
    }

    fn all() -> Vec<Self> {
        let mut random = Random::new(7);
        let mut noise = |count: usize| -> Vec<f32> {
            (0..count).map(|_| (random.below(129) as f32 - 64.0) / 64.0).collect()
        };
        let good = builtin_weights(Architecture::Dispatch);
        // Each output has the weights of its neighbour, so no class is right.
        let mut adversarial = good.clone();
        adversarial[dispatch_layout::FC3_WEIGHTS..dispatch_layout::FC3_BIAS].rotate_left(16);
        adversarial[dispatch_layout::FC3_BIAS..].rotate_left(1);
        let mut corrupted = good.clone();
        corrupted[dispatch_layout::FC2_WEIGHTS + 40] += 3.0;
        vec![
            Self::large("10,279", good),
            Self::large("zero", vec![0.0; DispatchNetwork::PARAMETERS]),
            Self::large("random", noise(DispatchNetwork::PARAMETERS)),
            Self::large("adversarial", adversarial),
            Self::large("corrupted", corrupted),
            Self::small("135", builtin_weights(Architecture::SmallDispatch)),
            Self::small("135 at random", noise(SmallDispatchNetwork::PARAMETERS)),
            Self::small("135 of zeros", vec![0.0; SmallDispatchNetwork::PARAMETERS]),
        ]
    }

    /// Returns the decisions that are counted when the network is asked for the classes of words. `falls_back` tells
    /// whether the table decides after a wrong class.
    fn decisions(&self, words: &[u32], falls_back: impl Fn(u32) -> bool) -> Vec<ClassDecisions> {
        let of = |class: &Class| ClassDecisions::new(*class, 0, 0, 0);
        let mut decisions: Vec<ClassDecisions> = Class::ALL.iter().map(of).collect();
        for &word in words {
            let counts = &mut decisions[class_of(word) as usize];
            let is_wrong = (self.class)(word) != class_of(word);
            counts.asked += 1;
            counts.mispredicted += u64::from(is_wrong);
            counts.fell_back += u64::from(is_wrong && falls_back(word));
        }
        decisions
    }
}

/// Returns an image whose endless loop has instructions of every class, without the rarer ones of SYSTEM.
fn all_classes() -> Arc<Image> {
    text_and_data(4, |a| {
        let (again, skip) = (a.label(), a.label());
        a.mov(X1, DATA as i64).mov(X3, 0x0123_4567_89ab_cdef);
        a.bind(again);
        a.add(X0, X0, 3).madd(X3, X3, X0, X1).ubfm(X4, X3, 7, 63).and(X4, X4, 0x3ff8).add(X2, X1, X4);
        a.ldr(X5, at(X2, 0)).eor(X5, X5, X3).str(X5, at(X2, 0)).strb(W5, at(X1, 9)).ldrb(W4, at(X1, 9));
        a.sbfm(X6, X5, 3, 40).udiv(X4, X3, X0).subs(X4, X4, X6).b_cond("ls", skip);
        a.orr(X3, X3, 1).nop();
        a.bind(skip);
        a.tbz(W2, 3, again).cbnz(X3, again).b(again);
    })
}

/// Makes lanes of an image, with several seeds.
fn start_lanes(engine: &dyn Factory, image: &Arc<Image>) -> Box<dyn Executor> {
    let images = [Arc::clone(image)];
    let plan = Plan { images: &images, lanes: LANES, frames_max: 16, calls: None, loops: None };
    let mut executor = engine.executor(&plan).expect("the lanes fit");
    for lane in 0..LANES {
        let mut cpu = executor.cpu(lane).expect("the engine works");
        cpu.pc = CODE;
        cpu.set_x(0, 1 + lane as u64 % 9);
        executor.set_cpu(lane, &cpu).expect("the engine works");
    }
    executor
}

fn run(executor: &mut dyn Executor, steps: u64) {
    executor.run(&[steps; LANES], &mut |_| ControlFlow::Continue(())).expect("the engine works");
}

/// Runs the reference. Returns the words that all lanes have executed, and the lanes.
fn trace_reference(image: &Arc<Image>) -> (Vec<u32>, Vec<Lane>) {
    let mut reference = start_lanes(&ReferenceEngine, image);
    let mut words = Vec::new();
    for step in 1..=STEPS {
        for lane in 0..LANES {
            reference.set_stop(lane, None).expect("the reference works");
            let (pc, mut bytes) = (reference.cpu(lane).expect("the reference works").pc, [0; 4]);
            let read = reference.read_memory(lane, pc, &mut bytes, None).expect("the reference works");
            read.expect("code is mapped");
            words.push(u32::from_le_bytes(bytes));
        }
        run(&mut *reference, step);
    }
    (words, lanes(&mut *reference))
}

/// Returns whether a word has a row in the instruction table.
fn has_row(word: u32) -> bool {
    lower(word, Features::ALL).handler() != Handler::UNDEFINED as u32
}

fn take_decisions(executor: &mut dyn Executor) -> Decisions {
    executor.take_decisions().expect("the engine works").expect("the lanes have a network")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn all_weights_and_modes_give_the_same_runs_and_correct_counts() {
    let image = all_classes();
    let (steps, expected) = trace_reference(&image);
    assert_eq!(steps.len() as u64, STEPS * LANES as u64, "no lane stops");
    let mut table =
        start_lanes(&NetworkGpu { selection: ClassSelection::TABLE, bounds: Bounds::NONE }, &image);
    run(&mut *table, STEPS);
    assert!(lanes(&mut *table) == expected, "with the table");
    assert_eq!(table.take_decisions().expect("the engine works"), None, "the table counts no decisions");
    // The words of the page of code, which is lowered as a whole.
    let page = read(&mut *table, 0, CODE, PAGE_BYTES);
    let page: Vec<u32> = page.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for scenario in Scenario::all() {
        let right = scenario.tuples_right;
        // Only these networks are tested with all ways of evaluation.
        let is_good = scenario.name == "10,279";
        let is_spread = ["10,279", "random", "135"].contains(&scenario.name);
        for mode in SelectionMode::ALL.into_iter().filter(|mode| *mode != SelectionMode::Table) {
            let in_steps = matches!(mode, SelectionMode::Network | SelectionMode::Hybrid);
            let spreads = if in_steps && is_spread { &SPREADS[..] } else { &SPREADS[..1] };
            for bounds in spreads {
                let what = format!("{} in {mode} mode with {bounds:?}", scenario.name);
                let selection = ClassSelection::with_weights(mode, scenario.weights.clone())
                    .expect("the weights are for class selection");
                let mut executor = start_lanes(&NetworkGpu { selection, bounds: bounds.clone() }, &image);
                run(&mut *executor, STEPS);
                assert!(lanes(&mut *executor) == expected, "{what}");
                let decisions = take_decisions(&mut *executor);
                let wanted = match mode {
                    SelectionMode::Network => scenario.decisions(&steps, |_| true),
                    SelectionMode::Hybrid => scenario.decisions(&steps, |_| false),
                    _ => scenario.decisions(&page, has_row),
                };
                assert_eq!(decisions.classes, wanted, "{what}");
                assert_eq!((decisions.tuples, decisions.tuples_right), (TUPLES as u32, right), "{what}");
                assert_eq!(decisions.mode, mode.name(), "{what}");
                assert_eq!(take_decisions(&mut *executor).asked(), 0, "decisions are taken once");
                if is_good {
                    assert_eq!((decisions.mispredicted(), right), (0, TUPLES as u32), "{what}");
                } else if scenario.name == "adversarial" {
                    assert_eq!((decisions.mispredicted(), right), (decisions.asked(), 0), "{what}");
                } else {
                    assert!((1..TUPLES as u32).contains(&right), "{what}");
                }
            }
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_stopping_lane_stops_at_the_first_word_with_a_wrong_class() {
    let image = all_classes();
    // The class of every word is ARITHMETIC by this network, which is right for the first words of the program.
    let weights = vec![0.0; DispatchNetwork::PARAMETERS];
    let weights =
        Weights::from_flat(Architecture::Dispatch, weights).expect("the number of weights is right");
    let mut reference = start_lanes(&ReferenceEngine, &image);
    let word = run_to_other_class(&mut *reference);
    let steps = reference.steps(0).expect("the reference works");
    assert!(steps > 2, "some steps come before that word");
    let expected = lanes(&mut *reference);
    for mode in SelectionMode::ALL.into_iter().filter(|mode| *mode != SelectionMode::Table) {
        for bounds in SPREADS {
            let what = format!("{mode} mode with {bounds:?}");
            let selection = ClassSelection::with_weights(mode, weights.clone())
                .expect("the weights are for class selection")
                .stop_on_misprediction();
            let mut executor = start_lanes(&NetworkGpu { selection, bounds: bounds.clone() }, &image);
            run(&mut *executor, STEPS);
            let ended = lanes(&mut *executor);
            if mode == SelectionMode::Hybrid {
                assert!(
                    ended.iter().all(|lane| lane.stop == Some(Stop::Budget)),
                    "the table decides: {what}"
                );
                continue;
            }
            for (lane, (ended, expected)) in ended.iter().zip(&expected).enumerate() {
                assert_eq!(ended.stop, Some(Stop::Undefined { word }), "lane {lane}, {what}");
                assert_eq!(
                    (&ended.cpu, &ended.memory),
                    (&expected.cpu, &expected.memory),
                    "lane {lane}, {what}"
                );
            }
            let decisions = take_decisions(&mut *executor);
            assert_eq!(decisions.fell_back(), 0, "{what}");
            if mode == SelectionMode::Network {
                let lanes = LANES as u64;
                assert_eq!(
                    (decisions.asked(), decisions.mispredicted()),
                    ((steps + 1) * lanes, lanes),
                    "{what}"
                );
            }
        }
    }
}

/// Runs all lanes until lane 0 is at a word of another class than ARITHMETIC, and returns that word.
fn run_to_other_class(executor: &mut dyn Executor) -> u32 {
    for steps in 1..=STEPS {
        let pc = executor.cpu(0).expect("the engine works").pc;
        let word = read(executor, 0, pc, 4);
        let word = word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        if class_of(word) != Class::Arithmetic {
            return word;
        }
        for lane in 0..LANES {
            executor.set_stop(lane, None).expect("the engine works");
        }
        run(executor, steps);
    }
    panic!("the program has no word of another class");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn slices_of_any_length_count_the_same_decisions() {
    let image = all_classes();
    for bounds in SPREADS {
        let mut counts = Vec::new();
        for slice in [1, 7, STEPS] {
            let mut executor = start_lanes(
                &NetworkGpu {
                    selection: ClassSelection::new(SelectionMode::Network),
                    bounds: bounds.clone(),
                },
                &image,
            );
            let mut steps = 0;
            while steps < STEPS {
                steps = (steps + slice).min(STEPS);
                for lane in 0..LANES {
                    executor.set_stop(lane, None).expect("the engine works");
                }
                run(&mut *executor, steps);
            }
            counts.push(take_decisions(&mut *executor).classes);
        }
        assert!(counts.iter().all(|classes| *classes == counts[0]), "{bounds:?}: {counts:?}");
        let asked: u64 = counts[0].iter().map(|class| class.asked).sum();
        assert_eq!(asked, STEPS * LANES as u64, "{bounds:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_end_as_on_the_reference_with_a_network() {
    for (name, size) in GUESTS {
        let builder = || -> Builder<'static> {
            Machine::builder(guest(name)).lanes(5).arguments(|lane| vec![size.to_owned(), lane.to_string()])
        };
        let mut reference = builder().build().expect("the guest fits");
        let expected = reference.run(u64::MAX).expect("the reference works");
        let engine = GpuEngine::new(device().clone())
            .with_class_selection(ClassSelection::new(SelectionMode::Network));
        let mut gpu = builder().engine(engine).build().expect("the guest fits");
        let report = gpu.run(u64::MAX).expect("the GPU works");
        assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "{name}");
        assert_same_machines(&mut gpu, &mut reference, name);
        let decisions = report.decisions.expect("the lanes have a network");
        // Calls that the host serves are steps, too, without a decision.
        let steps = report.steps - report.services..=report.steps;
        assert!(steps.contains(&decisions.asked()), "{name}: {decisions:?}");
        assert_eq!((decisions.mispredicted(), decisions.fell_back()), (0, 0), "{name}");
        assert!(decisions.network.starts_with("dispatch "), "{name}: {decisions:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn weights_of_another_network_are_refused() {
    let (decoder, _) = Weights::builtin(Architecture::Decoder)
        .expect("the file is complete")
        .expect("the weights are built in");
    let error = ClassSelection::with_weights(SelectionMode::Network, decoder)
        .expect_err("a decoder network is not for class selection");
    assert_eq!(error, Error::NotADispatchNetwork { architecture: "decoder" }, "with the architecture");
}
