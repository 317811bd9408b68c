//! Sockets: what the kernel of a lane keeps for each of them.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::errno::{EADDRINUSE, EBADF, ECONNREFUSED, ECONNRESET, EPIPE, Errno};
use super::socket_address::{Address, Family, Internet};

/// The size of buffers before an option changes it, as on Linux: of Unix and UDP sockets, and the two of TCP sockets.
const BUFFER_BYTES: usize = 212_992;
const TCP_SEND_BYTES: usize = 16_384;
const TCP_RECEIVE_BYTES: usize = 131_072;
/// The bytes that each message of a socket that keeps messages apart costs beside its data.
const MESSAGE_COST: usize = 768;
/// The number of messages that may wait at a Unix datagram socket before senders wait, as `net.unix.max_dgram_qlen` says.
const DATAGRAMS_MAX: usize = 10;
/// The limit on sockets of a lane, those that were not accepted yet included.
pub(super) const SOCKETS_MAX: usize = 4096;
/// The limit on descriptors that are on their way through sockets of a lane.
pub(super) const RIGHTS_MAX: usize = 1024;
/// The ports that the kernel chooses.
const PORTS: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// The type of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SocketKind {
    Stream,
    Datagram,
    /// A connection that keeps messages apart.
    Packets,
}

/// The connection of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Connection {
    None,
    /// The socket accepts connections: at most `backlog` and one more wait for that. `pending` has the sockets that are connected to
    /// clients already, `clients` the clients that wait for room among them.
    Listening {
        backlog: usize,
        pending: VecDeque<u32>,
        clients: VecDeque<u32>,
    },
    /// A TCP socket waits until the listening socket has room.
    Connecting {
        to: u32,
    },
    /// Connected to another socket, which may be closed; to none for a UDP socket, which is connected to an address.
    Connected {
        peer: u32,
    },
}

/// IDs of process, user and group, as `SCM_CREDENTIALS` has them.
pub(super) type Credentials = [u32; 3];

/// Bytes on their way to a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Message {
    pub(super) data: VecDeque<u8>,
    /// The address of the sender, if it has one.
    pub(super) from: Option<Address>,
    /// The open file descriptions that are passed.
    pub(super) rights: Vec<u32>,
    pub(super) sender: Credentials,
}

/// The options of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Options {
    /// The options that have no effect here or are simple switches: level, name and value of those that were set.
    pub(super) values: BTreeMap<(u32, u32), u64>,
    pub(super) send_bytes: usize,
    pub(super) receive_bytes: usize,
    /// How long calls wait, in nanoseconds; `None` for ever.
    pub(super) send_time: Option<u64>,
    pub(super) receive_time: Option<u64>,
}

/// A socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Socket {
    pub(super) family: Family,
    pub(super) kind: SocketKind,
    /// The address that it is bound to. A Unix socket that was accepted shows that of the socket that listens.
    pub(super) name: Option<Address>,
    pub(super) is_accepted: bool,
    /// The address of the peer, once there is one.
    pub(super) peer_name: Option<Address>,
    pub(super) connection: Connection,
    /// Whether it is connected by a call that did not wait, and no other call has told so.
    pub(super) is_unreported: bool,
    /// The messages that were not received yet. Those of streams are merged.
    pub(super) incoming: VecDeque<Message>,
    /// Their cost in bytes.
    pub(super) incoming_bytes: usize,
    /// The number of the errno that the next call reports; 0 for none.
    pub(super) error: u16,
    /// Whether nothing more will come, and whether nothing more may be sent.
    pub(super) ends_reading: bool,
    pub(super) ends_writing: bool,
    /// The credentials of the peer when it connected or began to listen.
    pub(super) peer_credentials: Option<Credentials>,
    /// Those of the process that listens.
    pub(super) own_credentials: Credentials,
    pub(super) options: Options,
}

impl Socket {
    pub(super) fn new(family: Family, kind: SocketKind, own_credentials: Credentials) -> Self {
        let is_tcp = family != Family::Unix && kind == SocketKind::Stream;
        let options = Options {
            values: BTreeMap::new(),
            send_bytes: if is_tcp { TCP_SEND_BYTES } else { BUFFER_BYTES },
            receive_bytes: if is_tcp { TCP_RECEIVE_BYTES } else { BUFFER_BYTES },
            send_time: None,
            receive_time: None,
        };
        Self {
            family,
            kind,
            name: None,
            is_accepted: false,
            peer_name: None,
            connection: Connection::None,
            is_unreported: false,
            incoming: VecDeque::new(),
            incoming_bytes: 0,
            error: 0,
            ends_reading: false,
            ends_writing: false,
            peer_credentials: None,
            own_credentials,
            options,
        }
    }

    pub(super) const fn is_unix(&self) -> bool {
        matches!(self.family, Family::Unix)
    }

    pub(super) fn is_tcp(&self) -> bool {
        !self.is_unix() && self.kind == SocketKind::Stream
    }

    pub(super) fn is_udp(&self) -> bool {
        !self.is_unix() && self.kind == SocketKind::Datagram
    }

    /// Returns whether messages stay apart.
    pub(super) fn keeps_messages(&self) -> bool {
        self.kind != SocketKind::Stream
    }

    /// Returns the socket that this one is connected to.
    pub(super) const fn peer(&self) -> Option<u32> {
        match self.connection {
            Connection::Connected { peer } => Some(peer),
            _ => None,
        }
    }

    pub(super) const fn is_listening(&self) -> bool {
        matches!(self.connection, Connection::Listening { .. })
    }

    /// Returns the address of an IP socket.
    pub(super) const fn internet(&self) -> Option<Internet> {
        match self.name {
            Some(Address::Internet(address)) => Some(address),
            _ => None,
        }
    }

    /// Takes the error that the next call reports.
    pub(super) fn take_error(&mut self) -> Result<(), Errno> {
        match std::mem::take(&mut self.error) {
            0 => Ok(()),
            number => Err(Errno(number)),
        }
    }

    /// Adds a message, to the last one of a stream if that has the same sender.
    pub(super) fn receive(&mut self, message: Message) {
        let cost = message.data.len() + if self.keeps_messages() { MESSAGE_COST } else { 0 };
        self.incoming_bytes += cost;
        if !self.keeps_messages()
            && message.rights.is_empty()
            && let Some(last) = self.incoming.back_mut()
            && last.sender == message.sender
            && last.rights.is_empty()
        {
            last.data.extend(message.data);
            return;
        }
        self.incoming.push_back(message);
    }

    /// Removes the first `bytes` bytes of a stream, or else the first message. Returns the descriptions that came with them.
    pub(super) fn consume(&mut self, mut bytes: usize) -> Vec<u32> {
        if self.keeps_messages() {
            let Some(message) = self.incoming.pop_front() else { return Vec::new() };
            self.incoming_bytes -= message.data.len() + MESSAGE_COST;
            return message.rights;
        }
        let mut rights = Vec::new();
        self.incoming_bytes -= bytes;
        while let Some(first) = self.incoming.front_mut() {
            rights.append(&mut first.rights);
            let now = bytes.min(first.data.len());
            first.data.drain(..now);
            bytes -= now;
            if !first.data.is_empty() {
                break;
            }
            self.incoming.pop_front();
            if bytes == 0 {
                break;
            }
        }
        rights
    }

    /// Returns whether a listening socket has room for a connection, or a datagram socket for a message.
    pub(super) fn has_room(&self) -> bool {
        match &self.connection {
            Connection::Listening { backlog, pending, .. } => pending.len() <= *backlog,
            _ => self.incoming.len() <= DATAGRAMS_MAX,
        }
    }
}

/// The sockets of a lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sockets {
    all: BTreeMap<u32, Socket>,
    /// The port, and the abstract name, that the kernel chooses next if it is free.
    next_port: u16,
    next_name: u32,
}

impl Sockets {
    pub(super) const fn new() -> Self {
        Self { all: BTreeMap::new(), next_port: *PORTS.start(), next_name: 0 }
    }

    pub(super) fn get(&self, id: u32) -> Result<&Socket, Errno> {
        self.all.get(&id).ok_or(EBADF)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Result<&mut Socket, Errno> {
        self.all.get_mut(&id).ok_or(EBADF)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&u32, &Socket)> {
        self.all.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn insert(&mut self, id: u32, socket: Socket) {
        self.all.insert(id, socket);
    }

    /// Returns the descriptions that are on their way through sockets.
    pub(super) fn rights(&self) -> impl Iterator<Item = u32> + '_ {
        self.all
            .values()
            .flat_map(|socket| &socket.incoming)
            .flat_map(|message| message.rights.iter().copied())
    }

    /// Returns the sockets that were not accepted yet.
    pub(super) fn pending(&self) -> impl Iterator<Item = u32> + '_ {
        let pending = self.all.values().filter_map(|socket| match &socket.connection {
            Connection::Listening { pending, .. } => Some(pending),
            _ => None,
        });
        pending.flatten().copied()
    }

    /// Returns whether counts and ranges are such that no call can fail for them. A lane from a file may break that.
    pub(super) fn is_valid(&self) -> bool {
        let costs = |socket: &Socket| {
            let each = if socket.keeps_messages() { MESSAGE_COST } else { 0 };
            socket.incoming.iter().map(|message| message.data.len() + each).sum::<usize>()
        };
        let is_internet = |address: &Option<Address>, socket: &Socket| {
            address.as_ref().is_none_or(|name| matches!(name, Address::Internet(_)) != socket.is_unix())
        };
        self.all.len() <= SOCKETS_MAX
            && PORTS.contains(&self.next_port)
            && self.all.values().all(|socket| costs(socket) == socket.incoming_bytes)
            && self.all.values().all(|socket| is_internet(&socket.name, socket))
    }

    /// Returns the Unix socket that is bound to an address.
    pub(super) fn bound(&self, matches: impl Fn(&Address) -> bool) -> Option<u32> {
        let is_it = |socket: &Socket| socket.name.as_ref().is_some_and(&matches);
        self.all
            .iter()
            .find(|(_, socket)| socket.is_unix() && !socket.is_accepted && is_it(socket))
            .map(|(id, _)| *id)
    }

    /// Returns an unused abstract name of five digits.
    pub(super) fn free_name(&mut self) -> Result<Vec<u8>, Errno> {
        for _ in 0..=SOCKETS_MAX {
            self.next_name = (self.next_name + 1) & 0xf_ffff;
            let name = format!("{:05x}", self.next_name).into_bytes();
            let is_it = |address: &Address| matches!(address, Address::Abstract(other) if *other == name);
            if self.bound(is_it).is_none() {
                return Ok(name);
            }
        }
        Err(EADDRINUSE)
    }

    /// Returns the IP socket to which packets for an address go: the listening TCP socket, or the UDP socket.
    ///
    /// `from` is the address of the sender: a connected UDP socket takes only packets from its peer.
    pub(super) fn target(&self, to: Internet, kind: SocketKind, from: Option<Internet>) -> Option<u32> {
        let mut best = None;
        for (id, socket) in &self.all {
            let Some(own) = socket.internet() else { continue };
            if socket.kind != kind || own.port != to.port || !covers(socket, own, to) {
                continue;
            }
            let peer = match socket.peer_name {
                Some(Address::Internet(peer)) => Some(peer),
                _ => None,
            };
            if kind == SocketKind::Stream && !socket.is_listening()
                || kind == SocketKind::Datagram && peer.is_some() && peer != from
            {
                continue;
            }
            // The most precise address wins, then the oldest socket.
            let score = (peer.is_some(), !own.is_any(), own.is_v4());
            if best.is_none_or(|(other, _)| score > other) {
                best = Some((score, *id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// Checks that no other socket is bound to an address in a way that excludes this one.
    pub(super) fn check_free(&self, own: u32, address: Internet) -> Result<(), Errno> {
        const SO_REUSEADDR: (u32, u32) = (1, 2);
        const SO_REUSEPORT: (u32, u32) = (1, 15);
        let socket = self.get(own)?;
        let has =
            |socket: &Socket, option| socket.options.values.get(&option).is_some_and(|value| *value != 0);
        let excludes = |(id, other): (&u32, &Socket)| {
            let Some(there) = other.internet() else { return false };
            let both = |option| has(socket, option) && has(other, option);
            let shares =
                both(SO_REUSEPORT) || both(SO_REUSEADDR) && (socket.is_udp() || !other.is_listening());
            *id != own
                && other.kind == socket.kind
                && there.port == address.port
                && (covers(other, there, address) || covers(socket, address, there))
                && !shares
        };
        if self.all.iter().any(excludes) { Err(EADDRINUSE) } else { Ok(()) }
    }

    /// Returns a port to which no socket of the type is bound.
    pub(super) fn free_port(&mut self, own: u32, address: Internet) -> Result<u16, Errno> {
        for _ in PORTS {
            let port = self.next_port;
            self.next_port = if port == *PORTS.end() { *PORTS.start() } else { port + 1 };
            if self.check_free(own, Internet { port, ..address }).is_ok() {
                return Ok(port);
            }
        }
        Err(EADDRINUSE)
    }

    /// Removes a socket that nothing refers to any more. Returns the descriptions that were on their way to it, and adds the sockets
    /// for which something changes to `changed`.
    pub(super) fn close(&mut self, id: u32, changed: &mut Vec<u32>) -> Vec<u32> {
        let Some(socket) = self.all.remove(&id) else { return Vec::new() };
        let mut rights: Vec<u32> =
            socket.incoming.iter().flat_map(|message| message.rights.clone()).collect();
        match &socket.connection {
            Connection::Listening { pending, clients, .. } => {
                for embryo in pending {
                    if let Some(embryo) = self.all.remove(embryo) {
                        rights.extend(embryo.incoming.iter().flat_map(|message| message.rights.clone()));
                        self.part(&embryo, true, changed);
                    }
                }
                for client in clients {
                    if let Some(client) = self.all.get_mut(client) {
                        client.connection = Connection::None;
                        client.error = ECONNREFUSED.0;
                    }
                    changed.push(*client);
                }
            }
            Connection::Connecting { to } => {
                if let Some(Socket { connection: Connection::Listening { clients, .. }, .. }) =
                    self.all.get_mut(to)
                {
                    clients.retain(|client| *client != id);
                }
            }
            Connection::Connected { .. } if socket.kind != SocketKind::Datagram => {
                self.part(&socket, !socket.incoming.is_empty(), changed);
            }
            _ => {}
        }
        rights
    }

    /// Tells the peer of a closed socket. `resets` says that data is lost.
    fn part(&mut self, closed: &Socket, resets: bool, changed: &mut Vec<u32>) {
        let Some(number) = closed.peer() else { return };
        let Some(peer) = self.all.get_mut(&number) else { return };
        if closed.is_unix() || resets {
            (peer.ends_reading, peer.ends_writing) = (true, true);
        }
        peer.ends_reading = true;
        if resets {
            peer.error = ECONNRESET.0;
        }
        changed.push(number);
    }

    /// Ends a TCP connection whose peer is gone, because data was sent to it.
    pub(super) fn reset(&mut self, id: u32) {
        if let Some(socket) = self.all.get_mut(&id) {
            socket.error = if socket.ends_reading { EPIPE.0 } else { ECONNRESET.0 };
            (socket.ends_reading, socket.ends_writing) = (true, true);
        }
    }
}

/// Returns whether a socket that is bound to `own` gets packets for `to`.
fn covers(socket: &Socket, own: Internet, to: Internet) -> bool {
    const IPV6_V6ONLY: (u32, u32) = (41, 26);
    let is_only_v6 = socket.options.values.get(&IPV6_V6ONLY).is_some_and(|value| *value != 0);
    let is_of_both = socket.family == Family::Inet6 && own.ip == [0; 16] && !is_only_v6;
    own.ip == to.ip || own.is_any() && (own.is_v4() == to.is_v4() || is_of_both)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: &[u8], rights: &[u32]) -> Message {
        Message { data: data.to_vec().into(), from: None, rights: rights.to_vec(), sender: [2, 0, 0] }
    }

    #[test]
    fn streams_merge_messages_and_others_keep_them_apart() {
        let mut stream = Socket::new(Family::Unix, SocketKind::Stream, [0; 3]);
        let mut packets = Socket::new(Family::Unix, SocketKind::Packets, [0; 3]);
        for socket in [&mut stream, &mut packets] {
            for (data, rights) in [(&b"ab"[..], &[][..]), (b"cd", &[]), (b"ef", &[7]), (b"gh", &[])] {
                socket.receive(message(data, rights));
            }
        }
        assert_eq!((stream.incoming.len(), packets.incoming.len()), (3, 4), "rights begin a new one");
        assert_eq!(stream.consume(3), [0; 0], "three bytes without rights");
        assert_eq!(stream.consume(2), [7], "the rights come with the first byte of their message");
        assert_eq!(stream.incoming_bytes, 3, "the rest");
        assert_eq!(packets.consume(1), [0; 0], "a whole message");
        assert_eq!(packets.incoming_bytes, 3 * (2 + MESSAGE_COST), "three messages are left");
    }

    #[test]
    fn ports_are_free_unless_addresses_overlap() {
        let mut sockets = Sockets::new();
        let at = |v4: [u8; 4], port| {
            let bytes = [&[2, 0][..], &u16::to_be_bytes(port), &v4, &[0; 8]].concat();
            Internet::parse(&bytes, Family::Inet).expect("it is valid").expect("it has a family")
        };
        for id in 0..2 {
            sockets.insert(id, Socket::new(Family::Inet, SocketKind::Stream, [0; 3]));
        }
        sockets.get_mut(0).expect("it is there").name = Some(Address::Internet(at([127, 0, 0, 1], 80)));
        assert_eq!(sockets.check_free(1, at([127, 0, 0, 1], 80)), Err(EADDRINUSE), "the same");
        assert_eq!(sockets.check_free(1, at([0; 4], 80)), Err(EADDRINUSE), "all addresses");
        assert_eq!(sockets.check_free(1, at([127, 0, 0, 2], 80)), Ok(()), "another address");
        assert_eq!(sockets.check_free(1, at([0; 4], 81)), Ok(()), "another port");
        let ports = [0; 2].map(|_| sockets.free_port(1, at([0; 4], 0)));
        assert_eq!(ports, [Ok(32_768), Ok(32_769)], "ports in order");
    }
}
