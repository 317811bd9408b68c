//! Tells the tests whether they may use a GPU: with `KVRM_GPU=skip` those that need one are ignored.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=KVRM_GPU");
    println!("cargo::rustc-check-cfg=cfg(kvrm_skip_gpu)");
    match env::var("KVRM_GPU").ok().as_deref() {
        None | Some("") => {}
        Some("skip") => println!("cargo::rustc-cfg=kvrm_skip_gpu"),
        Some(other) => println!("cargo::error=KVRM_GPU is {other:?}; \"skip\" is the one value it may have"),
    }
}
