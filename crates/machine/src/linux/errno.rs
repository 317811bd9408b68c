//! The errno values of Linux on AArch64.

/// An errno value. A system call returns it negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Errno(pub(super) u16);

macro_rules! numbers {
    ($($name:ident = $number:literal),* $(,)?) => {
        $(pub(super) const $name: Errno = Errno($number);)*
    };
}

numbers! {
    EPERM = 1, ENOENT = 2, ESRCH = 3, EINTR = 4, EIO = 5, EBADF = 9, ECHILD = 10, EAGAIN = 11, ENOMEM = 12, EFAULT = 14,
    EBUSY = 16, EEXIST = 17, ENODEV = 19, ENOTDIR = 20, EISDIR = 21, EINVAL = 22, EMFILE = 24,
    ENOTTY = 25, EFBIG = 27, ENOSPC = 28, ESPIPE = 29, EROFS = 30, EMLINK = 31, EPIPE = 32, EDOM = 33, ERANGE = 34,
    ENAMETOOLONG = 36, ENOSYS = 38, ENOTEMPTY = 39, ELOOP = 40, ENXIO = 6, EACCES = 13,
    ETIMEDOUT = 110, E2BIG = 7, ENOEXEC = 8, EOPNOTSUPP = 95, EAFNOSUPPORT = 97, ENOTSOCK = 88, EDESTADDRREQ = 89,
    EMSGSIZE = 90, ENOMSG = 42, EIDRM = 43, EDEADLK = 35, ENOLCK = 37, ENODATA = 61, EOVERFLOW = 75, EPROTOTYPE = 91, ENOPROTOOPT = 92, EPROTONOSUPPORT = 93, ESOCKTNOSUPPORT = 94, EADDRINUSE = 98,
    EADDRNOTAVAIL = 99, ENETUNREACH = 101, ECONNRESET = 104, ENOBUFS = 105, EISCONN = 106, ENOTCONN = 107, ETOOMANYREFS = 109,
    ECONNREFUSED = 111, EALREADY = 114, EINPROGRESS = 115,
}
