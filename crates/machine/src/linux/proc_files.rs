//! Open files of `/proc`.

use std::sync::Arc;

use super::call::Call;
use super::errno::{EINVAL, EIO, EISDIR, ESRCH};
use super::failure::{CallResult, Failure};
use super::files::Nodes as _;
use super::guest::Guest;
use super::open_files::Object;
use super::proc_node::Node;
use super::proc_system::memory;
use super::proc_table::named_by;
use super::proc_text::Look;
use super::status::FileStatus;

impl Call<'_> {
    /// Returns the text of an open file of `/proc`. It is made anew when its beginning is read.
    pub(super) fn node_text(
        &mut self,
        descriptor: u64,
        node: Node,
        at: u64,
    ) -> Result<Arc<Vec<u8>>, Failure> {
        if self.kernel.is_directory(node.number()) {
            return Err(EISDIR.into());
        }
        let kept = self.kernel.description(descriptor)?.text.clone();
        if let Some(text) = kept.filter(|_| at > 0) {
            return Ok(text);
        }
        let mut guest = Guest { lane: &mut *self.guest.lane };
        let steps = self.cpu.steps;
        let text = Look { kernel: &mut *self.kernel, guest: &mut guest, steps }.text(node)?;
        let text = Arc::new(text);
        self.kernel.description_mut(descriptor)?.text = Some(Arc::clone(&text));
        Ok(text)
    }

    /// Writes to an open file of `/proc`: the name of a process or thread. Other files cannot be changed.
    pub(super) fn put_node(&mut self, node: Node, data: &[u8]) -> CallResult {
        let Some(owner) = named_by(node) else {
            return Err(if matches!(node, Node::System(_)) { EIO } else { EINVAL }.into());
        };
        let process = self.kernel.process_of(owner)?;
        // Threads of other processes keep their names.
        if process != self.kernel.process_id() {
            return Err(EINVAL.into());
        }
        let mut name = [0; 16];
        let bytes = data.len().min(15);
        name[..bytes].copy_from_slice(&data[..bytes]);
        if let Some(end) = name.iter().position(|byte| *byte == b'\n') {
            name[end..].fill(0);
        }
        if owner.id == self.kernel.turns.current {
            self.kernel.state.name = name;
        } else {
            let thread = self.kernel.threads.get_mut(&owner.id).ok_or(ESRCH)?;
            thread.parked.iter_mut().for_each(|parked| parked.name = name);
        }
        Ok(data.len() as u64)
    }

    /// Returns the memory of the lane, in bytes: all of it, and what is free.
    pub(super) fn memory(&mut self) -> Result<(u64, u64), Failure> {
        let mut guest = Guest { lane: &mut *self.guest.lane };
        memory(&mut Look { kernel: &mut *self.kernel, guest: &mut guest, steps: self.cpu.steps })
    }

    /// Returns the status of an object.
    pub(super) fn status(&self, object: Object) -> FileStatus {
        let now = self.now();
        if let Object::Inode(number) = object
            && let Some(node) = Node::of(number)
        {
            return self.kernel.node_status(number, node, now);
        }
        FileStatus::of(object, self.kernel, now)
    }
}
