//! Several processes that share the work of one command. They are not threads, because all threads of a process share
//! its device and would lose it together.

use std::env;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

/// The share of the numbered scripts or programs that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Share {
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Run only the script or program with this number.
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) only: Option<u64>,
    /// Number of processes that share the work.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jobs: u64,
    /// Number of this process among them.
    #[arg(long, hide = true)]
    pub(crate) part: Option<u64>,
}

impl Share {
    /// Returns whether other processes are to do the work.
    pub(crate) const fn is_divided(self) -> bool {
        self.jobs > 1 && self.part.is_none()
    }

    /// Returns whether this process is to run the script or program with this number.
    pub(crate) fn includes(self, number: u64) -> bool {
        self.only.map_or_else(|| number % self.jobs == self.part.unwrap_or(0), |only| number == only)
    }

    /// Starts the processes with this command line, and passes each line that they print to `each`, with the number of
    /// the process. Returns whether all succeeded.
    ///
    /// # Errors
    ///
    /// A process cannot be started or waited for.
    pub(crate) fn start(self, mut each: impl FnMut(u64, &str)) -> io::Result<bool> {
        let (sender, receiver) = mpsc::channel();
        let mut children = Vec::new();
        for part in 0..self.jobs {
            let mut child = Command::new(env::current_exe()?)
                .args(env::args_os().skip(1))
                .args(["--part".to_owned(), part.to_string()])
                .stdout(Stdio::piped())
                .spawn()?;
            let (sender, printed) = (sender.clone(), child.stdout.take());
            thread::spawn(move || {
                // A line that cannot be read ends the output of the process. Its exit status still shows whether it
                // failed.
                for line in
                    printed.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok)
                {
                    if sender.send((part, line)).is_err() {
                        break;
                    }
                }
            });
            children.push(child);
        }
        drop(sender);
        receiver.iter().for_each(|(part, line)| each(part, &line));
        let wait = |child: &mut Child| child.wait().map(|status| status.success());
        children.iter_mut().try_fold(true, |all, child| Ok(wait(child)? && all))
    }
}
