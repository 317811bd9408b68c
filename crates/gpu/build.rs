//! Passes the environment variable `KVRM_GPU` to the tests: with `skip`, tests that need a GPU are ignored.
//!
//! `kvrm-gpu-tools` uses this script, too. `kvrm-cli` has a copy, because a package has only files of its own folder.

use std::env;

fn main() {
    println!("cargo::rerun-if-env-changed=KVRM_GPU");
    println!("cargo::rustc-check-cfg=cfg(kvrm_skip_gpu)");
    match env::var("KVRM_GPU").ok().as_deref() {
        None | Some("") => {}
        Some("skip") => println!("cargo::rustc-cfg=kvrm_skip_gpu"),
        Some(other) => println!("cargo::error=KVRM_GPU is {other:?}, expected \"skip\" or nothing"),
    }
}
