//! The text of the arguments of a system call, for its trace.

use super::call::AT_FDCWD;
use super::failure::Failure;
use super::guest::Guest;
use super::trace_calls::{Kind, arguments};
use super::trace_flags as flags;
use super::trace_names as names;
use super::trace_text::{SHOWN, file_mode, limit, pointer};

/// The arguments of a call, and the memory in which they point.
pub(super) struct Values<'a, 'g> {
    pub(super) name: &'a str,
    pub(super) guest: &'a mut Guest<'g>,
    pub(super) x: [u64; 6],
    /// The result of the call, if it has returned.
    pub(super) result: Option<i64>,
}

impl Values<'_, '_> {
    /// Returns the arguments that are known before the call, with the separator to those that are not, and the number of the first of
    /// those.
    pub(super) fn before(&mut self) -> (String, usize) {
        let kinds = arguments(self.name);
        let first = kinds.iter().position(|kind| kind.is_output()).unwrap_or(kinds.len());
        let shown: Vec<String> = (0..first).filter_map(|place| self.value(kinds[place], place)).collect();
        let is_more = first < kinds.len() && first > 0;
        (shown.join(", ") + if is_more { ", " } else { "" }, first)
    }

    /// Returns the arguments from number `first` on, after the call.
    pub(super) fn after(&mut self, first: usize) -> String {
        let kinds = arguments(self.name);
        let shown: Vec<String> =
            (first..kinds.len()).filter_map(|place| self.value(kinds[place], place)).collect();
        shown.join(", ")
    }

    /// Returns whether the call has succeeded. Arguments that a failed call does not set are shown as addresses.
    fn has_succeeded(&self) -> bool {
        self.result.is_some_and(|result| result >= 0)
    }

    /// Returns an argument; `None` if the call has none.
    fn value(&mut self, kind: Kind, place: usize) -> Option<String> {
        let x = self.x[place];
        if kind.is_output() && !self.has_succeeded() {
            return Some(pointer(x));
        }
        Some(match kind {
            Kind::ModeIfCreated if self.x[place - 1] & 0o20_000_100 == 0 => return None,
            Kind::Int => (x as i32).to_string(),
            Kind::Long => (x as i64).to_string(),
            Kind::Size => x.to_string(),
            Kind::Hex => {
                if x == 0 {
                    "0".to_owned()
                } else {
                    format!("{x:#x}")
                }
            }
            Kind::Mode | Kind::ModeIfCreated => format!("{:#05o}", x as u32).replacen("0o", "0", 1),
            Kind::Directory if x as i32 == AT_FDCWD => "AT_FDCWD".to_owned(),
            Kind::Directory => (x as i32).to_string(),
            Kind::Set(table) => flags::set(table, x & 0xffff_ffff),
            Kind::One(table) => flags::one(table, x & 0xffff_ffff),
            Kind::OpenFlags => self.open_flags(x),
            Kind::MapFlags => {
                let sharing = flags::one(flags::MAP_TYPE, x & 0xf);
                if x & !0xf == 0 {
                    sharing
                } else {
                    format!("{sharing}|{}", flags::set(flags::MAP, x & !0xf))
                }
            }
            Kind::FutexOperation => {
                let mut text = flags::one(flags::FUTEX, x & 0x7f);
                for (bit, name) in [(0x80, "_PRIVATE"), (0x100, "|FUTEX_CLOCK_REALTIME")] {
                    text.push_str(if x & bit == bit { name } else { "" });
                }
                text
            }
            Kind::SocketType => {
                let more = x & 0o2_004_000;
                let kind = flags::one(flags::SOCKET, x & 0xf);
                if more == 0 { kind } else { format!("{kind}|{}", flags::set(flags::SOCKET_FLAGS, more)) }
            }
            Kind::CloneFlags => {
                let (set, signal) = (x & 0xffff_ff00, x & 0xff);
                let set_text = flags::set(flags::CLONE, set);
                match signal {
                    0 => set_text,
                    _ if set == 0 => names::signal(signal),
                    _ => format!("{set_text}|{}", names::signal(signal)),
                }
            }
            Kind::Signal => names::signal(x & 0xffff_ffff),
            Kind::FcntlArgument => return self.fcntl_argument(x),
            Kind::PrctlArgument if self.x[0] == 15 => self.path(x),
            Kind::PrctlArgument => pointer(x),
            Kind::Pointer => pointer(x),
            kind if x == 0 && !matches!(kind, Kind::Controlled) => "NULL".to_owned(),
            kind => self.pointed(kind, place, x).unwrap_or_else(|_| pointer(x)),
        })
    }

    /// Returns an argument that is an address, by what is there.
    fn pointed(&mut self, kind: Kind, place: usize, x: u64) -> Result<String, Failure> {
        let count = self.result.unwrap_or(0).max(0) as u64;
        let next = self.x.get(place + 1).copied().unwrap_or(0);
        Ok(match kind {
            Kind::Path => self.path(x),
            Kind::Input => self.bytes(x, next)?,
            Kind::Output => match self.name {
                // The length of a path counts its NUL.
                "getcwd" => self.path(x),
                _ => self.bytes(x, count)?,
            },
            Kind::Mask | Kind::MaskOut => names::mask(self.guest.read_u64(x)?),
            Kind::Action | Kind::ActionOut => self.action(x)?,
            Kind::SignalStack | Kind::SignalStackOut => {
                let [start, set, size] = self.words(x)?;
                let (start, set) = (pointer(start), flags::set(flags::SIGNAL_STACK, set & 0xffff_ffff));
                format!("{{ss_sp={start}, ss_flags={set}, ss_size={size}}}")
            }
            Kind::SignalInfo | Kind::SignalInfoOut => names::information(&self.guest.array(x)?),
            Kind::Time | Kind::TimeOut => self.time(x)?,
            Kind::Times => format!("[{}, {}]", self.file_time(x)?, self.file_time(x.wrapping_add(16))?),
            Kind::Timer | Kind::TimerOut => {
                let (interval, value) = (self.time(x)?, self.time(x.wrapping_add(16))?);
                format!("{{it_interval={interval}, it_value={value}}}")
            }
            Kind::TimeValueOut => self.time_value(x)?,
            Kind::TimeValues | Kind::TimeValuesOut => {
                let (first, second) = (self.time_value(x)?, self.time_value(x.wrapping_add(16))?);
                let [one, other] = match self.name {
                    "setitimer" | "getitimer" => ["it_interval", "it_value"],
                    _ => ["ru_utime", "ru_stime"],
                };
                let more = if one == "ru_utime" { ", ..." } else { "" };
                format!("{{{one}={first}, {other}={second}{more}}}")
            }
            Kind::Strings => self.strings(x)?,
            Kind::Variables => {
                let mut count = 0_u64;
                while count < 1 << 16 && self.guest.read_u64(x.wrapping_add(8 * count))? != 0 {
                    count += 1;
                }
                format!("{x:#x} /* {count} var{} */", if count == 1 { "" } else { "s" })
            }
            Kind::Pair => {
                let [first, second] = [self.guest.read_u32(x)?, self.guest.read_u32(x.wrapping_add(4))?];
                format!("[{first}, {second}]")
            }
            Kind::Status => self.wait_status(x)?,
            Kind::FileStatus => self.file_status(x)?,
            Kind::FileStatusX => {
                let mode = self.guest.read_u32(x.wrapping_add(28))? & 0xffff;
                let size = self.guest.read_u64(x.wrapping_add(40))?;
                let mode = file_mode(mode);
                format!("{{stx_mask=STATX_ALL, stx_attributes=0, stx_mode={mode}, stx_size={size}, ...}}")
            }
            Kind::FileSystem => {
                let [kind, size, blocks, free] = self.words(x)?;
                format!("{{f_type={kind:#x}, f_bsize={size}, f_blocks={blocks}, f_bfree={free}, ...}}")
            }
            Kind::Buffers => self.buffers(x, next, u64::MAX)?,
            Kind::BuffersOut => self.buffers(x, next, count)?,
            Kind::Entries => {
                let entries = self.entries(x, count)?;
                format!("{x:#x} /* {entries} entr{} */", if entries == 1 { "y" } else { "ies" })
            }
            Kind::Polled => self.polled(x, next)?,
            Kind::EpollEvent => self.epoll_event(x)?,
            Kind::EpollEventsOut => {
                let shown = (0..count.min(SHOWN as u64)).map(|at| self.epoll_event(x.wrapping_add(16 * at)));
                format!("[{}]", shown.collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            Kind::Limit | Kind::LimitOut => {
                let [soft, hard] = self.words(x)?.map(limit);
                format!("{{rlim_cur={soft}, rlim_max={hard}}}")
            }
            Kind::IntOut => format!("[{}]", self.guest.read_u32(x)? as i32),
            Kind::LongOut => format!("[{:#x}]", self.guest.read_u64(x)?),
            Kind::LongIn => format!("[{}]", self.guest.read_u64(x)?),
            Kind::System => {
                let [system, host] = [self.path(x), self.path(x.wrapping_add(65))];
                format!("{{sysname={system}, nodename={host}, ...}}")
            }
            Kind::Controlled => self.controlled(x)?,
            Kind::CloneArguments => {
                let [set, _, child, parent, signal, stack, size, tls] = self.words(x)?;
                let set = flags::set(flags::CLONE, set);
                let (child, parent, stack) = (pointer(child), pointer(parent), pointer(stack));
                format!(
                    "{{flags={set}, child_tid={child}, parent_tid={parent}, exit_signal={}, stack={stack}, \
                     stack_size={size:#x}, tls={tls:#x}}}",
                    if signal == 0 { "0".to_owned() } else { names::signal(signal) }
                )
            }
            Kind::SocketAddress => {
                let family = u64::from(self.guest.read_u32(x)? & 0xffff);
                let bytes = self.bytes(x.wrapping_add(2), next.saturating_sub(2).min(126))?;
                format!("{{sa_family={}, sa_data={bytes}}}", flags::one(flags::DOMAIN, family))
            }
            _ => pointer(x),
        })
    }
}
