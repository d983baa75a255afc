//! Links that are cut, and what is sent again when they are whole.
//!
//! A link is open if no fault cuts it and the host at its end has power. What arrives at a link that is not
//! open is stranded: its sender's kernel sends it again, so it arrives once the link is open, unless the
//! sender's host lost power meanwhile.

use crate::core::Core;
use crate::event::Event;
use crate::node::{Life, NodeId};

use super::Network;

impl Core {
    /// Whether something gets from one node to another now.
    pub(super) fn is_open(&self, from: NodeId, to: NodeId) -> bool {
        self.is_open_in(&self.network.borrow(), from, to)
    }

    pub(super) fn is_open_in(&self, network: &Network, from: NodeId, to: NodeId) -> bool {
        (network.cuts.is_empty() || !network.cuts.contains_key(&(from, to)))
            && self.nodes.borrow()[to.0 as usize].life != Life::Nothing
    }

    /// Cuts a link; tells whether it was whole before.
    pub(crate) fn cut_link(&self, from: NodeId, to: NodeId) -> bool {
        let mut network = self.network.borrow_mut();
        let cuts = network.cuts.entry((from, to)).or_default();
        *cuts += 1;
        *cuts == 1
    }

    /// Takes a cut back; tells whether the link is whole now. What was sent meanwhile arrives.
    pub(crate) fn heal_link(&self, from: NodeId, to: NodeId) -> bool {
        {
            let mut network = self.network.borrow_mut();
            let cuts = network.cuts.get_mut(&(from, to)).expect("only a link that was cut is healed");
            *cuts -= 1;
            if *cuts > 0 {
                return false;
            }
            network.cuts.remove(&(from, to));
        }
        self.send_again(to);
        true
    }

    /// Sends again what was stranded on its way to a node, as far as the way is open now.
    pub(crate) fn send_again(&self, to: NodeId) {
        let now = self.engine.now();
        let mut network = self.network.borrow_mut();
        for endpoint in 0..network.endpoints.len() {
            let state = &network.endpoints[endpoint];
            let (stranded, from) = (state.stranded, network.endpoints[state.peer as usize].node);
            if stranded == 0 || state.node != to || !self.is_open_in(&network, from, to) {
                continue;
            }
            let at = now.saturating_add(network.draw_latency(from, to));
            let state = &mut network.endpoints[endpoint];
            state.stranded = 0;
            state.last_at = state.last_at.max(at);
            for _ in 0..stranded {
                self.engine.schedule(at, Event::Arrive { endpoint: endpoint as u32 });
            }
        }
        for event in std::mem::take(&mut network.stranded) {
            let (attempt, request) = match event {
                Event::Connect { attempt } => (attempt, true),
                Event::Connected { attempt } => (attempt, false),
                _ => unreachable!("only requests to connect and their answers are stranded as events"),
            };
            let (from, to) = network.ends_of_attempt(attempt, request);
            if self.is_open_in(&network, from, to) {
                let at = now.saturating_add(network.draw_latency(from, to));
                self.engine.schedule(at, event);
            } else {
                network.stranded.push(event);
            }
        }
    }

    /// The sender's kernel is gone, and with it what it would have sent again. What followed on the same
    /// connection is never readable.
    pub(crate) fn lose_unsent(&self, sender: NodeId) {
        let mut network = self.network.borrow_mut();
        for endpoint in 0..network.endpoints.len() {
            let from = network.endpoints[network.endpoints[endpoint].peer as usize].node;
            let state = &mut network.endpoints[endpoint];
            if from == sender && state.stranded > 0 {
                state.lost += state.in_flight.len() as u32 - state.stranded;
                state.stranded = 0;
                state.in_flight.clear();
            }
        }
        let mut stranded = std::mem::take(&mut network.stranded);
        stranded.retain(|event| {
            !matches!(event, Event::Connected { attempt } if network.ends_of_attempt(*attempt, false).0 == sender)
        });
        network.stranded = stranded;
    }
}
