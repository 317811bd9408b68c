//! The embedded guests are the compiled guests of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn every_compiled_guest_is_embedded_under_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin");
    let mut on_disk = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be listed").path();
        let name = path.file_stem().expect("files have names").to_string_lossy().into_owned();
        on_disk.insert(name, fs::read(&path).expect("the file can be read"));
    }
    let embedded: BTreeMap<String, Vec<u8>> =
        kvrm_guests::FILES.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    assert!(embedded == on_disk, "{:?} are embedded, {:?} exist", embedded.keys(), on_disk.keys());
}

#[test]
fn guests_are_found_by_their_names() {
    for (name, bytes) in kvrm_guests::FILES {
        assert_eq!(kvrm_guests::elf(name), Some(bytes), "{name}, because the names are sorted");
    }
    assert_eq!(kvrm_guests::elf("sieve.elf"), None, "names have no extension");
}
