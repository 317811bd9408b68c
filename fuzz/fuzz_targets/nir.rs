//! Checks that any bytes are refused as a NIR graph, or imported as a network, without a panic.

#![no_main]

use kvrm_spiking_formats::import;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    // The importer reads a file, so each input is written to one; in shared memory if possible, which is faster.
    let folder =
        if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
    let path = folder.join(format!("kvrm-fuzz-{}.nir", std::process::id()));
    std::fs::write(&path, file).expect("the input can be written");
    if let Err(error) = import(&path, 0.1) {
        assert!(error.to_string().contains(".nir"), "every error names the file: {error}");
    }
});
