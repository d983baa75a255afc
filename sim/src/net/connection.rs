//! The client's end of a connection, and what both ends share.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::connecting::Connecting;
use super::{Flight, Message};
use crate::core::Core;
use crate::node::{Node, NodeId};
use crate::timer::{Basis, Timer};

/// Why nothing more comes from a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnected {
    /// The other end closed it.
    Closed,
    /// The process at the other end is gone.
    Reset,
}

/// Why no message came in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMessage {
    /// None came while anybody waited; it may still come.
    TimedOut,
    /// None will come.
    Disconnected(Disconnected),
}

/// No process offers the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectError;

/// Payloads of one direction: pushed at the sending, readable once the engine says that they arrived.
pub(super) type Queue<T> = Rc<RefCell<VecDeque<T>>>;

/// What the server gets of a new connection.
pub(super) struct Offer<In, Out> {
    pub(super) incoming: Queue<In>,
    pub(super) outgoing: Queue<Out>,
}

/// The sending half of one end.
pub(super) struct Sender<T> {
    pub(super) core: Rc<Core>,
    /// The end's process: once it is dead, nothing is sent.
    pub(super) node: NodeId,
    pub(super) host: u32,
    pub(super) endpoint: u32,
    pub(super) queue: Queue<T>,
}

impl<T> Sender<T> {
    pub(super) fn send(&self, message: T)
    where
        T: Message,
    {
        if !self.core.lives(self.node, self.host) {
            return;
        }
        let to = {
            let network = self.core.network.borrow();
            let state = &network.endpoints[self.endpoint as usize];
            if state.ending.is_some() {
                return;
            }
            network.endpoints[state.peer as usize].node
        };
        let hold = self.core.take_hold(self.node, to, message.operation());
        self.queue.borrow_mut().push_back(message);
        match hold {
            None => self.core.transmit(self.endpoint, Flight::Payload, 0),
            Some((fault, ns)) => self.core.transmit(self.endpoint, Flight::Held(fault), ns),
        }
    }

    pub(super) fn close(&self) {
        if self.core.lives(self.node, self.host) {
            let open = {
                let mut network = self.core.network.borrow_mut();
                let state = &mut network.endpoints[self.endpoint as usize];
                state.told = true;
                state.ending.replace(Disconnected::Closed).is_none()
            };
            if open {
                self.core.transmit(self.endpoint, Flight::End(Disconnected::Closed), 0);
            }
        }
    }
}

/// A client's connection to a service. Dropping it closes it; what was sent still arrives.
pub struct Connection<Out: Message, In> {
    sender: Sender<Out>,
    incoming: Queue<In>,
    /// Limits how long it waits; set anew for each message.
    patience: RefCell<Option<Timer>>,
}

impl<Out: Message, In> fmt::Debug for Connection<Out, In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.sender.endpoint)
    }
}

impl<Out: Message, In: Message> Connection<Out, In> {
    pub(crate) async fn open(
        node: &Node,
        to: NodeId,
        service: &'static str,
    ) -> Result<Connection<Out, In>, ConnectError> {
        let (requests, replies) = (Queue::<Out>::default(), Queue::<In>::default());
        let offer = Offer { incoming: requests.clone(), outgoing: replies.clone() };
        if !node.is_alive() {
            return pending().await;
        }
        let connecting = Connecting::begin(node, to, service, Box::new(offer));
        poll_fn(|cx| connecting.poll_answer(cx)).await?;
        let sender = Sender {
            core: node.core.clone(),
            node: node.id,
            host: node.host,
            endpoint: connecting.client,
            queue: requests,
        };
        Ok(Connection { sender, incoming: replies, patience: RefCell::new(None) })
    }

    /// Sends. Whether it arrives, nobody knows.
    pub fn send(&self, message: Out) {
        self.sender.send(message);
    }

    /// Waits for what the service sends. One task at a time: a second one takes the place of the first.
    ///
    /// # Errors
    /// [`Disconnected`] when everything that arrived was read and nothing more will.
    pub async fn recv(&self) -> Result<In, Disconnected> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Waits for what the service sends, but no longer than `patience` by the monotonic clock. If both are
    /// due when the process gets to run, the message wins. One task at a time, as for
    /// [`recv`](Connection::recv).
    ///
    /// # Errors
    /// [`NoMessage`].
    pub async fn recv_within(&self, patience: Duration) -> Result<In, NoMessage> {
        let node = Node { core: self.sender.core.clone(), id: self.sender.node, host: self.sender.host };
        let target = node.monotonic_deadline(patience);
        let mut timer = match self.patience.take() {
            Some(timer) => {
                timer.set(target);
                timer
            }
            None => Timer::at_reading(&node.core, Basis::Monotonic(node.id), target),
        };
        let result = poll_fn(|cx| match self.poll_recv(cx) {
            Poll::Ready(received) => Poll::Ready(received.map_err(NoMessage::Disconnected)),
            Poll::Pending => Pin::new(&mut timer).poll(cx).map(|()| Err(NoMessage::TimedOut)),
        })
        .await;
        timer.stop();
        self.patience.replace(Some(timer));
        result
    }

    fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<Result<In, Disconnected>> {
        let mut network = self.sender.core.network.borrow_mut();
        let state = &mut network.endpoints[self.sender.endpoint as usize];
        if state.arrived > 0 {
            state.arrived -= 1;
            let message = self.incoming.borrow_mut().pop_front();
            return Poll::Ready(Ok(message.expect("what arrived was sent")));
        }
        if let Some(ending) = state.ending {
            return Poll::Ready(Err(ending));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<Out: Message, In> Drop for Connection<Out, In> {
    fn drop(&mut self) {
        self.sender.close();
    }
}
