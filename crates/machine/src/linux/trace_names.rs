//! Names for the trace of system calls: errno values, signals, and their codes.

use super::signals::{SigInfo, info_word};

/// The errno values of Linux on AArch64 that a program may get, with their texts.
#[rustfmt::skip] // One line each.
const ERRORS: &[(u16, &str, &str)] = &[
    (1, "EPERM", "Operation not permitted"),
    (2, "ENOENT", "No such file or directory"),
    (3, "ESRCH", "No such process"),
    (4, "EINTR", "Interrupted system call"),
    (5, "EIO", "Input/output error"),
    (6, "ENXIO", "No such device or address"),
    (7, "E2BIG", "Argument list too long"),
    (8, "ENOEXEC", "Exec format error"),
    (9, "EBADF", "Bad file descriptor"),
    (10, "ECHILD", "No child processes"),
    (11, "EAGAIN", "Resource temporarily unavailable"),
    (12, "ENOMEM", "Cannot allocate memory"),
    (13, "EACCES", "Permission denied"),
    (14, "EFAULT", "Bad address"),
    (15, "ENOTBLK", "Block device required"),
    (16, "EBUSY", "Device or resource busy"),
    (17, "EEXIST", "File exists"),
    (18, "EXDEV", "Invalid cross-device link"),
    (19, "ENODEV", "No such device"),
    (20, "ENOTDIR", "Not a directory"),
    (21, "EISDIR", "Is a directory"),
    (22, "EINVAL", "Invalid argument"),
    (23, "ENFILE", "Too many open files in system"),
    (24, "EMFILE", "Too many open files"),
    (25, "ENOTTY", "Inappropriate ioctl for device"),
    (26, "ETXTBSY", "Text file busy"),
    (27, "EFBIG", "File too large"),
    (28, "ENOSPC", "No space left on device"),
    (29, "ESPIPE", "Illegal seek"),
    (30, "EROFS", "Read-only file system"),
    (31, "EMLINK", "Too many links"),
    (32, "EPIPE", "Broken pipe"),
    (33, "EDOM", "Numerical argument out of domain"),
    (34, "ERANGE", "Numerical result out of range"),
    (35, "EDEADLK", "Resource deadlock avoided"),
    (36, "ENAMETOOLONG", "File name too long"),
    (37, "ENOLCK", "No locks available"),
    (38, "ENOSYS", "Function not implemented"),
    (39, "ENOTEMPTY", "Directory not empty"),
    (40, "ELOOP", "Too many levels of symbolic links"),
    (42, "ENOMSG", "No message of desired type"),
    (43, "EIDRM", "Identifier removed"),
    (44, "ECHRNG", "Channel number out of range"),
    (45, "EL2NSYNC", "Level 2 not synchronized"),
    (46, "EL3HLT", "Level 3 halted"),
    (47, "EL3RST", "Level 3 reset"),
    (49, "EUNATCH", "Protocol driver not attached"),
    (50, "ENOCSI", "No CSI structure available"),
    (51, "EL2HLT", "Level 2 halted"),
    (52, "EBADE", "Invalid exchange"),
    (53, "EBADR", "Invalid request descriptor"),
    (54, "EXFULL", "Exchange full"),
    (55, "ENOANO", "No anode"),
    (56, "EBADRQC", "Invalid request code"),
    (57, "EBADSLT", "Invalid slot"),
    (59, "EBFONT", "Bad font file format"),
    (60, "ENOSTR", "Device not a stream"),
    (61, "ENODATA", "No data available"),
    (62, "ETIME", "Timer expired"),
    (63, "ENOSR", "Out of streams resources"),
    (64, "ENONET", "Machine is not on the network"),
    (65, "ENOPKG", "Package not installed"),
    (66, "EREMOTE", "Object is remote"),
    (68, "EADV", "Advertise error"),
    (69, "ESRMNT", "Srmount error"),
    (70, "ECOMM", "Communication error on send"),
    (71, "EPROTO", "Protocol error"),
    (72, "EMULTIHOP", "Multihop attempted"),
    (73, "EDOTDOT", "RFS specific error"),
    (74, "EBADMSG", "Bad message"),
    (75, "EOVERFLOW", "Value too large for defined data type"),
    (76, "ENOTUNIQ", "Name not unique on network"),
    (77, "EBADFD", "File descriptor in bad state"),
    (78, "EREMCHG", "Remote address changed"),
    (79, "ELIBACC", "Can not access a needed shared library"),
    (80, "ELIBBAD", "Accessing a corrupted shared library"),
    (81, "ELIBSCN", ".lib section in a.out corrupted"),
    (82, "ELIBMAX", "Attempting to link in too many shared libraries"),
    (83, "ELIBEXEC", "Cannot exec a shared library directly"),
    (84, "EILSEQ", "Invalid or incomplete multibyte or wide character"),
    (85, "ERESTART", "Interrupted system call should be restarted"),
    (86, "ESTRPIPE", "Streams pipe error"),
    (87, "EUSERS", "Too many users"),
    (88, "ENOTSOCK", "Socket operation on non-socket"),
    (89, "EDESTADDRREQ", "Destination address required"),
    (90, "EMSGSIZE", "Message too long"),
    (91, "EPROTOTYPE", "Protocol wrong type for socket"),
    (92, "ENOPROTOOPT", "Protocol not available"),
    (93, "EPROTONOSUPPORT", "Protocol not supported"),
    (94, "ESOCKTNOSUPPORT", "Socket type not supported"),
    (95, "EOPNOTSUPP", "Operation not supported"),
    (96, "EPFNOSUPPORT", "Protocol family not supported"),
    (97, "EAFNOSUPPORT", "Address family not supported by protocol"),
    (98, "EADDRINUSE", "Address already in use"),
    (99, "EADDRNOTAVAIL", "Cannot assign requested address"),
    (100, "ENETDOWN", "Network is down"),
    (101, "ENETUNREACH", "Network is unreachable"),
    (102, "ENETRESET", "Network dropped connection on reset"),
    (103, "ECONNABORTED", "Software caused connection abort"),
    (104, "ECONNRESET", "Connection reset by peer"),
    (105, "ENOBUFS", "No buffer space available"),
    (106, "EISCONN", "Transport endpoint is already connected"),
    (107, "ENOTCONN", "Transport endpoint is not connected"),
    (108, "ESHUTDOWN", "Cannot send after transport endpoint shutdown"),
    (109, "ETOOMANYREFS", "Too many references: cannot splice"),
    (110, "ETIMEDOUT", "Connection timed out"),
    (111, "ECONNREFUSED", "Connection refused"),
    (112, "EHOSTDOWN", "Host is down"),
    (113, "EHOSTUNREACH", "No route to host"),
    (114, "EALREADY", "Operation already in progress"),
    (115, "EINPROGRESS", "Operation now in progress"),
    (116, "ESTALE", "Stale file handle"),
    (117, "EUCLEAN", "Structure needs cleaning"),
    (118, "ENOTNAM", "Not a XENIX named type file"),
    (119, "ENAVAIL", "No XENIX semaphores available"),
    (120, "EISNAM", "Is a named type file"),
    (121, "EREMOTEIO", "Remote I/O error"),
    (122, "EDQUOT", "Disk quota exceeded"),
    (123, "ENOMEDIUM", "No medium found"),
    (124, "EMEDIUMTYPE", "Wrong medium type"),
    (125, "ECANCELED", "Operation canceled"),
    (126, "ENOKEY", "Required key not available"),
    (127, "EKEYEXPIRED", "Key has expired"),
    (128, "EKEYREVOKED", "Key has been revoked"),
    (129, "EKEYREJECTED", "Key was rejected by service"),
    (130, "EOWNERDEAD", "Owner died"),
    (131, "ENOTRECOVERABLE", "State not recoverable"),
    (132, "ERFKILL", "Operation not possible due to RF-kill"),
];

/// The names of the signals from 1 to 31, without `SIG`.
#[rustfmt::skip] // Several on a line.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

/// The codes of signals: signal (0 for any), code, name.
const CODES: &[(u64, i32, &str)] = &[
    (0, 0, "SI_USER"),
    (0, 0x80, "SI_KERNEL"),
    (0, -1, "SI_QUEUE"),
    (0, -2, "SI_TIMER"),
    (0, -3, "SI_MESGQ"),
    (0, -4, "SI_ASYNCIO"),
    (0, -6, "SI_TKILL"),
    (4, 1, "ILL_ILLOPC"),
    (5, 1, "TRAP_BRKPT"),
    (7, 1, "BUS_ADRALN"),
    (7, 2, "BUS_ADRERR"),
    (11, 1, "SEGV_MAPERR"),
    (11, 2, "SEGV_ACCERR"),
    (17, 1, "CLD_EXITED"),
    (17, 2, "CLD_KILLED"),
    (17, 3, "CLD_DUMPED"),
    (17, 4, "CLD_TRAPPED"),
    (17, 5, "CLD_STOPPED"),
    (17, 6, "CLD_CONTINUED"),
];

/// Returns the name and the text of an errno value.
pub(super) fn error(number: u16) -> Option<(&'static str, &'static str)> {
    let found = ERRORS.binary_search_by_key(&number, |row| row.0).ok()?;
    Some((ERRORS[found].1, ERRORS[found].2))
}

/// Returns the name of a signal, or its number if it has none.
pub(super) fn signal(number: u64) -> String {
    match number {
        1..=31 => format!("SIG{}", SIGNALS[number as usize - 1]),
        32 => "SIGRTMIN".to_owned(),
        33..=64 => format!("SIGRT_{}", number - 32),
        _ => number.to_string(),
    }
}

/// Returns a signal mask: the names of its signals, or of all others if it has more.
pub(super) fn mask(bits: u64) -> String {
    let is_inverted = bits.count_ones() > 32;
    let shown = if is_inverted { !bits } else { bits };
    let names = (1..=64).filter(|number| shown >> (number - 1) & 1 == 1).map(|number| {
        let name = signal(number);
        name.strip_prefix("SIG").map_or(name.clone(), str::to_owned)
    });
    let names: Vec<String> = names.collect();
    format!("{}[{}]", if is_inverted { "~" } else { "" }, names.join(" "))
}

/// Returns information about a signal, as its handler gets it.
pub(super) fn information(info: &SigInfo) -> String {
    let word = |at: usize| info_word(info, at);
    let address = u64::from(word(16) as u32) | u64::from(word(20) as u32) << 32;
    let (number, code) = (word(0) as u32, word(8));
    let named = CODES.iter().find(|(of, value, _)| (*of == 0 || *of == u64::from(number)) && *value == code);
    let code_name = named.map_or_else(|| code.to_string(), |(.., name)| (*name).to_owned());
    let mut text = format!("{{si_signo={}, si_code={code_name}", signal(number.into()));
    let more = match (number, code) {
        (17, 1..=6) => {
            let status = word(24);
            let status = if code == 1 { status.to_string() } else { signal(status as u64) };
            format!(", si_pid={}, si_uid={}, si_status={status}, si_utime=0, si_stime=0", word(16), word(20))
        }
        (4 | 5 | 7 | 8 | 11, 1..) => match address {
            0 => ", si_addr=NULL".to_owned(),
            address => format!(", si_addr={address:#x}"),
        },
        (_, -2) => format!(", si_timerid={}, si_overrun={}", word(16), word(20)),
        (_, 0x80) => String::new(),
        _ => format!(", si_pid={}, si_uid={}", word(16), word(20)),
    };
    text.push_str(&more);
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sorted() {
        assert!(ERRORS.is_sorted_by(|a, b| a.0 < b.0), "`error` searches them by bisection");
        assert_eq!(error(2), Some(("ENOENT", "No such file or directory")), "a usual one");
        assert_eq!(error(4095), None, "no such errno");
    }

    #[test]
    fn signals_have_the_names_of_strace() {
        assert_eq!(
            [1, 9, 17, 31, 32, 33, 64, 65].map(signal),
            ["SIGHUP", "SIGKILL", "SIGCHLD", "SIGSYS", "SIGRTMIN", "SIGRT_1", "SIGRT_32", "65"],
            "names"
        );
        assert_eq!(mask(0), "[]", "none");
        assert_eq!(mask(1 << 1 | 1 << 16), "[INT CHLD]", "some");
        assert_eq!(mask(!(1 << 8)), "~[KILL]", "most");
    }

    #[test]
    fn information_has_the_fields_of_its_kind() {
        let mut info = [0; 128];
        (info[0], info[8], info[16], info[24]) = (17, 1, 3, 7);
        let expected =
            "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=7, si_utime=0, si_stime=0}";
        assert_eq!(information(&info), expected, "of a child");
        let mut info = [0; 128];
        (info[0], info[8], info[17]) = (11, 1, 0x10);
        assert_eq!(
            information(&info),
            "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x1000}",
            "of a fault"
        );
    }
}
