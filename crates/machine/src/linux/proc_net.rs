//! The files in `/proc/net` about the sockets of the lane.

use std::fmt::Write as _;

use super::open_files::Object;
use super::proc_text::{Look, Text};
use super::socket_address::{Address, Family, Internet};
use super::sockets::{Connection, Socket, SocketKind};
use super::status::FileStatus;

/// Linux shows addresses in the kernel only to those who may see them.
const POINTER: &str = "0000000000000000";
/// The widths to which Linux fills the rows about TCP and UDP over IPv4.
const TCP_WIDTH: usize = 149;
const UDP_WIDTH: usize = 127;

/// The states of TCP.
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const FIN_WAIT2: u8 = 5;
const CLOSE: u8 = 7;
const CLOSE_WAIT: u8 = 8;
const LISTEN: u8 = 10;

/// Returns the inode that `fstat` shows of a socket.
fn inode(look: &Look<'_, '_>, id: u32) -> u64 {
    FileStatus::of(Object::Socket(id), look.kernel, 0).number
}

pub(super) fn unix(look: &mut Look<'_, '_>) -> Text {
    let mut text = "Num       RefCount Protocol Flags    Type St Inode Path\n".to_owned();
    for (id, socket) in look.kernel.open.sockets.iter().filter(|(_, socket)| socket.is_unix()) {
        let is_connected = matches!(socket.connection, Connection::Connected { .. });
        let (references, state) = if is_connected { (3, 3) } else { (2, 1) };
        let flags = if socket.is_listening() { 0x1_0000 } else { 0 };
        let kind = match socket.kind {
            SocketKind::Stream => 1,
            SocketKind::Datagram => 2,
            SocketKind::Packets => 5,
        };
        let inode = inode(look, *id);
        let _ =
            write!(text, "{POINTER}: {references:08X} 00000000 {flags:08X} {kind:04X} {state:02X} {inode:5}");
        match &socket.name {
            Some(Address::Path { path, .. }) => {
                let _ = write!(text, " {}", String::from_utf8_lossy(path));
            }
            Some(Address::Abstract(name)) => {
                // As on Linux, zeros in it are shown like its first one.
                let name: Vec<u8> = name.iter().map(|byte| if *byte == 0 { b'@' } else { *byte }).collect();
                let _ = write!(text, " @{}", String::from_utf8_lossy(&name));
            }
            _ => {}
        }
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// Returns the state of a socket as Linux shows it; `None` if it is in no table.
fn state(look: &Look<'_, '_>, socket: &Socket) -> Option<u8> {
    if socket.is_udp() {
        socket.internet()?;
        return Some(if socket.peer_name.is_some() { ESTABLISHED } else { CLOSE });
    }
    match socket.connection {
        Connection::None => None,
        Connection::Listening { .. } => Some(LISTEN),
        Connection::Connecting { .. } => Some(SYN_SENT),
        Connection::Connected { peer } => match look.kernel.open.sockets.get(peer) {
            _ if socket.ends_writing && socket.ends_reading => Some(CLOSE),
            Ok(_) if socket.ends_writing => Some(FIN_WAIT2),
            Ok(_) if !socket.ends_reading => Some(ESTABLISHED),
            _ => Some(CLOSE_WAIT),
        },
    }
}

/// Returns an address with its port. The words of an address have the order of bytes in memory.
fn address(address: Internet, family: Family) -> String {
    let bytes = if family == Family::Inet { &address.ip[12..] } else { &address.ip[..] };
    let words =
        bytes.chunks_exact(4).map(|word| word.iter().rev().map(|byte| format!("{byte:02X}")).collect());
    format!("{}:{:04X}", words.collect::<Vec<String>>().concat(), address.port)
}

/// Lists the sockets of a family and a kind.
fn internet(look: &Look<'_, '_>, family: Family, kind: SocketKind) -> Text {
    let is_tcp = kind == SocketKind::Stream;
    let width = match (family, is_tcp) {
        (Family::Inet, true) => TCP_WIDTH,
        (Family::Inet, false) => UDP_WIDTH,
        _ => 0,
    };
    let names = if family == Family::Inet {
        "local_address rem_address  "
    } else {
        "local_address                         remote_address                       "
    };
    let (space, more) = if is_tcp { ("", "") } else { (" ", " ref pointer drops") };
    let head =
        format!("{space}  sl  {names} st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode{more}");
    let mut text = format!("{head:<width$}\n");
    let sockets = look.kernel.open.sockets.iter();
    let mut row = 0;
    for (id, socket) in sockets.filter(|(_, socket)| socket.family == family && socket.kind == kind) {
        let Some(state) = state(look, socket) else { continue };
        let peer = match socket.peer_name {
            Some(Address::Internet(peer)) => peer,
            _ => Internet::any(family),
        };
        let own = socket.internet().unwrap_or(Internet::any(family));
        let waiting = match &socket.connection {
            Connection::Listening { pending, .. } => pending.len(),
            _ if is_tcp => socket.incoming.iter().map(|message| message.data.len()).sum(),
            _ => socket.incoming_bytes,
        };
        let unsent = 0;
        let rest = match (is_tcp, state) {
            (false, _) => format!("2 {POINTER} 0"),
            (true, LISTEN) => format!("1 {POINTER} 100 0 0 10 0"),
            (true, _) => format!("2 {POINTER} 20 4 30 10 -1"),
        };
        let number = if is_tcp { format!("{row:4}") } else { format!("{row:5}") };
        let line = format!(
            "{number}: {} {} {state:02X} {unsent:08X}:{waiting:08X} 00:00000000 00000000 {:5} {:8} {} {rest}",
            address(own, family),
            address(peer, family),
            0,
            0,
            inode(look, *id),
        );
        let _ = writeln!(text, "{line:<width$}");
        row += 1;
    }
    Ok(text.into_bytes())
}

pub(super) fn tcp(look: &mut Look<'_, '_>) -> Text {
    internet(look, Family::Inet, SocketKind::Stream)
}

pub(super) fn tcp6(look: &mut Look<'_, '_>) -> Text {
    internet(look, Family::Inet6, SocketKind::Stream)
}

pub(super) fn udp(look: &mut Look<'_, '_>) -> Text {
    internet(look, Family::Inet, SocketKind::Datagram)
}

pub(super) fn udp6(look: &mut Look<'_, '_>) -> Text {
    internet(look, Family::Inet6, SocketKind::Datagram)
}
