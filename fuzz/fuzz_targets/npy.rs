//! The reader of NumPy's arrays takes any bytes.

#![no_main]

use kvrm_convert::fuzz::npy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| match npy("file", "array", file) {
    Ok(tensor) => {
        assert_eq!(tensor.dims.iter().product::<usize>(), tensor.values.len(), "as many as the shape says");
        assert!(tensor.values.len() <= file.len(), "no more values than bytes");
        assert!(tensor.values.iter().all(|value| value.is_finite()), "numbers");
    }
    Err(error) => assert!(error.to_string().starts_with("file: "), "errors name the file"),
});
