//! Random system calls from several threads.

use kvrm_testkit::random::Random;
use kvrm_testkit::thread_calls::{self, Root};

#[test]
fn random_calls_of_threads_end_the_same_in_pieces_and_stay_in_their_root() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let root = Root::create(folder.path()).expect("the folder is writable");
    let random = &mut Random::new(1);
    let calls: u64 = (0..8).map(|_| root.check(&thread_calls::inputs(random, 24))).sum();
    assert!(calls > 8000, "only {calls} calls were served");
}
