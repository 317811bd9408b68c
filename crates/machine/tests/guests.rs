//! Tests that the compiled guests print the same lines as under QEMU.

use std::collections::BTreeSet;

use kvrm_machine::{Features, Machine, Stop, Stream};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, features, folder, guest};
use proptest::prelude::*;

/// The output of each guest without arguments under `qemu-aarch64`.
const LINES: [&str; 17] = [
    "bubble_sort size=800 seed=1 swaps=161420 hash=0x7b2b136395ae474a ok",
    "decimal size=60 seed=1 hash=0x713f8fc0596a73b2 ok",
    "fft size=100 seed=1 hash=0x69a3a6206a979de ok",
    "life size=30 seed=1 alive=702 hash=0x32a4d2e4d5f2358b ok",
    "lz size=60000 seed=1 packed=27823 unpacked=60000 hash=0xe9d7491ef6d463db ok",
    "mandelbrot size=100 seed=1 double=0xc93a6f35a68cbbe1 single=0x6e4200866195bfc7 ok",
    "matmul size=72 seed=1 hash=0x753ae72a2b0e5d21 ok",
    "mix size=50000 seed=1 sum=0xe25a29f8d22e7016 ok",
    "nbody size=6000 seed=1 places=0x5ac1e94348c0a5af velocities=0x5a13f534b248e53f ok",
    "quicksort size=20000 seed=1 hash=0xa3def3befde92f26 ok",
    "relocs size=100000 seed=1 x=0x6ff0f3b95c63a67a last=2 ok",
    "render size=200 seed=1 pixels=0x5d3f5d9e68371316 visits=0x3c29ce4a43a972fb ok",
    "sha256 size=40000 seed=1 digest=36d3ebc1b14196675b3afd26806c32ccb7c9a3e7f920e84226883b00621b0e88 ok",
    "sieve size=300000 seed=1 primes=25997 ok",
    "strings size=300 seed=1 hash=0x524cedd96ab2efb3 ok",
    "vectors size=80 seed=1 hash=0xed29c27ed596c260 ok",
    "vm size=400 seed=1 steps=20160 longest=143 at=327 executed=153003 ok",
];

/// Returns the name of the guest, with which a line begins.
fn name(line: &'static str) -> &'static str {
    line.split(' ').next().unwrap_or_default()
}

/// Runs a guest in one lane per list of arguments, and returns the stop and output of each lane.
fn run(name: &str, arguments: &[&[&str]]) -> Vec<(Stop, String)> {
    let owned: Vec<Vec<String>> =
        arguments.iter().map(|lane| lane.iter().map(|&word| word.to_owned()).collect()).collect();
    let mut machine = Machine::builder(guest(name))
        .features(features(name))
        .lanes(arguments.len())
        .arguments(move |lane| owned[lane].clone())
        .build()
        .expect("the guest fits");
    // The budget lets the test fail instead of hang if a guest does not end.
    machine.run(100_000_000).expect("the engine works");
    (0..arguments.len())
        .map(|lane| {
            let error = machine.output(lane, Stream::Error).unwrap();
            assert!(error.is_empty(), "guests write to one stream");
            let text = String::from_utf8(machine.output(lane, Stream::Output).unwrap().to_vec());
            (machine.stop(lane).unwrap().unwrap(), text.expect("guests print text"))
        })
        .collect()
}

#[test]
fn every_guest_prints_the_same_as_under_qemu() {
    for line in LINES {
        let ended = run(name(line), &[&[]]);
        assert_eq!(ended, [(Stop::Exit { code: 0 }, format!("{line}\n"))], "{}", name(line));
    }
}

#[test]
fn every_guest_in_the_folder_is_tested() {
    let files = std::fs::read_dir(folder()).unwrap();
    let found: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = LINES.iter().map(|line| format!("{}.elf", name(line))).collect();
    assert_eq!(found, known, "the files in guests/bin");
    let short = GUESTS.into_iter().chain(FP_GUESTS);
    let short: BTreeSet<String> = short.map(|(name, _)| format!("{name}.elf")).collect();
    assert_eq!(found, short, "the guests that other tests run");
}

#[test]
fn a_guest_that_needs_floating_point_is_undefined_without_it() {
    for (name, size) in FP_GUESTS {
        let arguments = move |_: usize| vec![size.to_owned()];
        let builder = Machine::builder(guest(name)).features(Features::ARMV8_0).arguments(arguments);
        let mut machine = builder.build().expect("the guest fits");
        machine.run(u64::MAX).expect("the engine works");
        assert!(matches!(machine.stop(0), Ok(Some(Stop::Undefined { .. }))), "{name} is rightly listed");
    }
}

#[test]
fn explicit_default_arguments_give_the_default_output() {
    for line in LINES {
        let size = line.split_once("size=").and_then(|(_, rest)| rest.split(' ').next()).unwrap();
        let hexadecimal = format!("{:#x}", size.parse::<u64>().unwrap());
        for (stop, output) in run(name(line), &[&[size], &[size, "1"], &[&hexadecimal, "0x1"]]) {
            assert_eq!((stop, output), (Stop::Exit { code: 0 }, format!("{line}\n")), "{}", name(line));
        }
    }
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    let arguments: [&[&str]; 10] = [
        &["x"],
        &["-1"],
        &["1x"],
        &["0x"],
        &["1.5"],
        &["10", "x"],
        &["10", "1", "1"],
        &["18446744073709551616"],
        &["0xffffffffffffffff"],
        &["10", "0x10000000000000000"],
    ];
    for line in LINES {
        for ((stop, output), arguments) in run(name(line), &arguments).into_iter().zip(arguments) {
            assert_eq!(stop, Stop::Exit { code: 2 }, "{} {arguments:?}", name(line));
            assert!(!output.ends_with(" ok\n"), "{} {arguments:?} prints {output}", name(line));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn every_guest_passes_its_own_check_for_any_seed(seeds in prop::array::uniform4(any::<u64>())) {
        for line in LINES {
            let seeds = seeds.map(|seed| seed.to_string());
            let sizes = ["1", "2", "3", "17"];
            let pairs = sizes.into_iter().zip(&seeds);
            let arguments: Vec<[&str; 2]> = pairs.map(|(size, seed)| [size, seed]).collect();
            let arguments: Vec<&[&str]> = arguments.iter().map(|both| &both[..]).collect();
            for ((stop, output), arguments) in run(name(line), &arguments).into_iter().zip(&arguments) {
                let begin = format!("{} size={} seed=", name(line), arguments[0]);
                let good = output.starts_with(&begin) && output.ends_with(" ok\n");
                prop_assert!(good, "{arguments:?}: {output}");
                prop_assert_eq!(stop, Stop::Exit { code: 0 });
            }
        }
    }
}
