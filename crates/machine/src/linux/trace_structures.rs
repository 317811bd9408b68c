//! The text of what the arguments of system calls point to, for their trace.

use super::failure::Failure;
use super::trace_flags as flags;
use super::trace_names as names;
use super::trace_text::{SHOWN, file_mode, pointer, quoted};
use super::trace_values::Values;

/// The largest number of bytes of a path that are shown.
const PATH_BYTES: usize = 4096;

impl Values<'_, '_> {
    pub(super) fn words<const N: usize>(&mut self, address: u64) -> Result<[u64; N], Failure> {
        let mut words = [0; N];
        for (place, word) in words.iter_mut().enumerate() {
            *word = self.guest.read_u64(address.wrapping_add(8 * place as u64))?;
        }
        Ok(words)
    }

    pub(super) fn bytes(&mut self, address: u64, count: u64) -> Result<String, Failure> {
        let bytes = self.guest.read(address, count.min(SHOWN as u64))?;
        Ok(quoted(&bytes, count > SHOWN as u64))
    }

    /// Returns a path or another string, which is shown in full.
    pub(super) fn path(&mut self, address: u64) -> String {
        match self.guest.text(address, PATH_BYTES) {
            Ok(Some(text)) => quoted(&text, false),
            _ => pointer(address),
        }
    }

    pub(super) fn strings(&mut self, vector: u64) -> Result<String, Failure> {
        let mut shown = Vec::new();
        for at in 0_u64.. {
            let address = self.guest.read_u64(vector.wrapping_add(8 * at))?;
            if address == 0 {
                break;
            }
            if shown.len() == SHOWN {
                shown.push("...".to_owned());
                break;
            }
            let text = match self.guest.text(address, PATH_BYTES) {
                Ok(Some(text)) => quoted(&text[..text.len().min(SHOWN)], text.len() > SHOWN),
                _ => pointer(address),
            };
            shown.push(text);
        }
        Ok(format!("[{}]", shown.join(", ")))
    }

    pub(super) fn open_flags(&self, x: u64) -> String {
        let access = flags::one(flags::OPEN_ACCESS, x & 3);
        let more = x & 0xffff_fffc;
        if more == 0 { access } else { format!("{access}|{}", flags::set(flags::OPEN, more)) }
    }

    pub(super) fn fcntl_argument(&self, x: u64) -> Option<String> {
        match self.x[1] as u32 {
            0 | 1030 | 1031 => Some((x as i32).to_string()),
            2 => Some(flags::set(flags::DESCRIPTOR, x)),
            4 => Some(self.open_flags(x)),
            1 | 3 | 9 | 11 | 1025 | 1032 | 1034 => None,
            _ => Some(pointer(x)),
        }
    }

    pub(super) fn action(&mut self, address: u64) -> Result<String, Failure> {
        let [handler, set, restorer, mask] = self.words(address)?;
        let handler = match handler {
            0 => "SIG_DFL".to_owned(),
            1 => "SIG_IGN".to_owned(),
            handler => format!("{handler:#x}"),
        };
        let mask = names::mask(mask);
        let set = flags::set(flags::SIGNAL_ACTION, set);
        let restorer = if restorer == 0 { String::new() } else { format!(", sa_restorer={restorer:#x}") };
        Ok(format!("{{sa_handler={handler}, sa_mask={mask}, sa_flags={set}{restorer}}}"))
    }

    pub(super) fn time(&mut self, address: u64) -> Result<String, Failure> {
        let [seconds, nanoseconds] = self.words(address)?;
        Ok(format!("{{tv_sec={}, tv_nsec={}}}", seconds as i64, nanoseconds as i64))
    }

    pub(super) fn file_time(&mut self, address: u64) -> Result<String, Failure> {
        match self.guest.read_u64(address.wrapping_add(8))? {
            0x3fff_ffff => Ok("UTIME_NOW".to_owned()),
            0x3fff_fffe => Ok("UTIME_OMIT".to_owned()),
            _ => self.time(address),
        }
    }

    pub(super) fn time_value(&mut self, address: u64) -> Result<String, Failure> {
        let [seconds, microseconds] = self.words(address)?;
        Ok(format!("{{tv_sec={}, tv_usec={}}}", seconds as i64, microseconds as i64))
    }

    pub(super) fn wait_status(&mut self, address: u64) -> Result<String, Failure> {
        let status = self.guest.read_u32(address)?;
        // `wait4` that finds no child writes nothing.
        if self.result == Some(0) {
            return Ok(pointer(address));
        }
        let (low, high) = (status & 0x7f, u64::from(status >> 8 & 0xff));
        Ok(match low {
            0 => format!("[{{WIFEXITED(s) && WEXITSTATUS(s) == {high}}}]"),
            0x7f if status == 0xffff => "[{WIFCONTINUED(s)}]".to_owned(),
            0x7f => format!("[{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}]", names::signal(high)),
            low => {
                let core = if status & 0x80 == 0 { "" } else { " && WCOREDUMP(s)" };
                format!("[{{WIFSIGNALED(s) && WTERMSIG(s) == {}{core}}}]", names::signal(low.into()))
            }
        })
    }

    pub(super) fn file_status(&mut self, address: u64) -> Result<String, Failure> {
        let mode = self.guest.read_u32(address.wrapping_add(16))?;
        let device = self.guest.read_u64(address.wrapping_add(32))?;
        let size = self.guest.read_u64(address.wrapping_add(48))?;
        let last = match mode & 0o170_000 {
            0o020_000 | 0o060_000 => {
                format!("st_rdev=makedev({:#x}, {:#x})", device >> 8 & 0xfff, device & 0xff)
            }
            _ => format!("st_size={size}"),
        };
        Ok(format!("{{st_mode={}, {last}, ...}}", file_mode(mode)))
    }

    /// Returns the buffers of a call that transfers `bytes` bytes.
    pub(super) fn buffers(&mut self, address: u64, count: u64, bytes: u64) -> Result<String, Failure> {
        let (mut shown, mut left) = (Vec::new(), bytes);
        for place in 0..count.min(SHOWN as u64) {
            let [start, size] = self.words(address.wrapping_add(16 * place))?;
            let now = size.min(left);
            left -= now;
            let data = self.bytes(start, now).unwrap_or_else(|_| pointer(start));
            shown.push(format!("{{iov_base={data}, iov_len={size}}}"));
        }
        if count > SHOWN as u64 {
            shown.push("...".to_owned());
        }
        Ok(format!("[{}]", shown.join(", ")))
    }

    pub(super) fn polled(&mut self, address: u64, count: u64) -> Result<String, Failure> {
        let mut shown = Vec::new();
        for place in 0..count.min(SHOWN as u64) {
            let entry = self.guest.read_u64(address.wrapping_add(8 * place))?;
            let events = flags::set(flags::POLL, entry >> 32 & 0xffff);
            shown.push(format!("{{fd={}, events={events}}}", entry as i32));
        }
        Ok(format!("[{}]", shown.join(", ")))
    }

    /// Returns what a call has found, to be shown after its result; `None` if there is nothing.
    pub(super) fn found(&mut self) -> Option<String> {
        if self.name != "ppoll" || self.result? <= 0 {
            return None;
        }
        let [address, count, ..] = self.x;
        let mut shown = Vec::new();
        for place in 0..count.min(SHOWN as u64) {
            let entry = self.guest.read_u64(address.wrapping_add(8 * place)).ok()?;
            if entry >> 48 != 0 {
                shown.push(format!(
                    "{{fd={}, revents={}}}",
                    entry as i32,
                    flags::set(flags::POLL, entry >> 48)
                ));
            }
        }
        Some(format!(" ([{}])", shown.join(", ")))
    }

    /// Returns the number of entries of a directory in `bytes` bytes.
    pub(super) fn entries(&mut self, address: u64, bytes: u64) -> Result<usize, Failure> {
        let data = self.guest.read(address, bytes)?;
        let (mut at, mut entries) = (0, 0);
        while let Some(length) = data.get(at + 16..at + 18) {
            at += usize::from(u16::from_le_bytes([length[0], length[1]])).max(1);
            entries += 1;
        }
        Ok(entries)
    }

    pub(super) fn epoll_event(&mut self, address: u64) -> Result<String, Failure> {
        let events = flags::set(flags::EPOLL_EVENTS, self.guest.read_u32(address)?.into());
        let data = self.guest.read_u64(address.wrapping_add(8))?;
        Ok(format!("{{events={events}, data={data:#x}}}"))
    }

    /// Returns the argument of `ioctl`, after the call.
    pub(super) fn controlled(&mut self, x: u64) -> Result<String, Failure> {
        Ok(match self.x[1] as u32 {
            0x540f | 0x5410 | 0x541b | 0x5421 | 0x4004_5431 | 0x8004_5430 | 0x5429 => {
                format!("[{}]", self.guest.read_u32(x)? as i32)
            }
            0x5413 | 0x5414 => {
                let size = self.guest.read_u64(x)?;
                let (rows, columns) = (size & 0xffff, size >> 16 & 0xffff);
                format!(
                    "{{ws_row={rows}, ws_col={columns}, ws_xpixel={}, ws_ypixel={}}}",
                    size >> 32 & 0xffff,
                    size >> 48
                )
            }
            0x5401..=0x5404 => {
                let flags: Vec<u32> =
                    (0..4).map(|at| self.guest.read_u32(x.wrapping_add(4 * at))).collect::<Result<_, _>>()?;
                let [input, output, control, local] = [0, 1, 2, 3].map(|at| flags[at]);
                format!(
                    "{{c_iflag={input:#x}, c_oflag={output:#x}, c_cflag={control:#x}, c_lflag={local:#x}, ...}}"
                )
            }
            _ => format!("{x:#x}"),
        })
    }
}
