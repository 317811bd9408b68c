"""The exceptions of this package. A mistake of a guest is a :class:`kvrm.Stop`, not an exception."""


class Error(Exception):
    """A failure of the host, or of its input. The text is that of the error in Rust, followed by its causes."""


class EngineError(Error):
    """A failure of an engine or of its device, for instance a GPU that is lost.

    A machine whose GPU was lost restores its lanes with the next call.
    """
