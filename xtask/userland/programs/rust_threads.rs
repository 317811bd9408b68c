//! Threads, channels and processes of Rust's standard library.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;

thread_local! {
    static LOCAL: Cell<u64> = const { Cell::new(7) };
}

fn channels(threads: u64, rounds: u64) {
    let (sender, receiver) = mpsc::sync_channel(3);
    for thread in 0..threads {
        let sender = sender.clone();
        thread::spawn(move || (0..rounds).for_each(|round| sender.send((thread, round)).expect("a receiver")));
    }
    drop(sender);
    let mut sums = BTreeMap::new();
    for (thread, round) in receiver {
        *sums.entry(thread).or_insert(0) += round;
    }
    println!("channels {sums:?}");
    let (sender, receiver) = mpsc::channel::<u64>();
    println!("timeout {:?}", receiver.recv_timeout(Duration::from_millis(2)));
    drop(sender);
    println!("closed {:?}", receiver.recv());
}

fn locks(threads: u64, rounds: u64) {
    let total = Arc::new((Mutex::new(0), Condvar::new()));
    let table = RwLock::new(BTreeMap::new());
    let (barrier, atomic) = (Barrier::new(threads as usize), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..threads {
            let (total, table, barrier, atomic) = (Arc::clone(&total), &table, &barrier, &atomic);
            scope.spawn(move || {
                for round in 0..rounds {
                    *total.0.lock().expect("no panic") += thread;
                    table.write().expect("no panic").insert((thread, round % 4), round);
                    atomic.fetch_add(table.read().expect("no panic").contains_key(&(thread, round % 4)) as u64, Ordering::Relaxed);
                    LOCAL.set(LOCAL.get() + 1);
                }
                assert_eq!(LOCAL.get(), 7 + rounds);
                barrier.wait();
                total.1.notify_all();
            });
        }
    });
    println!("locks {} {} {}", total.0.lock().expect("no panic"), atomic.into_inner(), LOCAL.get());
    println!("table {:?}", table.into_inner());
}

fn panics() {
    let mutex = Arc::new(Mutex::new(1));
    let shared = Arc::clone(&mutex);
    let thread = thread::Builder::new().name("panics".to_owned()).spawn(move || {
        let _guard = shared.lock();
        std::panic::resume_unwind(Box::new("a value"));
    });
    let result = thread.expect("a thread").join();
    println!("panic {:?}, poisoned {}", result.map_err(|value| *value.downcast::<&str>().expect("a text")), mutex.is_poisoned());
    static ONCE: OnceLock<u64> = OnceLock::new();
    let values: Vec<_> = (0..4).map(|n| thread::spawn(move || *ONCE.get_or_init(|| 42 + n * 0))).collect();
    println!("once {:?}", values.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>());
}

fn processes() {
    let mut child = Command::new("sort").arg("-r").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sort");
    child.stdin.take().expect("a pipe").write_all(b"a\nc\nb\n").expect("a reader");
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    println!("sorted {text:?} {:?}", child.wait().expect("a status").code());
    let status = Command::new("sh").args(["-c", "kill -9 $$"]).status().expect("sh");
    println!("killed {:?} {status}", status.code());
    std::fs::create_dir_all("made/by/rust").expect("a folder");
    std::fs::write("made/by/rust/file", "contents").expect("a file");
    std::fs::copy("made/by/rust/file", "made/copy").expect("a copy");
    println!("{:?}", std::fs::metadata("made/copy").expect("a file").len());
    println!("{:?}", std::fs::read("made/missing").map_err(|error| error.to_string()));
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(2).map(|text| text.parse().expect("a number")).collect();
    let [threads, rounds] = [arguments.first().copied().unwrap_or(4), arguments.get(1).copied().unwrap_or(100)];
    match std::env::args().nth(1).as_deref() {
        Some("channels") => channels(threads, rounds),
        Some("locks") => locks(threads, rounds),
        Some("panics") => panics(),
        Some("processes") => processes(),
        _ => std::process::exit(2),
    }
}
