//! Classes chosen by networks, good ones and bad ones, in every mode: the same runs, and figures that are right.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{W2, W4, W5, X0, X1, X2, X3, X4, X5, X6, at};
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::{Class, Features, class_of};
use kvrm_gpu::{Bounds, Dispatch, Error, GpuEngine, GpuExecutor, Mode};
use kvrm_machine::{
    Builder, ClassDecisions, Decisions, Executor, Factory, Image, Machine, PAGE_BYTES, Plan, ReferenceEngine,
    Stop,
};
use kvrm_models::{
    Architecture, DispatchNetwork, SmallDispatchNetwork, TUPLES, Weights, dispatch_labels, dispatch_layout,
};
use kvrm_testkit::guests::{GUESTS, guest};
use kvrm_testkit::random::Random;

use crate::support::{CODE, DATA, Gpu, Lane, device, lanes, read, same_machines, text_and_data};

/// Makes executors that ask a network.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) dispatch: Dispatch,
    pub(crate) bounds: Bounds,
}

impl Factory for Asking {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(GpuExecutor::with_bounds(device(), plan, &self.dispatch, self.bounds)?))
    }

    fn images_max(&self) -> usize {
        Gpu.images_max()
    }
}

/// How work is spread: lanes that share a workgroup with and without subgroups, and lanes that have one each.
pub(crate) const SPREADS: [Bounds; 3] = [
    Bounds::NONE,
    Bounds { subgroups: false, ..Bounds::NONE },
    Bounds { workgroup: Some(1), ..Bounds::NONE },
];

/// Lanes of the tests: more than fit a workgroup.
const LANES: usize = 70;
/// Steps of a lane.
const STEPS: u64 = 150;

fn builtin(architecture: Architecture) -> Vec<f32> {
    let (weights, _) = Weights::builtin(architecture).expect("they are whole").expect("they are there");
    weights.into_values()
}

/// Weights, and the class they give a word, by the host.
struct Scenario {
    name: &'static str,
    weights: Weights,
    class: Box<dyn Fn(u32) -> Class>,
    /// For how many tuples that is right.
    tuples_right: u32,
}

impl Scenario {
    fn large(name: &'static str, flat: Vec<f32>) -> Self {
        let network = DispatchNetwork::from_flat(&flat).expect("it is one");
        assert!(network.is_exact(), "{name}: host and device agree on every tuple");
        let answers = network.classes_of_all();
        let right = answers.iter().zip(dispatch_labels()).filter(|(answer, label)| *answer == label).count();
        let weights = Weights::from_flat(Architecture::Dispatch, flat).expect("it is one");
        Self { name, weights, class: Box::new(move |word| network.class(word)), tuples_right: right as u32 }
    }

    fn small(name: &'static str, flat: Vec<f32>) -> Self {
        let network = SmallDispatchNetwork::from_flat(&flat).expect("it is one");
        let tuples_right = network.agreement().right;
        let weights = Weights::from_flat(Architecture::SmallDispatch, flat).expect("it is one");
        Self { name, weights, class: Box::new(move |word| network.class(word)), tuples_right }
    }

    fn all() -> Vec<Self> {
        let mut random = Random::new(7);
        let mut noise = |count: usize| -> Vec<f32> {
            (0..count).map(|_| (random.below(129) as f32 - 64.0) / 64.0).collect()
        };
        let good = builtin(Architecture::Dispatch);
        // Each output takes the weights of its neighbour, so no answer is right.
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
            Self::small("135", builtin(Architecture::SmallDispatch)),
            Self::small("135 at random", noise(SmallDispatchNetwork::PARAMETERS)),
            Self::small("135 of zeros", vec![0.0; SmallDispatchNetwork::PARAMETERS]),
        ]
    }

    /// What the network makes of words.
    fn decisions(&self, words: &[u32], falls_back: impl Fn(u32) -> bool) -> Vec<ClassDecisions> {
        let of = |class: &Class| ClassDecisions { class: class.name(), ..ClassDecisions::default() };
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

/// Something of every class but SYSTEM's rarer ones, round and round.
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

/// Lanes of an image, each with a seed of its own.
fn lanes_of(engine: &dyn Factory, image: &Arc<Image>) -> Box<dyn Executor> {
    let images = [Arc::clone(image)];
    let plan = Plan { images: &images, lanes: LANES, frames_max: 16, calls: None };
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

/// The words the reference executes in all lanes, and what becomes of these.
fn traced(image: &Arc<Image>) -> (Vec<u32>, Vec<Lane>) {
    let mut reference = lanes_of(&ReferenceEngine, image);
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

/// Whether a word has a row by which it can be executed.
fn is_lowered(word: u32) -> bool {
    lower(word, Features::ALL).handler() != Handler::UNDEFINED as u32
}

fn taken(executor: &mut dyn Executor) -> Decisions {
    executor.take_decisions().expect("the engine works").expect("there is a network")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn whatever_the_weights_and_the_mode_runs_are_the_same_and_figures_right() {
    let image = all_classes();
    let (steps, expected) = traced(&image);
    assert_eq!(steps.len() as u64, STEPS * LANES as u64, "nothing stops");
    let mut table = lanes_of(&Asking { dispatch: Dispatch::TABLE, bounds: Bounds::NONE }, &image);
    run(&mut *table, STEPS);
    assert!(lanes(&mut *table) == expected, "without weights");
    assert_eq!(table.take_decisions().expect("the engine works"), None, "nothing is asked");
    // The page of code, which is what is lowered.
    let page = read(&mut *table, 0, CODE, PAGE_BYTES);
    let page: Vec<u32> = page.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for scenario in Scenario::all() {
        let right = scenario.tuples_right;
        // All spreads for a network of each kind, right and wrong.
        let is_good = scenario.name == "10,279";
        let is_spread = ["10,279", "random", "135"].contains(&scenario.name);
        for mode in Mode::ALL.into_iter().filter(|mode| *mode != Mode::Table) {
            let in_steps = matches!(mode, Mode::Network | Mode::Hybrid);
            let spreads = if in_steps && is_spread { &SPREADS[..] } else { &SPREADS[..1] };
            for &bounds in spreads {
                let what = format!("{} in {mode} mode with {bounds:?}", scenario.name);
                let dispatch = Dispatch::with_weights(mode, scenario.weights.clone()).expect("they are fit");
                let mut executor = lanes_of(&Asking { dispatch, bounds }, &image);
                run(&mut *executor, STEPS);
                assert!(lanes(&mut *executor) == expected, "{what}");
                let decisions = taken(&mut *executor);
                let wanted = match mode {
                    Mode::Network => scenario.decisions(&steps, |_| true),
                    Mode::Hybrid => scenario.decisions(&steps, |_| false),
                    _ => scenario.decisions(&page, is_lowered),
                };
                assert_eq!(decisions.classes, wanted, "{what}");
                assert_eq!((decisions.tuples, decisions.tuples_right), (TUPLES as u32, right), "{what}");
                assert_eq!(decisions.mode, mode.name(), "{what}");
                assert_eq!(taken(&mut *executor).asked(), 0, "what was told is not told again");
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
fn if_it_is_to_stop_a_lane_stops_at_the_first_word_that_gets_another_class() {
    let image = all_classes();
    // By this network everything is ARITHMETIC, as what the program begins with is.
    let weights = vec![0.0; DispatchNetwork::PARAMETERS];
    let weights = Weights::from_flat(Architecture::Dispatch, weights).expect("it is one");
    let mut reference = lanes_of(&ReferenceEngine, &image);
    let word = loop_until_other(&mut *reference);
    let steps = reference.steps(0).expect("the reference works");
    assert!(steps > 2, "it takes some steps before");
    let expected = lanes(&mut *reference);
    for mode in Mode::ALL.into_iter().filter(|mode| *mode != Mode::Table) {
        for bounds in SPREADS {
            let what = format!("{mode} mode with {bounds:?}");
            let dispatch = Dispatch::with_weights(mode, weights.clone()).expect("they are fit").stopping();
            let mut executor = lanes_of(&Asking { dispatch, bounds }, &image);
            run(&mut *executor, STEPS);
            let ended = lanes(&mut *executor);
            if mode == Mode::Hybrid {
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
            let decisions = taken(&mut *executor);
            assert_eq!(decisions.fell_back(), 0, "{what}");
            if mode == Mode::Network {
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

/// Takes steps in all lanes as long as lane 0 is at a word of the class ARITHMETIC; returns the word that is not.
fn loop_until_other(executor: &mut dyn Executor) -> u32 {
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
    panic!("the program has words of other classes");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn however_steps_are_sliced_as_many_decisions_are_counted() {
    let image = all_classes();
    for bounds in SPREADS {
        let mut counts = Vec::new();
        for slice in [1, 7, STEPS] {
            let mut executor = lanes_of(&Asking { dispatch: Dispatch::new(Mode::Network), bounds }, &image);
            let mut steps = 0;
            while steps < STEPS {
                steps = (steps + slice).min(STEPS);
                for lane in 0..LANES {
                    executor.set_stop(lane, None).expect("the engine works");
                }
                run(&mut *executor, steps);
            }
            counts.push(taken(&mut *executor).classes);
        }
        assert!(counts.iter().all(|classes| *classes == counts[0]), "{bounds:?}: {counts:?}");
        let asked: u64 = counts[0].iter().map(|class| class.asked).sum();
        assert_eq!(asked, STEPS * LANES as u64, "{bounds:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_end_as_on_the_reference_where_a_network_is_asked() {
    for (name, size) in GUESTS {
        let builder = || -> Builder<'static> {
            Machine::builder(guest(name)).lanes(5).arguments(|lane| vec![size.to_owned(), lane.to_string()])
        };
        let mut reference = builder().build().expect("the guest fits");
        let expected = reference.run(u64::MAX).expect("the reference works");
        let engine = GpuEngine::new(device().clone()).with_dispatch(Dispatch::new(Mode::Network));
        let mut gpu = builder().engine(engine).build().expect("the guest fits");
        let report = gpu.run(u64::MAX).expect("the GPU works");
        assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "{name}");
        same_machines(&mut gpu, &mut reference, name);
        let decisions = report.decisions.expect("there is a network");
        // What the host serves is a step, too.
        let steps = report.steps - report.services..=report.steps;
        assert!(steps.contains(&decisions.asked()), "{name}: {decisions:?}");
        assert_eq!((decisions.mispredicted(), decisions.fell_back()), (0, 0), "{name}");
        assert!(decisions.network.starts_with("dispatch "), "{name}: {decisions:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn weights_of_another_network_are_refused() {
    let (decoder, _) =
        Weights::builtin(Architecture::Decoder).expect("they are whole").expect("they are there");
    let error = Dispatch::with_weights(Mode::Network, decoder).expect_err("it is no dispatch network");
    assert_eq!(error, Error::NoDispatchNetwork { architecture: "decoder" }, "it says which");
}
