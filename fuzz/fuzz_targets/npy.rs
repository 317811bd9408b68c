//! Checks that the reader of NumPy's arrays accepts or refuses any bytes without a panic.

#![no_main]

use kvrm_convert::fuzz::npy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| match npy("file", "array", file) {
    Ok(tensor) => {
        assert_eq!(tensor.dims.iter().product::<usize>(), tensor.values.len(), "the number of values is the product of the dimensions");
        assert!(tensor.values.len() <= file.len(), "no more values than bytes");
        assert!(tensor.values.iter().all(|value| value.is_finite()), "values are finite");
    }
    Err(error) => assert!(error.to_string().starts_with("file: "), "errors name the file"),
});
