//! Networks from descriptions in TOML, and the errors of invalid descriptions.

use std::path::Path;

use kvrm_spiking::{Kind, PlasticityRule};
use kvrm_spiking_formats::open;

use crate::support::{assert_rejected, described};

const TWO: &str = "
dt = 0.5
seed = 7
fraction_bits = 8

[[population]]
name = \"a\"
dimensions = [4, 5, 1]
feagi = { threshold = 10.0, leak = 0.5, refractory = 2 }

[[population]]
name = \"b\"
neurons = 10
potential = { low = -70.0, high = -55.0 }
[population.lif]
tau_m = 20.0
";

fn with_projection(more: &str) -> String {
    format!("{TWO}\n[[projection]]\nsource = \"a\"\ntarget = \"b\"\n{more}")
}

#[test]
fn populations_and_projections_match_the_description() {
    let text = with_projection(
        "rule = { out-degree = 3 }\nweight = { mean = 2.0, std = 0.5 }\ndelay = 1.5\nmultapses = false\n
        [[projection]]\nsource = [\"a\", \"b\"]\ntarget = \"a\"\nrule = { probability = 0.5 }\nweight = 1.0
        [projection.learn.window]\nweights = [0.0, 4.0]\nsteps = 3\nltp = 0.5\nltd = 0.25\n",
    );
    let network = described(&text).expect("the description is valid");
    let parts = network.parts();
    assert_eq!((parts.dt, parts.seed, parts.fraction_bits), (0.5, 7, 8), "the global settings");
    assert_eq!(parts.populations[0].dimensions, [4, 5, 1], "a grid");
    assert_eq!(
        (parts.populations[1].kind, &parts.populations[1].neurons),
        (Kind::Lif, &(20..30)),
        "a population without a grid"
    );
    let to_b: Vec<u32> =
        network.synapses().row(3).filter(|synapse| synapse.target >= 20).map(|s| s.delay).collect();
    assert_eq!(to_b, [3, 3, 3], "three steps each");
    let [first, second] = &parts.plasticity[..] else {
        panic!("expected two rules, found {:?}", parts.plasticity)
    };
    assert_eq!(
        (first.source, second.source, first.weights),
        (0, 1, [0, 1024]),
        "a rule for each pair of populations"
    );
    assert_eq!(first.rule, PlasticityRule::Window { steps: 3, ltp: 128, ltd: 64 }, "in weight units");
    let potentials: Vec<i32> = parts.columns[20..30].iter().map(|word| *word as i32 >> 20).collect();
    assert!(potentials.iter().all(|v| (-5..10).contains(v)), "relative to rest: {potentials:?}");
    assert!(potentials.iter().any(|v| *v != potentials[0]), "not all the same: {potentials:?}");
    assert_eq!(described(&text).expect("again"), network, "the same text, the same network");
}

#[test]
fn the_examples_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kvrm/examples/networks");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("an entry").path();
        let network = open(&path, None).unwrap_or_else(|error| panic!("{error}"));
        assert!(network.neurons() > 0 && network.synapses().count() > 0, "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 3, "examples");
}

#[test]
fn errors_name_line_and_key() {
    assert_rejected("", "net.toml: line 1: missing field `dt`");
    assert_rejected("dt = \n", "net.toml: line 1: ");
    assert_rejected(
        "dt = 1.0\nsead = 3",
        "net.toml: line 2: unknown field `sead`, expected one of `dt`, `seed`",
    );
    assert_rejected(
        "dt = 1.0\n\n[[population]]\nname = 3",
        "net.toml: line 4: invalid type: integer `3`, expected a string",
    );
    assert_rejected("dt = 0.0", "net.toml: network: dt is 0, expected more than 0 ms");
    assert_rejected(
        "dt = 1.0\ninjection_limit = -1.0",
        "injection_limit: expected 0 or more, and less than 2^31 weight units, found -1",
    );
    let population = |rest: &str| format!("dt = 1.0\n[[population]]\nname = \"a\"\n{rest}");
    for (rest, expected) in [
        (
            "neurons = 5_000_000_000\nlif = {}",
            "line 4: `neurons` is 5000000000, expected a whole number from 0 to 4294967294",
        ),
        ("neurons = -1\nlif = {}", "line 4: `neurons` is -1, expected a whole number from 0 to 4294967294"),
        ("neurons = 2.5\nlif = {}", "line 4: `neurons` is 2.5, expected a whole number from 0 to 4294967294"),
        (
            "lif = {}\ndimensions = [2, 3,\n 9_999_999_999]",
            "line 6: `dimensions` is 9999999999, expected a whole number from 0 to 4294967294",
        ),
        (
            "neurons = 1\nfeagi = { threshold = 1.0, refractory = 70000 }",
            "line 5: `refractory` is 70000, expected a whole number from 0 to 65535",
        ),
    ] {
        assert_rejected(&population(rest), expected);
    }
    assert_rejected(
        &with_projection("rule = { out-degree = 5000000000 }\nweight = 1.0"),
        "`out-degree` is 5000000000, expected a whole number from 0 to 4294967295",
    );
    assert_rejected(
        &population("lif = {}"),
        "line 2: population `a`: expected either `neurons` or `dimensions`",
    );
    assert_rejected(
        &population("neurons = 3"),
        "line 2: population `a`: expected one of the tables `feagi`, `lif`",
    );
    assert_rejected(
        &population("neurons = 3\nlif = {}\nfeagi = {}"),
        "population `a`: expected one of the tables",
    );
    assert_rejected(
        &population("neurons = 3\nlif = { tau = 3.0 }"),
        "line 5: unknown field `tau`, expected one of `tau_m`",
    );
    assert_rejected(
        &population("neurons = 3\nlif = { tau_m = -1.0 }"),
        "line 2: population `a`: tau_m is -1, expected more than 0",
    );
    assert_rejected(
        &population("neurons = 3\npotential = \"x\"\nlif = {}"),
        "line 5: expected a number or { low = NUMBER",
    );
    assert_rejected(&population("neurons = 5000000000\nlif = {}"), "line 4: ");
    assert_rejected(
        &population("dimensions = [4096, 4096, 4096]\nlif = {}"),
        "line 2: population `a`: too many neurons: 68719476736",
    );
    assert_rejected(
        &format!("{TWO}\n[[population]]\nname = \"a\"\nneurons = 1\nlif = {{}}"),
        "line 18: population `a`: the name is used twice",
    );
    assert_rejected(
        &with_projection("rule = \"one-to-two\"\nweight = 1.0"),
        "line 21: unknown variant `one-to-two`, expected one of `one-to-one`",
    );
    assert_rejected(
        &with_projection("rule = \"all-to-all\"\nweight = {}"),
        "line 22: expected a number, { mean = NUMBER, std = NUMBER }",
    );
    assert_rejected(
        &with_projection("rule = \"all-to-all\"\nweight = 1e12"),
        "line 18: projection from `a` to `b`: weight is 1000000000000",
    );
    assert_rejected(
        &with_projection("rule = \"all-to-all\"\nweight = 1.0\ndelay = 0.1"),
        "line 18: projection from `a` to `b`: delay is 0.1",
    );
    let unlimited = "rule = \"all-to-all\"\nweight = 1.0\ndelay = { mean = 1.0, std = 1.0 }";
    assert_rejected(
        &with_projection(unlimited),
        "projection from `a` to `b`: a delay with `mean` and `std` also needs `max`",
    );
    assert_rejected(
        &with_projection("rule = \"one-to-one\"\nweight = 1.0"),
        "line 18: projection from `a` to `b`: ",
    );
    assert_rejected(
        &with_projection("rule = \"all-to-all\"\nweight = 1.0").replace("\"b\"\nrule", "\"c\"\nrule"),
        "there is no population `c`",
    );
    assert_rejected(
        &with_projection("rule = \"all-to-all\"\nweight = 1000000.0"),
        "net.toml: network: the inputs of neuron ",
    );
}

#[test]
fn unknown_extensions_are_rejected() {
    for (name, expected) in [
        ("x.npz", "expected a .toml file that describes the neurons"),
        ("x", "found none"),
        ("x.yml", "found .yml"),
    ] {
        let error = open(Path::new(name), None).expect_err("the extension is unknown").to_string();
        assert!(error.starts_with(&format!("{name}: file name: ")) && error.contains(expected), "{error}");
    }
}
