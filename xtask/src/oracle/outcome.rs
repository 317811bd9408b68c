//! The observable results of a run, for comparisons.

use std::process::Output;

use anyhow::{Context as _, Result};

use crate::folders::Tree;

/// The observable results of a run: exit status as a shell reports it, outputs and files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: i64,
    pub(super) output: Vec<u8>,
    pub(super) error_output: Vec<u8>,
    pub(super) files: Tree,
}

impl Outcome {
    /// Returns the outcome of a process of the host that leaves these files.
    pub(super) fn of_process(output: Output, files: Tree) -> Result<Self> {
        use std::os::unix::process::ExitStatusExt as _;
        let status = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
        let status = status.context("the process has no status")?.into();
        Ok(Self { status, output: output.stdout, error_output: output.stderr, files })
    }

    /// Returns the outcome of a lane, as `kvrm run --json` describes it, that leaves these files.
    pub(super) fn of_lane(lane: &serde_json::Value, files: Tree) -> Self {
        let stream = |name: &str| -> Vec<u8> {
            let text = lane[name].as_str().unwrap_or_default().as_bytes().to_vec();
            lane[format!("{name}_hex")].as_str().map_or(text, from_hex)
        };
        // A lane that stopped without exiting has no status. Its stop becomes a message, which QEMU never prints.
        let status = lane["code"].as_i64().unwrap_or(-1);
        let mut error_output = stream("error_output");
        if status < 0 {
            error_output.extend(format!("stopped: {}\n", lane["detail"]).bytes());
        }
        Self { status, output: stream("output"), error_output, files }
    }

    /// Returns the status, the part of each stream from the first difference from `other`, and the files that differ.
    pub(super) fn describe(&self, other: &Self) -> String {
        let part = |ours: &[u8], theirs: &[u8]| {
            let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
            let end = ours.len().min(same + 200);
            format!("{} bytes, from {same} {:?}", ours.len(), String::from_utf8_lossy(&ours[same..end]))
        };
        let streams = [(&self.output, &other.output), (&self.error_output, &other.error_output)];
        let [output, error_output] = streams.map(|(ours, theirs)| part(ours, theirs));
        let files = self.files.iter().filter(|(path, contents)| other.files.get(*path) != Some(*contents));
        let files: Vec<_> = files.map(|(path, _)| path).collect();
        let Self { status, .. } = self;
        format!("status {status}; output {output}; error output {error_output}; files {files:?}")
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
    text.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
