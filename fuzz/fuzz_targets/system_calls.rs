//! Makes system calls from several threads of a lane, and the processes that they make.
//!
//! The input chooses calls and arguments (`kvrm_testkit::thread_calls`). Checked are: no panic, the same state in pieces and at once,
//! a bounded saved machine, and that the lane neither reads nor changes what is outside of its root.

#![no_main]

use std::sync::LazyLock;

use kvrm_testkit::thread_calls::Root;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    Root::create(folder.path()).expect("the folder is writable");
    folder
});

fuzz_target!(|input: &[u8]| {
    let _calls = Root::of(FOLDER.path()).check(&[input.to_vec()]);
});
