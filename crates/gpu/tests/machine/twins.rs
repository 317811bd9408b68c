//! Comparison of leaf functions of the shaders with their twins in Rust, on combinations of edge values and on random
//! values.

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

/// The number of random cases of each twin, in addition to the edge values.
const CASES: usize = 20_000;

/// Edge values of arguments that are sizes or numbers of bits. If a function does not take all of them, its line in the
/// list maps them to those that it takes.
const SMALL: [u64; 14] = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 62, 63, 64];

/// The maximum number of combinations of edge values. A function with more combinations gets as many random cases
/// instead.
const CROSSED_MAX: usize = 200_000;

/// Returns all combinations of edge values, or none if there are too many.
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

/// Returns random arguments: numbers of any length, often with two that are equal or differ by one.
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

/// Returns a case with fewer than the maximum number of arguments.
fn case(arguments: &[u64]) -> [u64; ARGUMENTS] {
    let mut case = [0; ARGUMENTS];
    case[..arguments.len()].copy_from_slice(arguments);
    case
}

/// Runs cases on the GPU and compares the results with the twin.
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
fn every_function_agrees_with_its_twin() {
    let kernel = Kernel::new();
    let mut generator = Random::new(3);
    for (number, twin) in TWINS.iter().enumerate() {
        let mut cases = crossed(twin);
        let count = if cases.is_empty() { CROSSED_MAX } else { CASES };
        cases.extend((0..count).map(|_| random(twin, &mut generator)));
        compare(&kernel, number, cases);
    }
    // The class depends on few enough bits to test all combinations.
    let spread = |mut bits: u64| {
        (0..32).filter(|bit| CLASS_BITS >> bit & 1 == 1).fold(0, |word, bit| {
            let one = bits & 1;
            bits >>= 1;
            word | one << bit
        })
    };
    let words = (0..1 << CLASS_BITS.count_ones()).map(|bits| case(&[spread(bits)])).collect();
    compare(&kernel, list::position("class_of"), words);
    // So do bit masks.
    let masks = (0..1 << 14).map(|bits: u64| case(&[bits >> 12 & 1, bits >> 6 & 63, bits & 63, bits >> 13]));
    compare(&kernel, list::position("decode_bit_masks"), masks.collect());
}

/// The folders of modules that are parts of kernels. Other tests compare whole kernels.
const KERNEL_FOLDERS: [&str; 3] = ["machine/", "networks/", "spiking/"];
/// Modules all of whose functions are called by one function of the list, whose cases test them, too.
const MODULES_TESTED_AS_A_WHOLE: [&str; 1] = ["arm64/class.wgsl"];

#[test]
fn every_function_with_a_twin_is_in_the_list() {
    let known = TWINS.iter().map(|twin| (format!("{}.wgsl", twin.module.replace("::", "/")), twin.name));
    let known: BTreeSet<(String, &str)> = known.collect();
    let mut found = BTreeSet::new();
    for (path, text) in
        MODULES.iter().filter(|(path, _)| !KERNEL_FOLDERS.iter().any(|kernel| path.starts_with(kernel)))
    {
        let mut twin = None;
        for line in text.lines() {
            twin = line.strip_prefix("/// Twin: ").or(twin);
            let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) else {
                // Structures have twins, too. They are compared by the functions that return them.
                if line.starts_with("struct ") {
                    twin = None;
                }
                continue;
            };
            let twin = twin.take().unwrap_or_else(|| panic!("the comment of {name} in {path} names no twin"));
            let function = ((*path).to_owned(), name);
            let is_part = twin.starts_with("a part of ") || MODULES_TESTED_AS_A_WHOLE.contains(path);
            if !is_part || known.contains(&function) {
                found.insert(function);
            }
        }
    }
    let differing: Vec<_> = found.symmetric_difference(&known).collect();
    assert!(
        differing.is_empty(),
        "functions that are only in the shaders or only in the list: {differing:?}"
    );
}
