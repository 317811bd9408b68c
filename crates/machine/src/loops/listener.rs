//! The engine of whose loops an advisor hears.

use std::fmt;
use std::sync::Arc;

use kvrm_loops::Proof;

use super::advising::Hearing;
use super::entries::entry;
use super::known::{KnownLoop, KnownLoops};
use super::{LoopHandle, Loops};

/// The engine of whose loops an advisor hears. There is one at a time, because the order of several is a matter of chance.
#[doc(hidden)]
pub struct LoopListener {
    known: Arc<KnownLoops>,
    /// Until it is dropped, there is no other listener.
    _hearing: Arc<Hearing>,
}

impl Loops {
    /// Returns the listener to whom the caller has to tell of entries of loops. Returns `None` if nobody wants to hear of them, or if
    /// another engine has the listener.
    #[doc(hidden)]
    #[must_use]
    pub fn listen(&self) -> Option<LoopListener> {
        let hearing = self.known.advising()?.listen()?;
        Some(LoopListener { known: Arc::clone(&self.known), _hearing: hearing })
    }
}

impl LoopListener {
    /// Hears that a lane is at the beginning of an iteration of a loop that is proved, if the registers of micro-ops are `registers`
    /// now.
    pub fn hear(&self, handle: &LoopHandle, proof: &Proof, registers: &[u64]) {
        self.hear_of(&handle.known, proof, registers);
    }

    pub(super) fn hear_of(&self, known: &KnownLoop, proof: &Proof, registers: &[u64]) {
        if let (Some(advising), Some(entry)) = (self.known.advising(), entry(known.place(), proof, registers))
        {
            advising.hear(&entry);
        }
    }
}

impl fmt::Debug for LoopListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopListener").finish_non_exhaustive()
    }
}
