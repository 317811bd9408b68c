//! Files that need a Cargo feature, in a build without it.

use kvrm_spiking_formats::open;

use crate::support::{assert_rejected, file};

#[test]
#[cfg_attr(feature = "nir", ignore = "for builds without the feature nir")]
fn a_nir_graph_names_the_feature_it_needs() {
    let error = open(&file("lif.nir"), None).expect_err("the feature is off").to_string();
    let expected = "lif.nir: file format: expected a program built with the Cargo feature `nir`";
    assert!(error.contains(expected), "{error}");
}

#[test]
#[cfg_attr(feature = "parquet", ignore = "for builds without the feature parquet")]
fn a_parquet_file_names_the_feature_it_needs() {
    let edges = "[[edges]]\nfile = \"FILES/edges.parquet\"\nweight = 1.0\ndelay = 1.0";
    assert_rejected(
        &format!(
            "dt = 1.0\nfraction_bits = 16\n[[population]]\nname = \"p\"\nneurons = 100\nlif = {{}}\n{edges}"
        ),
        "edges.parquet: file format: expected a program built with the Cargo feature `parquet`",
    );
}
