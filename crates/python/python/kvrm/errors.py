"""The exceptions of this package. A mistake of a guest is a :class:`kvrm.Stop`, not an exception."""


class Error(Exception):
    """A failure of the host, or of its input. The text is that of the error in Rust, followed by its causes."""


class EngineError(Error):
    """A failure of an engine or of its device, for instance a GPU that is lost.

    A machine whose GPU was lost restores its lanes with the next call.
    """


class RecordingOverflow(Error):
    """A recorder of spikes that had too little room. All steps of the run were executed.

    It has the spikes up to a step, and none after it, so there is no gap. ``take_spikes`` makes room.
    """
