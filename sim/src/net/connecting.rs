//! How connections come to be.

use std::any::Any;
use std::task::{Context, Poll, Waker};

use super::Flight;
use super::connection::{ConnectError, Disconnected};
use crate::core::Core;
use crate::event::Event;
use crate::node::{Node, NodeId};

/// A request to connect. The client's kernel repeats it until it is answered or the client gives up.
pub(super) struct Attempt {
    client: u32,
    server: u32,
    service: &'static str,
    /// The server's half: typed, so only the service can open it.
    offer: Option<Box<dyn Any>>,
    /// What the server's kernel said.
    accepted: Option<bool>,
    /// Whether the client knows.
    answered: bool,
    given_up: bool,
    waker: Option<Waker>,
}

/// Waits for the answer; if it is dropped before, the client has given up.
pub(super) struct Connecting {
    node: Node,
    attempt: u32,
    pub(super) client: u32,
}

impl Connecting {
    /// Sends the request. The endpoints exist from now on, though nobody may ever use them.
    pub(super) fn begin(node: &Node, to: NodeId, service: &'static str, offer: Box<dyn Any>) -> Self {
        let mut network = node.core.network.borrow_mut();
        let client = network.new_endpoint(node.id, node.host, 0);
        // Nobody's, until the service accepts.
        let server = network.new_endpoint(to, crate::core::OBSERVERS, client);
        network.endpoints[client as usize].peer = server;
        let attempt = network.attempts.len() as u32;
        network.attempts.push(Attempt {
            client,
            server,
            service,
            offer: Some(offer),
            accepted: None,
            answered: false,
            given_up: false,
            waker: None,
        });
        let at = node.core.engine.now().saturating_add(network.draw_latency(node.id, to));
        node.core.engine.schedule(at, Event::Connect { attempt });
        Connecting { node: node.clone(), attempt, client }
    }

    pub(super) fn poll_answer(&self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        let mut network = self.node.core.network.borrow_mut();
        let state = &mut network.attempts[self.attempt as usize];
        match state.accepted {
            Some(true) if state.answered => Poll::Ready(Ok(())),
            Some(false) if state.answered => Poll::Ready(Err(ConnectError)),
            _ => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        let core = &self.node.core;
        let accepted = {
            let mut network = core.network.borrow_mut();
            let state = &mut network.attempts[self.attempt as usize];
            if state.answered || !self.node.is_alive() {
                return;
            }
            state.given_up = true;
            let accepted = state.accepted == Some(true);
            let end = &mut network.endpoints[self.client as usize];
            (end.ending, end.told) = (Some(Disconnected::Closed), true);
            accepted
        };
        if accepted {
            core.transmit(self.client, Flight::End(Disconnected::Closed), 0);
        }
    }
}

impl Core {
    pub(crate) fn connect_arrives(&self, attempt: u32) {
        let (client, server, service) = {
            let network = self.network.borrow();
            let state = &network.attempts[attempt as usize];
            let client = &network.endpoints[state.client as usize];
            if state.given_up || !self.lives(client.node, client.host) {
                return;
            }
            assert!(state.accepted.is_none(), "a request to connect arrives once");
            (client.node, network.endpoints[state.server as usize].node, state.service)
        };
        if !self.is_open(client, server) {
            self.network.borrow_mut().stranded.push(Event::Connect { attempt });
            return;
        }
        // A service is there only as long as its process lives.
        let acceptor = self.network.borrow().services.get(&(server, service)).cloned();
        let accepted = acceptor.is_some();
        if let Some(acceptor) = acceptor {
            let (endpoint, offer) = {
                let state = &mut self.network.borrow_mut().attempts[attempt as usize];
                (state.server, state.offer.take().expect("an offer is taken once"))
            };
            let (host, inbox) = acceptor.accept(endpoint, offer);
            assert!(self.lives(server, host), "a service outlived its process");
            let state = &mut self.network.borrow_mut().endpoints[endpoint as usize];
            (state.host, state.inbox) = (host, Some(inbox));
        }
        let mut network = self.network.borrow_mut();
        let state = &mut network.attempts[attempt as usize];
        (state.accepted, state.offer) = (Some(accepted), None);
        let at = self.engine.now().saturating_add(network.draw_latency(server, client));
        self.engine.schedule(at, Event::Connected { attempt });
    }

    pub(crate) fn connect_answered(&self, attempt: u32) {
        let waker = {
            let mut network = self.network.borrow_mut();
            let (from, to) = network.ends_of_attempt(attempt, false);
            if !self.is_open_in(&network, from, to) {
                network.stranded.push(Event::Connected { attempt });
                return;
            }
            let state = &mut network.attempts[attempt as usize];
            state.answered = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl super::Network {
    /// From where to where a request to connect goes, or the answer to it.
    pub(super) fn ends_of_attempt(&self, attempt: u32, request: bool) -> (NodeId, NodeId) {
        let state = &self.attempts[attempt as usize];
        let node = |endpoint: u32| self.endpoints[endpoint as usize].node;
        let (client, server) = (node(state.client), node(state.server));
        if request { (client, server) } else { (server, client) }
    }
}
