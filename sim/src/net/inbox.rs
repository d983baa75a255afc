//! The service's end: everything that clients send, on any connection, as it becomes readable.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::connection::{Disconnected, Offer, Queue, Sender};
use super::{InboxState, Message, Service};
use crate::node::Node;

/// What a service reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<T> {
    /// A message.
    Message(T),
    /// The connection is over; everything that arrived on it was read.
    Ended(Disconnected),
}

/// Where a service reads what its clients send: one at a time, in the order in which the connections became
/// readable. Dropping it ends the service and closes its connections.
pub struct Inbox<In, Out> {
    node: Node,
    shared: Rc<Shared<In, Out>>,
}

/// The client at the other end of a connection.
pub struct Peer<Out> {
    sender: Rc<Sender<Out>>,
}

struct Shared<In, Out> {
    node: Node,
    service: &'static str,
    inbox: u32,
    connections: RefCell<BTreeMap<u32, Accepted<In, Out>>>,
}

/// A connection that the inbox reads, by its endpoint.
type Accepted<In, Out> = (Queue<In>, Peer<Out>);

impl<Out> Clone for Peer<Out> {
    fn clone(&self) -> Self {
        Peer { sender: self.sender.clone() }
    }
}

impl<Out> fmt::Debug for Peer<Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer({})", self.sender.endpoint)
    }
}

impl<In, Out> fmt::Debug for Inbox<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inbox({})", self.shared.inbox)
    }
}

impl<Out: Message> Peer<Out> {
    /// Sends. Whether it arrives, nobody knows.
    pub fn send(&self, message: Out) {
        self.sender.send(message);
    }

    /// A number that tells the connections of a world apart.
    pub fn connection(&self) -> u32 {
        self.sender.endpoint
    }
}

impl<In: Message, Out: Message> Inbox<In, Out> {
    pub(crate) fn bind(node: &Node, service: &'static str) -> Self {
        let mut network = node.core.network.borrow_mut();
        let inbox = network.inboxes.len() as u32;
        network.inboxes.push(InboxState { host: node.host, ready: Default::default(), waker: None });
        let shared = Rc::new(Shared { node: node.clone(), service, inbox, connections: RefCell::default() });
        if node.is_alive() {
            let before = network.services.insert((node.id, service), shared.clone());
            assert!(before.is_none(), "{service:?} is bound twice on one node");
        }
        Inbox { node: node.clone(), shared }
    }

    /// Waits for the next message of any client, or for the end of a connection. One task at a time: a second
    /// one takes the place of the first.
    pub async fn recv(&self) -> (Peer<Out>, Incoming<In>) {
        poll_fn(|cx| {
            let mut network = self.node.core.network.borrow_mut();
            let network = &mut *network;
            let inbox = &mut network.inboxes[self.shared.inbox as usize];
            let Some(endpoint) = inbox.ready.pop_front() else {
                inbox.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let state = &mut network.endpoints[endpoint as usize];
            let mut connections = self.shared.connections.borrow_mut();
            let (queue, peer) = connections.get(&endpoint).expect("what is readable was accepted");
            let peer = peer.clone();
            if state.arrived > 0 {
                state.arrived -= 1;
                let message = queue.borrow_mut().pop_front().expect("what arrived was sent");
                return Poll::Ready((peer, Incoming::Message(message)));
            }
            let ending = state.ending.expect("only a message or an end makes a connection readable");
            connections.remove(&endpoint);
            Poll::Ready((peer, Incoming::Ended(ending)))
        })
        .await
    }
}

impl<In, Out> Drop for Inbox<In, Out> {
    fn drop(&mut self) {
        let Shared { node, service, .. } = &*self.shared;
        if node.is_alive() {
            let offered = node.core.network.borrow_mut().services.remove(&(node.id, *service));
            drop(offered);
            for (_, peer) in self.shared.connections.borrow().values() {
                peer.sender.close();
            }
        }
    }
}

impl<In: Message, Out: Message> Service for Shared<In, Out> {
    fn accept(&self, endpoint: u32, offer: Box<dyn Any>) -> (u32, u32) {
        let offer = offer.downcast::<Offer<In, Out>>();
        let offer =
            offer.unwrap_or_else(|_| panic!("a client of {:?} speaks another protocol", self.service));
        let sender = Sender {
            core: self.node.core.clone(),
            node: self.node.id,
            host: self.node.host,
            endpoint,
            queue: offer.outgoing,
        };
        let peer = Peer { sender: Rc::new(sender) };
        self.connections.borrow_mut().insert(endpoint, (offer.incoming, peer));
        (self.node.host, self.inbox)
    }
}
