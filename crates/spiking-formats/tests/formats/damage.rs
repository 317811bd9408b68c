//! Damaged files are rejected or contain valid networks, and never cause a panic.

use kvrm_spiking_formats::open;
use proptest::prelude::*;

use crate::support::{described, file};

/// Returns the contents of a file with changed bytes, and cut to a length.
fn damaged(
    name: &str,
    changes: &[(prop::sample::Index, u8)],
    length: Option<prop::sample::Index>,
) -> Vec<u8> {
    let mut bytes = std::fs::read(file(name)).expect("the file exists");
    for (place, byte) in changes {
        let place = place.index(bytes.len());
        bytes[place] = *byte;
    }
    bytes.truncate(length.map_or(bytes.len(), |length| length.index(bytes.len())));
    bytes
}

proptest! {
    #[test]
    fn damaged_files_cause_no_panic(
        name in prop::sample::select(vec!["lif.nir", "conv.nir", "edges.npz", "edges.parquet", "gzip.parquet"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        length in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join(name);
        std::fs::write(&path, damaged(name, &changes, length)).expect("the file can be written");
        if name.ends_with(".nir") {
            let _ = open(&path, None);
        } else {
            let text = format!(
                "dt = 1.0\nfraction_bits = 16\n[[population]]\nname = \"p\"\nneurons = 100\nlif = {{}}\n[[edges]]\n\
                 file = \"{}\"\nweight = \"weight\"\ndelay = \"delay\"",
                path.display()
            );
            let _ = described(&text);
        }
    }
}
