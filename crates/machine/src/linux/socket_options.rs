//! The options of sockets.

use super::call::Call;
use super::errno::{EDOM, EINVAL, ENOPROTOOPT, ENOTCONN, EOPNOTSUPP};
use super::failure::{CallResult, Failure};
use super::socket_address::address_bytes;
use super::sockets::{Connection, Socket, SocketKind};

pub(super) const SOL_SOCKET: u32 = 1;
pub(super) const SO_PASSCRED: u32 = 16;
const SO_TYPE: u32 = 3;
const SO_ERROR: u32 = 4;
const SO_SNDBUF: u32 = 7;
const SO_RCVBUF: u32 = 8;
const SO_LINGER: u32 = 13;
const SO_PEERCRED: u32 = 17;
const SO_RCVTIMEO: u32 = 20;
const SO_SNDTIMEO: u32 = 21;
const SO_PEERNAME: u32 = 28;
const SO_ACCEPTCONN: u32 = 30;
const SO_PEERSEC: u32 = 31;
const SO_SNDBUFFORCE: u32 = 32;
const SO_RCVBUFFORCE: u32 = 33;
const SO_PROTOCOL: u32 = 38;
const SO_DOMAIN: u32 = 39;
/// Options of `SOL_SOCKET` that are switches: debug, reuse of addresses and ports, routes, broadcasts, `SO_KEEPALIVE`, `SO_OOBINLINE`,
/// credentials and security labels, timestamps.
const SWITCHES: &[u32] = &[1, 2, 5, 6, 9, 10, 15, SO_PASSCRED, 29, 34, 35];
/// Options of `SOL_SOCKET` that are numbers without an effect here: `SO_PRIORITY`, `SO_RCVLOWAT`, `SO_MARK`, `SO_BUSY_POLL`,
/// `SO_INCOMING_CPU`.
const NUMBERS: &[u32] = &[12, 18, 36, 46, 49];

const IPPROTO_IP: u32 = 0;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
const IPPROTO_IPV6: u32 = 41;
/// The options that keep a number: level, name and value before a program sets it.
const KEPT: &[(u32, u32, u64)] = &[
    // TOS, TTL, RECVOPTS, PKTINFO, MTU_DISCOVER, RECVERR, RECVTTL, RECVTOS, FREEBIND, MULTICAST_TTL, MULTICAST_LOOP.
    (IPPROTO_IP, 1, 0),
    (IPPROTO_IP, 2, 64),
    (IPPROTO_IP, 6, 0),
    (IPPROTO_IP, 8, 0),
    (IPPROTO_IP, 10, 1),
    (IPPROTO_IP, 11, 0),
    (IPPROTO_IP, 12, 0),
    (IPPROTO_IP, 13, 0),
    (IPPROTO_IP, 15, 0),
    (IPPROTO_IP, 33, 1),
    (IPPROTO_IP, 34, 1),
    // NODELAY, MAXSEG, CORK, KEEPIDLE, KEEPINTVL, KEEPCNT, SYNCNT, LINGER2, DEFER_ACCEPT, QUICKACK, USER_TIMEOUT, FASTOPEN.
    (IPPROTO_TCP, 1, 0),
    (IPPROTO_TCP, 2, 536),
    (IPPROTO_TCP, 3, 0),
    (IPPROTO_TCP, 4, 7200),
    (IPPROTO_TCP, 5, 75),
    (IPPROTO_TCP, 6, 9),
    (IPPROTO_TCP, 7, 6),
    (IPPROTO_TCP, 8, 60),
    (IPPROTO_TCP, 9, 0),
    (IPPROTO_TCP, 12, 1),
    (IPPROTO_TCP, 18, 0),
    (IPPROTO_TCP, 23, 0),
    // CORK.
    (IPPROTO_UDP, 1, 0),
    // UNICAST_HOPS, MULTICAST_HOPS, MULTICAST_LOOP, MTU_DISCOVER, RECVERR, V6ONLY, RECVPKTINFO, RECVHOPLIMIT, RECVTCLASS, TCLASS.
    (IPPROTO_IPV6, 16, 64),
    (IPPROTO_IPV6, 18, 1),
    (IPPROTO_IPV6, 19, 1),
    (IPPROTO_IPV6, 23, 1),
    (IPPROTO_IPV6, 25, 0),
    (IPPROTO_IPV6, V6ONLY, 0),
    (IPPROTO_IPV6, 49, 0),
    (IPPROTO_IPV6, 51, 0),
    (IPPROTO_IPV6, 66, 0),
    (IPPROTO_IPV6, 67, 0),
];
const V6ONLY: u32 = 26;
/// The size that options ask for is at most this, and the kernel doubles it; the least sizes of the two buffers.
const BUFFER_BYTES_MAX: u64 = 212_992;
const SEND_BYTES_MIN: u64 = 4608;
const RECEIVE_BYTES_MIN: u64 = 2304;

/// Returns whether a socket has options of a level.
fn has_level(socket: &Socket, level: u32) -> bool {
    use super::socket_address::Family;
    match level {
        IPPROTO_IP => !socket.is_unix(),
        IPPROTO_IPV6 => socket.family == Family::Inet6,
        IPPROTO_TCP => socket.is_tcp(),
        IPPROTO_UDP => socket.is_udp(),
        _ => false,
    }
}

pub(super) fn setsockopt(call: &mut Call<'_>) -> CallResult {
    let [descriptor, level, name, address, bytes, _] = call.x;
    let (level, name) = (level as u32, name as u32);
    let id = call.socket_of(descriptor)?;
    if (bytes as i32) < 0 {
        return Err(EINVAL.into());
    }
    let bytes = u64::from(bytes as u32);
    if level != SOL_SOCKET {
        let socket = call.kernel.open.sockets.get(id)?;
        let is_known = KEPT.iter().any(|(of, other, _)| *of == level && *other == name);
        if !has_level(socket, level) || !is_known {
            return Err(if has_level(socket, level) { ENOPROTOOPT } else { EOPNOTSUPP }.into());
        }
        let is_bound = socket.name.is_some();
        let value = match bytes {
            1..4 if level == IPPROTO_IP => call.guest.array::<1>(address)?[0].into(),
            4.. => u64::from(call.guest.read_u32(address)?),
            _ => return Err(EINVAL.into()),
        };
        if level == IPPROTO_IPV6 && name == V6ONLY && is_bound {
            return Err(EINVAL.into());
        }
        call.kernel.open.sockets.get_mut(id)?.options.values.insert((level, name), value);
        return Ok(0);
    }
    match name {
        SO_RCVTIMEO | SO_SNDTIMEO => {
            if bytes < 16 {
                return Err(EINVAL.into());
            }
            let [seconds, microseconds] = [call.guest.read_u64(address)?, call.guest.read_u64(address + 8)?];
            if microseconds >= 1_000_000 {
                return Err(EDOM.into());
            }
            let time = match (seconds as i64, microseconds) {
                (..0, _) => Some(0),
                (0, 0) => None,
                (seconds, more) => {
                    Some((seconds as u64).saturating_mul(1_000_000_000).saturating_add(more * 1000))
                }
            };
            let options = &mut call.kernel.open.sockets.get_mut(id)?.options;
            *(if name == SO_RCVTIMEO { &mut options.receive_time } else { &mut options.send_time }) = time;
            return Ok(0);
        }
        SO_LINGER if bytes < 8 => return Err(EINVAL.into()),
        SO_LINGER => {
            let value = call.guest.read_u64(address)?;
            call.kernel.open.sockets.get_mut(id)?.options.values.insert((level, name), value);
            return Ok(0);
        }
        _ => {}
    }
    if bytes < 4 {
        return Err(EINVAL.into());
    }
    let value = call.guest.read_u32(address)?;
    let options = &mut call.kernel.open.sockets.get_mut(id)?.options;
    let size = u64::from(value).min(BUFFER_BYTES_MAX) * 2;
    match name {
        SO_SNDBUF | SO_SNDBUFFORCE => options.send_bytes = size.max(SEND_BYTES_MIN) as usize,
        SO_RCVBUF | SO_RCVBUFFORCE => options.receive_bytes = size.max(RECEIVE_BYTES_MIN) as usize,
        name if SWITCHES.contains(&name) => {
            options.values.insert((level, name), u64::from(value != 0));
        }
        name if NUMBERS.contains(&name) => {
            options.values.insert((level, name), value.into());
        }
        _ => return Err(ENOPROTOOPT.into()),
    }
    Ok(0)
}

/// Returns the value of an option of `SOL_SOCKET`.
fn socket_option(socket: &mut Socket, name: u32) -> Result<Vec<u8>, Failure> {
    let time = |time: Option<u64>| {
        let time = time.unwrap_or(0);
        [time / 1_000_000_000, time % 1_000_000_000 / 1000].map(u64::to_le_bytes).concat()
    };
    let kept = |name: u32| socket.options.values.get(&(SOL_SOCKET, name)).copied();
    let number = |number: u64| Ok((number as u32).to_le_bytes().to_vec());
    match name {
        SO_TYPE => number(match socket.kind {
            SocketKind::Stream => 1,
            SocketKind::Datagram => 2,
            SocketKind::Packets => 5,
        }),
        SO_ERROR => number(u64::from(std::mem::take(&mut socket.error))),
        SO_SNDBUF => number(socket.options.send_bytes as u64),
        SO_RCVBUF => number(socket.options.receive_bytes as u64),
        SO_LINGER => Ok(kept(name).unwrap_or(0).to_le_bytes().to_vec()),
        SO_PEERCRED => {
            let none = [0, u32::MAX, u32::MAX];
            Ok(socket.peer_credentials.unwrap_or(none).map(u32::to_le_bytes).concat())
        }
        SO_RCVTIMEO => Ok(time(socket.options.receive_time)),
        SO_SNDTIMEO => Ok(time(socket.options.send_time)),
        SO_PEERNAME if socket.peer().is_some() => Ok(address_bytes(socket.peer_name.as_ref(), socket.family)),
        SO_PEERNAME => Err(ENOTCONN.into()),
        SO_ACCEPTCONN => number(u64::from(matches!(socket.connection, Connection::Listening { .. }))),
        SO_PEERSEC => Err(ENOPROTOOPT.into()),
        SO_PROTOCOL => number(if socket.is_tcp() {
            6
        } else if socket.is_udp() {
            17
        } else {
            0
        }),
        SO_DOMAIN => number(socket.family.number().into()),
        name if SWITCHES.contains(&name) => number(kept(name).unwrap_or(0)),
        // `SO_RCVLOWAT` is 1 at first, and no processor has had a packet.
        18 => number(kept(name).unwrap_or(1)),
        49 => number(kept(name).unwrap_or(u64::MAX)),
        name if NUMBERS.contains(&name) => number(kept(name).unwrap_or(0)),
        _ => Err(ENOPROTOOPT.into()),
    }
}

pub(super) fn getsockopt(call: &mut Call<'_>) -> CallResult {
    /// The state of a TCP connection, at the start of a `struct tcp_info`.
    const TCP_INFO: u32 = 11;
    let [descriptor, level, name, address, size, _] = call.x;
    let (level, name) = (level as u32, name as u32);
    let id = call.socket_of(descriptor)?;
    let room = call.guest.read_u32(size)?;
    if (room as i32) < 0 {
        return Err(EINVAL.into());
    }
    let socket = call.kernel.open.sockets.get_mut(id)?;
    let value = if level == SOL_SOCKET {
        socket_option(socket, name)?
    } else if has_level(socket, level) && (level, name) == (IPPROTO_TCP, TCP_INFO) {
        let state = match &socket.connection {
            Connection::None => 7,
            Connection::Listening { .. } => 10,
            Connection::Connecting { .. } => 2,
            Connection::Connected { .. } => match (socket.ends_reading, socket.ends_writing) {
                (false, false) => 1,
                (false, true) => 5,
                (true, false) => 8,
                (true, true) => 7,
            },
        };
        let mut info = vec![0; 104];
        info[0] = state;
        info
    } else {
        let found = KEPT.iter().find(|(of, other, _)| *of == level && *other == name);
        let Some((.., default)) = found.filter(|_| has_level(socket, level)) else {
            return Err(if has_level(socket, level) { ENOPROTOOPT } else { EOPNOTSUPP }.into());
        };
        let value = socket.options.values.get(&(level, name)).unwrap_or(default);
        (*value as u32).to_le_bytes().to_vec()
    };
    let value = &value[..value.len().min(room as usize)];
    call.guest.write(address, value)?;
    call.guest.write(size, &(value.len() as u32).to_le_bytes())?;
    Ok(0)
}
