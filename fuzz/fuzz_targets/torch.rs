//! Checks that the readers of PyTorch's files accept or refuse any bytes without a panic, as a complete file and as the
//! pickle of one.

#![no_main]

use kvrm_convert::{fuzz, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    for result in [fuzz::pickle("file", file), read("file", file)] {
        match result {
            Ok(content) => {
                let values: usize = content.tensors.iter().map(|tensor| tensor.values.len()).sum();
                assert!(
                    values <= file.len().max(64 << 20),
                    "no more values than bytes, or than the limit of inflated data"
                );
            }
            Err(error) => assert!(error.to_string().starts_with("file: "), "errors name the file"),
        }
    }
});
