//! Ordered connections between nodes.
//!
//! A connection is a pair of endpoints. What is sent arrives in order and at most once; two connections have
//! no mutual order. Payloads lie in typed queues, one a direction; the engine knows only that something
//! arrives.
//!
//! Fault model: latency per link; a held message, and with it all that follows on its connection; links that
//! are cut one way or both ways (what is sent arrives after the healing, as retransmission would have it);
//! a killed process resets its connections; a host without power is silent, and answers with a reset once it
//! is back. Bytes that arrived are read even if the sender is gone. Not modelled yet: send buffers, keepalive
//! and user time-outs, loss, half-closed connections.

mod connecting;
mod connection;
mod inbox;
mod latency;
mod links;

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::task::Waker;

pub use connection::{ConnectError, Connection, Disconnected, NoMessage};
pub use inbox::{Inbox, Incoming, Peer};
pub use latency::Latency;

use connecting::Attempt;

use crate::core::Core;
use crate::event::Event;
use crate::node::NodeId;
use crate::rng::{Concern, Stream};

/// What can be sent.
pub trait Message: 'static {
    /// The operation that this message carries, for the records of who held or lost it.
    fn operation(&self) -> Option<u64> {
        None
    }
}

pub(crate) struct Network {
    stream: Stream,
    latency: Latency,
    links: BTreeMap<(NodeId, NodeId), Latency>,
    /// How many faults cut a link now.
    cuts: BTreeMap<(NodeId, NodeId), u32>,
    endpoints: Vec<Endpoint>,
    attempts: Vec<Attempt>,
    /// Requests to connect, and answers to them, that arrived at links that are not open.
    stranded: Vec<Event>,
    inboxes: Vec<InboxState>,
    services: BTreeMap<(NodeId, &'static str), Rc<dyn Service>>,
}

/// One end of a connection, as its host's kernel sees it.
struct Endpoint {
    node: NodeId,
    /// The process that owns it.
    host: u32,
    peer: u32,
    /// The inbox that it belongs to, on the side of a service.
    inbox: Option<u32>,
    /// What is on its way here, in order.
    in_flight: VecDeque<Flight>,
    /// How much of it arrived while the way here was not open, and will arrive again.
    stranded: u32,
    /// How many arrivals are still to come of what was lost with its sender.
    lost: u32,
    /// When the last of it arrives.
    last_at: u64,
    /// How many payloads arrived and were not read.
    arrived: u32,
    ending: Option<Disconnected>,
    /// Whether the peer was told of the end: a host without power tells nobody, and does it once it is back.
    told: bool,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flight {
    Payload,
    /// A payload that the fault of this number held.
    Held(u32),
    End(Disconnected),
}

struct InboxState {
    /// The process that reads it.
    host: u32,
    /// One entry for each arrival that was not read: its endpoint.
    ready: VecDeque<u32>,
    waker: Option<Waker>,
}

/// What accepts connections to a service.
trait Service {
    /// Takes the server's half of a new connection; tells the process and the inbox that it belongs to.
    fn accept(&self, endpoint: u32, offer: Box<dyn Any>) -> (u32, u32);
}

impl Network {
    pub(crate) fn new(seed: u64) -> Self {
        Network {
            stream: Stream::new(seed, Concern::Network, 0),
            latency: Latency::default(),
            links: BTreeMap::new(),
            cuts: BTreeMap::new(),
            endpoints: Vec::new(),
            attempts: Vec::new(),
            stranded: Vec::new(),
            inboxes: Vec::new(),
            services: BTreeMap::new(),
        }
    }

    pub(crate) fn set_latency(&mut self, latency: Latency) {
        self.latency = latency;
    }

    pub(crate) fn set_link_latency(&mut self, from: NodeId, to: NodeId, latency: Latency) {
        self.links.insert((from, to), latency);
    }

    fn draw_latency(&mut self, from: NodeId, to: NodeId) -> u64 {
        let latency =
            if self.links.is_empty() { None } else { self.links.get(&(from, to)) }.unwrap_or(&self.latency);
        latency.draw(&mut self.stream)
    }

    fn new_endpoint(&mut self, node: NodeId, host: u32, peer: u32) -> u32 {
        self.endpoints.push(Endpoint {
            node,
            host,
            peer,
            inbox: None,
            in_flight: VecDeque::new(),
            stranded: 0,
            lost: 0,
            last_at: 0,
            arrived: 0,
            ending: None,
            told: false,
            waker: None,
        });
        self.endpoints.len() as u32 - 1
    }

    /// Takes all services out, for the end of the world.
    pub(crate) fn take_services(&mut self) -> impl Sized + use<> {
        std::mem::take(&mut self.services)
    }

    /// A payload or an end that its reader has not seen: tells whom to wake.
    fn announce(&mut self, endpoint: u32) -> Option<Waker> {
        match self.endpoints[endpoint as usize].inbox {
            Some(inbox) => {
                let inbox = &mut self.inboxes[inbox as usize];
                inbox.ready.push_back(endpoint);
                inbox.waker.take()
            }
            None => self.endpoints[endpoint as usize].waker.take(),
        }
    }
}

impl Core {
    /// Puts something on its way from an endpoint to its peer.
    fn transmit(&self, from: u32, flight: Flight, held_ns: u64) {
        let now = self.engine.now();
        let mut network = self.network.borrow_mut();
        let to = network.endpoints[from as usize].peer;
        let (sender, receiver) = (network.endpoints[from as usize].node, network.endpoints[to as usize].node);
        let latency = network.draw_latency(sender, receiver);
        let peer = &mut network.endpoints[to as usize];
        peer.last_at = peer.last_at.max(now.saturating_add(latency).saturating_add(held_ns));
        peer.in_flight.push_back(flight);
        self.engine.schedule(peer.last_at, Event::Arrive { endpoint: to });
    }

    pub(crate) fn arrive(&self, endpoint: u32) {
        let (waker, delivered, refused) = {
            let mut network = self.network.borrow_mut();
            let (node, peer, host) = {
                let state = &network.endpoints[endpoint as usize];
                (state.node, network.endpoints[state.peer as usize].node, state.host)
            };
            let open = self.is_open_in(&network, peer, node);
            let state = &mut network.endpoints[endpoint as usize];
            if state.lost > 0 {
                state.lost -= 1;
                return;
            }
            if !open {
                state.stranded += 1;
                assert!(state.stranded as usize <= state.in_flight.len(), "what is stranded is in flight");
                return;
            }
            let flight = state.in_flight.pop_front().expect("what arrives was in flight");
            let gone = !self.lives(node, host);
            let refused = gone && !state.told;
            state.told |= refused;
            let delivered = if let Flight::Held(fault) = flight { Some((fault, peer, node)) } else { None };
            let waker = if gone || state.ending.is_some() {
                None
            } else {
                match flight {
                    Flight::Payload | Flight::Held(_) => state.arrived += 1,
                    Flight::End(ending) => state.ending = Some(ending),
                }
                network.announce(endpoint)
            };
            (waker, delivered, refused)
        };
        if refused {
            self.transmit(endpoint, Flight::End(Disconnected::Reset), 0);
        }
        if let Some((fault, from, to)) = delivered {
            self.held_message_arrives(fault, from, to);
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The process is gone: its services are closed and, if its host is there to say so, its peers are told.
    pub(crate) fn abandon_connections(&self, node: NodeId, host: u32, with_reset: bool) {
        let (mine, services) = {
            let mut network = self.network.borrow_mut();
            let mut mine = Vec::new();
            for endpoint in 0..network.endpoints.len() {
                let state = &network.endpoints[endpoint];
                if state.host == host && state.node == node && state.ending.is_none() {
                    // A peer that never accepted knows of no connection.
                    let known =
                        state.inbox.is_some() || network.endpoints[state.peer as usize].inbox.is_some();
                    let state = &mut network.endpoints[endpoint];
                    (state.ending, state.told) = (Some(Disconnected::Closed), with_reset);
                    mine.extend(known.then_some(endpoint as u32));
                }
            }
            let closed = |(owner, _): &(NodeId, &'static str)| *owner == node;
            let names: Vec<_> = network.services.keys().copied().filter(closed).collect();
            let services: Vec<_> = names.iter().map(|name| network.services.remove(name)).collect();
            (mine, services)
        };
        if with_reset {
            for endpoint in mine {
                self.transmit(endpoint, Flight::End(Disconnected::Reset), 0);
            }
        }
        // What lies in them is dropped with nothing borrowed.
        drop(services);
    }

    /// What arrived at a stopped process on several connections has no mutual order.
    pub(crate) fn shuffle_arrivals(&self, host: u32) {
        for inbox in &mut self.network.borrow_mut().inboxes {
            if inbox.host == host {
                self.schedule_stream.borrow_mut().shuffle(inbox.ready.make_contiguous());
            }
        }
    }
}
