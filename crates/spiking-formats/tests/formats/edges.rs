//! Edge lists: networks from all formats, and the errors of invalid lists.

use crate::support::{assert_rejected, described};

/// Returns a description of a hundred neurons with an edge list.
fn with_edges(edges: &str) -> String {
    let population = "[[population]]\nname = \"p\"\nneurons = 40\nlif = {}\n";
    let second = population.replace("\"p\"", "\"q\"").replace("40", "60");
    format!("dt = 1.0\nfraction_bits = 16\n{population}{second}[[edges]]\n{edges}")
}

const COLUMNS: &str = "weight = \"weight\"\ndelay = \"delay\"\n";

#[test]
#[cfg_attr(not(feature = "parquet"), ignore = "needs the feature parquet")]
fn all_formats_give_the_same_network() {
    let of = |name: &str| described(&with_edges(&format!("file = \"FILES/{name}\"\n{COLUMNS}"))).expect(name);
    let network = of("edges.npz");
    assert_eq!(network.synapses().count(), 200, "all edges");
    for source in 0..100 {
        let found: Vec<_> =
            network.synapses().row(source).map(|synapse| (synapse.target, synapse.delay)).collect();
        let delays = if source % 2 == 0 { [1, 2] } else { [3, 1] };
        let mut expected = vec![((source + 1) % 100, delays[0]), ((source + 7) % 100, delays[1])];
        expected.sort_unstable();
        assert_eq!(found, expected, "the row of {source}");
    }
    let first = network.synapses().row(0).next().expect("an edge");
    assert_eq!(first.weight, -65536, "the weight of the first, with 16 fraction bits");
    for name in ["compressed.npz", "edges.parquet", "gzip.parquet"] {
        assert_eq!(of(name), network, "{name}");
    }
}

#[test]
fn edge_lists_accept_constants_and_numbers_within_a_population() {
    let list = "file = \"FILES/edges.npz\"\nsource_population = \"p\"\n";
    assert_rejected(
        &with_edges(&format!("{list}weight = 1.0")),
        "column `source`: expected integers from 0 to 39, found 40",
    );
    let network = described(&with_edges(
        "file = \"FILES/edges.npz\"\nweight = \"delay\"\nweight_scale = -0.5\ndelay = 2.4",
    ))
    .expect("the description is valid");
    let synapse = network.synapses().row(3).next().expect("an edge");
    assert_eq!((synapse.weight, synapse.delay), (-3 << 15, 2), "3 times -0.5, and 2.4 rounded to steps");
}

#[test]
#[cfg_attr(not(feature = "parquet"), ignore = "needs the feature parquet")]
fn errors_of_lists_name_the_column() {
    let list = |name: &str, rest: &str| with_edges(&format!("file = \"FILES/{name}\"\n{rest}"));
    assert_rejected(&list("missing.npz", COLUMNS), "cannot read ");
    assert_rejected(
        &list("make.py", COLUMNS),
        "make.py: file name: expected the extension .npz or .parquet, found .py",
    );
    assert_rejected(
        &list("edges.npz", "weight = \"wait\""),
        "column `wait`: expected this column, found only `source`",
    );
    assert_rejected(
        &list("edges.parquet", "weight = \"wait\""),
        "column `wait`: expected this column, found only `source`",
    );
    assert_rejected(
        &list("edges.npz", "source = \"weight\"\nweight = 1.0"),
        "expected integers from 0 to 99, found floating",
    );
    assert_rejected(
        &list("edges.parquet", "weight = \"name\""),
        "column `name`: expected integers or floating point",
    );
    assert_rejected(
        &list("edges.parquet", "weight = \"gap\""),
        "column `gap`: expected a number in each row, found 100 values",
    );
    assert_rejected(&list("zstd.parquet", COLUMNS), "column `source`: expected values that can be read");
    assert_rejected(
        &list("edges.npz", "weight = 1.0\ndelay = 0.0"),
        "delay: expected 1 to 65535 steps of 1 ms, found 0 ms in row 0",
    );
    assert_rejected(
        &list("edges.npz", "weight = 1e9"),
        "edges.npz: edges: weight is 1000000000, expected less than 32768",
    );
    assert_rejected(
        &list("edges.npz", "weight = 1.0\ntarget_population = \"r\""),
        "net.toml: line 11: there is no population `r`",
    );
}
