//! Sending to sockets and receiving from them.

use super::call::Call;
use super::errno::{
    EAGAIN, ECONNREFUSED, EDESTADDRREQ, EINVAL, EISCONN, EMSGSIZE, ENOTCONN, EOPNOTSUPP, EPERM, EPIPE,
    EPROTOTYPE, Errno,
};
use super::failure::{CallResult, Failure};
use super::open_files::Object;
use super::readiness::{POLLERR, POLLHUP, POLLIN, POLLOUT};
use super::signals::{SIGPIPE, siginfo};
use super::socket_address::{Address, Internet, family_of};
use super::sockets::{Connection, Credentials, Message, Socket, SocketKind};
use super::wait::{Event, Woken};

pub(super) const MSG_OOB: u32 = 1;
pub(super) const MSG_PEEK: u32 = 2;
pub(super) const MSG_TRUNC: u32 = 0x20;
pub(super) const MSG_DONTWAIT: u32 = 0x40;
pub(super) const MSG_WAITALL: u32 = 0x100;
pub(super) const MSG_NOSIGNAL: u32 = 0x4000;

/// The part of a Unix socket's send buffer that a message cannot use.
const UNIX_RESERVED_BYTES: usize = 32;
/// The size of the largest UDP datagram.
const UDP_BYTES_MAX: usize = 65_507;

/// A message to send.
pub(super) struct Outgoing {
    pub(super) data: Vec<u8>,
    /// The address to send to, as the program has written it; empty for none.
    pub(super) to: Vec<u8>,
    /// The descriptions to pass.
    pub(super) rights: Vec<u32>,
    pub(super) sender: Credentials,
    pub(super) flags: u32,
}

/// The bytes that a call receives.
#[derive(Default)]
pub(super) struct Incoming {
    pub(super) data: Vec<u8>,
    /// The address of the sender; `None` if it has none.
    pub(super) from: Option<Address>,
    pub(super) rights: Vec<u32>,
    pub(super) sender: Option<Credentials>,
    /// The size of the message, which may be larger than the data.
    pub(super) bytes: usize,
}

impl Socket {
    /// Returns how many bytes may be sent now to a peer that has this socket.
    fn room_from(&self, sender: &Self) -> usize {
        let limit = if self.is_tcp() {
            self.options.receive_bytes + sender.options.send_bytes
        } else {
            sender.options.send_bytes
        };
        limit.saturating_sub(self.incoming_bytes)
    }
}

impl Call<'_> {
    /// Sends a message to the socket of a descriptor.
    pub(super) fn send_to_socket(&mut self, descriptor: u64, message: Outgoing) -> CallResult {
        let id = self.socket_of(descriptor)?;
        let socket = self.kernel.open.sockets.get(id)?;
        if message.flags & MSG_OOB != 0 {
            return Err(EOPNOTSUPP.into());
        }
        match (socket.is_unix(), socket.kind) {
            (_, SocketKind::Stream) => self.send_to_stream(descriptor, id, message),
            (true, SocketKind::Packets) => self.send_packet(descriptor, id, message),
            (true, _) => self.send_unix_datagram(descriptor, id, message),
            (false, _) => self.send_udp(id, message),
        }
    }

    fn sends_without_waiting(&self, descriptor: u64, flags: u32) -> Result<bool, Failure> {
        Ok(flags & MSG_DONTWAIT != 0 || !self.does_wait(descriptor)?)
    }

    /// Fails as a call that sends to a connection that has ended.
    fn broken(&mut self, flags: u32, error: Result<(), Errno>) -> Failure {
        if let Err(errno) = error
            && errno != EPIPE
        {
            return errno.into();
        }
        if flags & MSG_NOSIGNAL == 0 {
            let (thread, info) = (self.kernel.turns.current, siginfo(SIGPIPE, 0, 0));
            if let Err(failure) = self.kernel.send_to_thread(thread, SIGPIPE, info) {
                return failure;
            }
        }
        EPIPE.into()
    }

    /// Checks that a socket may send to its peer, and returns the peer, or `None` if that is a closed TCP socket.
    fn peer_to_send(&mut self, id: u32, message: &Outgoing) -> Result<Option<u32>, Failure> {
        let socket = self.kernel.open.sockets.get_mut(id)?;
        let (is_tcp, flags) = (socket.is_tcp(), message.flags);
        let is_connected = socket.peer().is_some();
        if !is_tcp && socket.kind == SocketKind::Stream && !message.to.is_empty() {
            return Err(if is_connected { EISCONN } else { EOPNOTSUPP }.into());
        }
        if !is_tcp && !is_connected {
            return Err(ENOTCONN.into());
        }
        if is_tcp && socket.error != 0 {
            let error = socket.take_error();
            return Err(self.broken(flags, error));
        }
        if socket.ends_writing || !is_connected {
            return Err(self.broken(flags, Ok(())));
        }
        let peer = socket.peer().filter(|peer| self.kernel.open.sockets.get(*peer).is_ok());
        if peer.is_none() && !is_tcp {
            return Err(self.broken(flags, Ok(())));
        }
        Ok(peer)
    }

    /// Sends bytes. A call that waits goes on until all are sent; [`Thread::written`] counts those that are.
    ///
    /// [`Thread::written`]: super::thread::Thread::written
    fn send_to_stream(&mut self, descriptor: u64, id: u32, message: Outgoing) -> CallResult {
        let done = if self.woken.is_some() { self.kernel.thread().written } else { 0 };
        if matches!(self.kernel.open.sockets.get(id)?.connection, Connection::Connecting { .. }) {
            if self.sends_without_waiting(descriptor, message.flags)? {
                return Err(EAGAIN.into());
            }
            return Err(self.wait_until_ready(self.kernel.opened(descriptor)?, POLLOUT | POLLERR | POLLHUP));
        }
        let peer = match self.peer_to_send(id, &message) {
            Err(_) if done > 0 => return Ok(done as u64),
            peer => peer?,
        };
        let Some(peer) = peer else {
            // The data of this call is lost, and the answer to it ends the connection.
            self.kernel.open.sockets.reset(id);
            self.kernel.open.note_change(Object::Socket(id));
            return Ok(message.data.len() as u64);
        };
        let total = message.data.len();
        if total == 0 {
            return Ok(0);
        }
        let sockets = &mut self.kernel.open.sockets;
        let (socket, target) = (sockets.get(id)?, sockets.get(peer)?);
        let (send_time, from) = (socket.options.send_time, socket.name.clone());
        let left = &message.data[done.min(total)..];
        let now = left.len().min(target.room_from(socket));
        if now > 0 {
            let rights = if done == 0 { message.rights.clone() } else { Vec::new() };
            rights.iter().for_each(|right| self.kernel.open.share(*right));
            let data = left[..now].to_vec().into();
            let part = Message { data, from, rights, sender: message.sender };
            self.kernel.open.sockets.get_mut(peer)?.receive(part);
            self.kernel.open.note_change(Object::Socket(peer));
        }
        let done = done + now;
        if done == total {
            return Ok(done as u64);
        }
        if self.sends_without_waiting(descriptor, message.flags)? {
            return if done > 0 { Ok(done as u64) } else { Err(EAGAIN.into()) };
        }
        self.kernel.thread_mut().written = done;
        self.keep_waiting(now > 0);
        let event = Event::Ready(vec![(self.kernel.opened(descriptor)?, POLLOUT | POLLERR | POLLHUP)]);
        match self.wait_at_socket(event, send_time, EAGAIN) {
            // What is sent cannot be taken back.
            Failure::Interrupted { .. } | Failure::Errno(_) if done > 0 => Ok(done as u64),
            failure => Err(failure),
        }
    }

    /// Notes that a call has made progress, so that it waits again whatever has woken it.
    fn keep_waiting(&mut self, has_progress: bool) {
        if has_progress {
            self.woken = self.woken.map(|(_, deadline)| (Woken::Event, deadline));
        }
    }

    fn send_packet(&mut self, descriptor: u64, id: u32, message: Outgoing) -> CallResult {
        let peer = self.peer_to_send(id, &message)?.ok_or(EPIPE)?;
        let sockets = &self.kernel.open.sockets;
        let (socket, target) = (sockets.get(id)?, sockets.get(peer)?);
        if message.data.len() > socket.options.send_bytes - UNIX_RESERVED_BYTES {
            return Err(EMSGSIZE.into());
        }
        let send_time = socket.options.send_time;
        // A message that does not fit beside others waits until there are none.
        if target.room_from(socket) < message.data.len() && !target.incoming.is_empty() {
            if self.sends_without_waiting(descriptor, message.flags)? {
                return Err(EAGAIN.into());
            }
            let event = Event::Ready(vec![(self.kernel.opened(descriptor)?, POLLOUT | POLLERR | POLLHUP)]);
            return Err(self.wait_at_socket(event, send_time, EAGAIN));
        }
        self.deliver(id, peer, message)
    }

    /// Puts a message into the queue of a socket.
    fn deliver(&mut self, id: u32, peer: u32, message: Outgoing) -> CallResult {
        let Outgoing { data, rights, sender, .. } = message;
        let (from, bytes) = (self.kernel.open.sockets.get(id)?.name.clone(), data.len());
        rights.iter().for_each(|right| self.kernel.open.share(*right));
        let message = Message { data: data.into(), from, rights, sender };
        self.kernel.open.sockets.get_mut(peer)?.receive(message);
        self.kernel.open.note_change(Object::Socket(peer));
        Ok(bytes as u64)
    }

    fn send_unix_datagram(&mut self, descriptor: u64, id: u32, message: Outgoing) -> CallResult {
        let to = if message.to.is_empty() { None } else { Some(self.unix_target(&message.to)?) };
        let sockets = &self.kernel.open.sockets;
        let socket = sockets.get(id)?;
        if message.data.len() > socket.options.send_bytes - UNIX_RESERVED_BYTES {
            return Err(EMSGSIZE.into());
        }
        if socket.ends_writing {
            return Err(self.broken(message.flags, Ok(())));
        }
        let peer = to.or_else(|| socket.peer()).ok_or(ENOTCONN)?;
        let Ok(target) = sockets.get(peer) else {
            // The peer was closed.
            self.kernel.open.sockets.get_mut(id)?.connection = Connection::None;
            return Err(ECONNREFUSED.into());
        };
        if target.kind != SocketKind::Datagram {
            return Err(EPROTOTYPE.into());
        }
        if target.peer().is_some_and(|other| other != id) {
            return Err(EPERM.into());
        }
        if target.ends_reading {
            return Err(self.broken(message.flags, Ok(())));
        }
        if !target.has_room() {
            if self.sends_without_waiting(descriptor, message.flags)? {
                return Err(EAGAIN.into());
            }
            return Err(self.wait_at_socket(Event::Room(peer), socket.options.send_time, EAGAIN));
        }
        self.deliver(id, peer, message)
    }

    fn send_udp(&mut self, id: u32, message: Outgoing) -> CallResult {
        self.bind_unbound(id)?;
        let socket = self.kernel.open.sockets.get_mut(id)?;
        if socket.ends_writing {
            return Err(EPIPE.into());
        }
        socket.take_error()?;
        let to = match (&message.to[..], &socket.peer_name) {
            ([], Some(Address::Internet(peer))) => *peer,
            ([], _) => return Err(EDESTADDRREQ.into()),
            (to, _) => {
                family_of(to)?;
                Internet::parse(to, socket.family)?.ok_or(EINVAL)?.reached()?
            }
        };
        if to.port == 0 {
            return Err(EINVAL.into());
        }
        if message.data.len() > UDP_BYTES_MAX {
            return Err(EMSGSIZE.into());
        }
        let sockets = &mut self.kernel.open.sockets;
        let Some(own) = sockets.get(id)?.internet() else { return Err(EINVAL.into()) };
        let from = if own.is_any() { own.reached_from(to) } else { own };
        let bytes = message.data.len() as u64;
        let Some(target) = sockets.target(to, SocketKind::Datagram, Some(from)) else {
            let socket = sockets.get_mut(id)?;
            if socket.peer_name.is_some() {
                // The answer of the other side comes after this call.
                socket.error = ECONNREFUSED.0;
                self.kernel.open.note_change(Object::Socket(id));
            }
            return Ok(bytes);
        };
        let (data, sender) = (message.data.into(), message.sender);
        let message = Message { data, from: Some(Address::Internet(from)), rights: Vec::new(), sender };
        let socket = sockets.get_mut(target)?;
        // A datagram without room is lost.
        if !socket.ends_reading && socket.incoming_bytes <= socket.options.receive_bytes {
            socket.receive(message);
            self.kernel.open.note_change(Object::Socket(target));
        }
        Ok(bytes)
    }

    /// Returns at most `room` bytes from the socket of a descriptor, without consuming them, or waits until there are some.
    pub(super) fn peek_socket(
        &mut self,
        descriptor: u64,
        room: usize,
        flags: u32,
    ) -> Result<Incoming, Failure> {
        let id = self.socket_of(descriptor)?;
        if flags & MSG_OOB != 0 {
            return Err(EINVAL.into());
        }
        let is_waiting = flags & MSG_DONTWAIT == 0 && self.does_wait(descriptor)?;
        let socket = self.kernel.open.sockets.get_mut(id)?;
        let is_datagram = socket.kind == SocketKind::Datagram;
        if !is_datagram && socket.peer().is_none() {
            let is_connecting = matches!(socket.connection, Connection::Connecting { .. });
            if is_connecting && is_waiting {
                return Err(
                    self.wait_until_ready(self.kernel.opened(descriptor)?, POLLIN | POLLERR | POLLHUP)
                );
            }
            socket.take_error()?;
            let is_unix_stream = socket.is_unix() && socket.kind == SocketKind::Stream;
            return Err(if is_connecting {
                EAGAIN
            } else if is_unix_stream {
                EINVAL
            } else {
                ENOTCONN
            }
            .into());
        }
        if socket.incoming.is_empty() {
            // The end of a TCP stream has come before what broke the connection.
            if !(socket.is_tcp() && socket.error == EPIPE.0) {
                socket.take_error()?;
            }
            if socket.ends_reading {
                return Ok(Incoming::default());
            }
            if room == 0 && socket.kind == SocketKind::Stream {
                return Ok(Incoming::default());
            }
            if !is_waiting {
                return Err(EAGAIN.into());
            }
            let time = socket.options.receive_time;
            let event = Event::Ready(vec![(self.kernel.opened(descriptor)?, POLLIN | POLLERR | POLLHUP)]);
            return Err(self.wait_at_socket(event, time, EAGAIN));
        }
        Ok(socket.peek(room))
    }

    /// Consumes what [`Call::peek_socket`] has returned. The descriptions that came with it are the caller's.
    pub(super) fn consume_socket(&mut self, descriptor: u64, bytes: usize) -> Result<Vec<u32>, Failure> {
        let id = self.socket_of(descriptor)?;
        let socket = self.kernel.open.sockets.get_mut(id)?;
        if socket.incoming.is_empty() {
            return Ok(Vec::new());
        }
        let (rights, peer, is_datagram) =
            (socket.consume(bytes), socket.peer(), socket.kind == SocketKind::Datagram);
        if is_datagram {
            // Any socket may send to it.
            let senders: Vec<u32> = self.kernel.open.sockets.iter().map(|(id, _)| *id).collect();
            for sender in senders {
                self.kernel.open.note_change(Object::Socket(sender));
            }
        } else if let Some(peer) = peer {
            self.kernel.open.note_change(Object::Socket(peer));
        }
        Ok(rights)
    }

    /// Receives into memory in parts until all bytes have come, as `MSG_WAITALL` asks for. `put` writes a part at an offset.
    pub(super) fn receive_all(
        &mut self,
        descriptor: u64,
        room: usize,
        flags: u32,
        mut put: impl FnMut(&mut Self, usize, &[u8]) -> Result<(), Failure>,
    ) -> CallResult {
        let mut done = if self.woken.is_some() { self.kernel.thread().written } else { 0 };
        let mut has_progress = false;
        loop {
            if done >= room {
                return Ok(done as u64);
            }
            self.keep_waiting(has_progress);
            self.kernel.thread_mut().written = done;
            let incoming = match self.peek_socket(descriptor, room - done, flags) {
                Ok(incoming) => incoming,
                Err(Failure::Interrupted { .. } | Failure::Errno(_)) if done > 0 => return Ok(done as u64),
                Err(failure) => return Err(failure),
            };
            if incoming.data.is_empty() {
                return Ok(done as u64);
            }
            put(self, done, &incoming.data)?;
            let rights = self.consume_socket(descriptor, incoming.data.len())?;
            rights.into_iter().for_each(|right| self.kernel.release_description(right));
            done += incoming.data.len();
            has_progress = true;
        }
    }
}

impl Socket {
    /// Returns at most `room` bytes of those that have come: of one message, or of a stream up to the next part with rights, and of one
    /// sender.
    fn peek(&self, room: usize) -> Incoming {
        let mut found = Incoming::default();
        for message in &self.incoming {
            let is_first = found.sender.is_none();
            let is_full = self.keeps_messages() || !found.rights.is_empty() || found.data.len() >= room;
            if !is_first && (is_full || found.sender != Some(message.sender)) {
                break;
            }
            if is_first {
                (found.from, found.sender) = (message.from.clone(), Some(message.sender));
                found.bytes = message.data.len();
            }
            found.rights.clone_from(&message.rights);
            found.data.extend(message.data.iter().take(room - found.data.len()));
        }
        found
    }

    /// Returns the poll events that the socket is ready for. `peer` is the socket that it sends to.
    pub(super) fn readiness(&self, peer: Option<&Self>) -> u16 {
        const POLLRDHUP: u16 = 0x2000;
        let input = POLLIN;
        let mut events = if self.error != 0 { POLLERR } else { 0 };
        if let Connection::Listening { pending, .. } = &self.connection {
            let hangs = if self.ends_reading && self.is_tcp() { POLLHUP } else { 0 };
            return events | hangs | if pending.is_empty() { 0 } else { input };
        }
        if self.ends_reading && self.ends_writing {
            events |= POLLHUP;
        }
        if self.ends_reading {
            events |= input | POLLRDHUP;
        }
        if !self.incoming.is_empty() {
            events |= input;
        }
        let is_connecting = matches!(self.connection, Connection::Connecting { .. });
        if self.kind != SocketKind::Datagram && self.peer().is_none() && !is_connecting {
            let is_refused = self.is_tcp() && self.error != 0;
            events |= POLLHUP | if is_refused { input | POLLRDHUP } else { 0 };
        }
        let has_room = match peer {
            _ if self.is_tcp() && self.ends_writing => true,
            _ if self.is_udp() => true,
            Some(peer) if self.kind == SocketKind::Datagram => peer.has_room(),
            Some(peer) if self.is_tcp() => {
                let limit = peer.options.receive_bytes + self.options.send_bytes;
                peer.incoming_bytes * 3 <= limit * 2
            }
            Some(peer) => peer.incoming_bytes * 4 <= self.options.send_bytes,
            None => !is_connecting,
        };
        events | if has_room { POLLOUT } else { 0 }
    }
}
