//! A file that is said to have a NIR graph is refused, or becomes a network.

#![no_main]

use kvrm_spiking_formats::import;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    // Shared memory where there is such a place: each input is a file.
    let folder =
        if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
    let path = folder.join(format!("kvrm-fuzz-{}.nir", std::process::id()));
    std::fs::write(&path, file).expect("there is room");
    if let Err(error) = import(&path, 0.1) {
        assert!(error.to_string().contains(".nir"), "every error names the file: {error}");
    }
});
