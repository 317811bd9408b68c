//! Leaf functions of the shaders beside their twins in Rust: edge values crossed, and random ones.

mod kernel;
#[macro_use]
mod list;

use std::collections::BTreeSet;

use kvrm_arm64::CLASS_BITS;
use kvrm_shaders::MODULES;
use kvrm_testkit::numbers::EDGES;
use kvrm_testkit::random::Random;

use kernel::Kernel;
use list::{ARGUMENTS, RESULTS, TWINS, Twin};

/// Random cases of each twin, beside the edges.
const CASES: usize = 20_000;

/// Where sizes and amounts of bits change theirs; what each function does not take, its line in the list maps
/// to what it takes.
const SMALL: [u64; 14] = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 62, 63, 64];

/// The most combinations of edge values that are tried; a function that has more gets as many random cases.
const CROSSED_MAX: usize = 200_000;

/// Every combination of edge values, unless there are too many.
fn crossed(twin: &Twin) -> Vec<[u64; ARGUMENTS]> {
    let seeds = |is_wide: bool| if is_wide { &EDGES[..] } else { &SMALL };
    if twin.wide.iter().map(|&is_wide| seeds(is_wide).len()).product::<usize>() > CROSSED_MAX {
        return Vec::new();
    }
    let mut cases = vec![[0; ARGUMENTS]];
    for (index, &is_wide) in twin.wide.iter().enumerate() {
        let with = |case: &[u64; ARGUMENTS], seed| {
            let mut case = *case;
            case[index] = seed;
            case
        };
        cases =
            cases.iter().flat_map(|case| seeds(is_wide).iter().map(move |&seed| with(case, seed))).collect();
    }
    cases
}

/// Random arguments, numbers of any length, often two alike or next to each other.
fn random(twin: &Twin, random: &mut Random) -> [u64; ARGUMENTS] {
    let mut case = [0; ARGUMENTS];
    for index in 0..twin.wide.len() {
        case[index] = match random.below(8) {
            0 => *random.pick(&EDGES),
            1 if index > 0 => case[index - 1].wrapping_add(random.below(3)).wrapping_sub(1),
            2 => !(random.bits() >> random.below(64)),
            _ => random.bits() >> random.below(64),
        };
    }
    case
}

/// A case of fewer arguments.
fn case(arguments: &[u64]) -> [u64; ARGUMENTS] {
    let mut case = [0; ARGUMENTS];
    case[..arguments.len()].copy_from_slice(arguments);
    case
}

/// Runs cases on the GPU and compares.
fn compare(kernel: &Kernel, number: usize, mut cases: Vec<[u64; ARGUMENTS]>) {
    let twin = &TWINS[number];
    let expected: Vec<[u64; RESULTS]> = cases.iter_mut().map(|case| (twin.reference)(case)).collect();
    let results = kernel.call(number, &cases);
    for ((case, result), expected) in cases.iter().zip(results).zip(expected) {
        let arguments = &case[..twin.wide.len()];
        assert_eq!(result, expected, "{}{arguments:x?}: the GPU on the left", twin.name);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_function_gives_what_its_twin_gives() {
    let kernel = Kernel::new();
    let mut generator = Random::new(3);
    for (number, twin) in TWINS.iter().enumerate() {
        let mut cases = crossed(twin);
        let count = if cases.is_empty() { CROSSED_MAX } else { CASES };
        cases.extend((0..count).map(|_| random(twin, &mut generator)));
        compare(&kernel, number, cases);
    }
    // What decides a class is few enough bits to try them all.
    let spread = |mut bits: u64| {
        (0..32).filter(|bit| CLASS_BITS >> bit & 1 == 1).fold(0, |word, bit| {
            let one = bits & 1;
            bits >>= 1;
            word | one << bit
        })
    };
    let words = (0..1 << CLASS_BITS.count_ones()).map(|bits| case(&[spread(bits)])).collect();
    compare(&kernel, list::position("class_of"), words);
    // So are those of a bit mask.
    let masks = (0..1 << 14).map(|bits: u64| case(&[bits >> 12 & 1, bits >> 6 & 63, bits & 63, bits >> 13]));
    compare(&kernel, list::position("decode_bit_masks"), masks.collect());
}

/// How the paths of modules begin that are parts of kernels. Other tests compare what these do as a whole.
const KERNELS: [&str; 3] = ["machine/", "networks/", "spiking/"];
/// Functions of which every one is called by one of the list: there all its cases are tried.
const PARTS: [&str; 1] = ["arm64/class.wgsl"];

#[test]
fn every_function_with_a_twin_is_tried() {
    let known = TWINS.iter().map(|twin| (format!("{}.wgsl", twin.module.replace("::", "/")), twin.name));
    let known: BTreeSet<(String, &str)> = known.collect();
    let mut found = BTreeSet::new();
    for (path, text) in
        MODULES.iter().filter(|(path, _)| !KERNELS.iter().any(|kernel| path.starts_with(kernel)))
    {
        let mut twin = None;
        for line in text.lines() {
            twin = line.strip_prefix("/// Twin: ").or(twin);
            let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) else {
                // Structures have twins, too; the functions that return them show that they agree.
                if line.starts_with("struct ") {
                    twin = None;
                }
                continue;
            };
            let twin = twin.take().unwrap_or_else(|| panic!("{name} in {path} says no twin"));
            let function = ((*path).to_owned(), name);
            let is_part = twin.starts_with("a part of ") || PARTS.contains(path);
            if !is_part || known.contains(&function) {
                found.insert(function);
            }
        }
    }
    let differing: Vec<_> = found.symmetric_difference(&known).collect();
    assert!(differing.is_empty(), "in the shaders or in the list, but not in both: {differing:?}");
}
