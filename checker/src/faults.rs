//! What the nemesis did to each node, and when.

use crate::history::{Fault, NodeId, OpId};
use crate::moment::Moment;

/// An interval that may still be open.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    from_ns: u64,
    to_ns: u64,
}

const OPEN: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
struct Node {
    stops: Vec<Trouble>,
    /// Cut links and messages held without naming their operation.
    links: Vec<Trouble>,
    /// When its clock was stepped or given another rate.
    clock_moved_ns: Vec<u64>,
}

/// The faults of a history so far.
#[derive(Debug)]
pub(crate) struct Faults {
    nodes: Vec<Node>,
    /// Stops, cuts and held messages that are not over: no round trip is healthy while there are any.
    open: Vec<Open>,
    /// When the last fault began or ended.
    last: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Stop(NodeId),
    Cut(NodeId, NodeId),
    Message(NodeId, NodeId, Option<OpId>),
}

impl Faults {
    pub(crate) fn new(nodes: usize) -> Self {
        Faults { nodes: vec![Node::default(); nodes], open: Vec::new(), last: None }
    }

    pub(crate) fn push(&mut self, fault: &Fault, at: Moment) {
        let now_ns = at.time_ns;
        self.last = Some(at);
        match *fault {
            Fault::Stop { node, .. } => {
                if !self.is_stopped(node) {
                    self.open.push(Open::Stop(node));
                    self.begin(node, |node| &mut node.stops, now_ns);
                }
            }
            // A process that is gone is not stopped any more: what follows is about its death.
            Fault::Resume { node }
            | Fault::Kill { node }
            | Fault::PowerOff { node }
            | Fault::Restart { node } => {
                self.open.retain(|open| *open != Open::Stop(node));
                self.end(node, |node| &mut node.stops, now_ns);
            }
            Fault::ClockStep { node, .. } | Fault::ClockRate { node, .. } => {
                if let Some(node) = self.nodes.get_mut(node.0 as usize) {
                    node.clock_moved_ns.push(now_ns);
                }
            }
            Fault::HoldMessage { from, to, op } => {
                self.open.push(Open::Message(from, to, op));
                if op.is_none() {
                    self.begin_link(from, to, now_ns);
                }
            }
            Fault::DeliverMessage { from, to, op } => {
                let message = Open::Message(from, to, op);
                if let Some(position) = self.open.iter().position(|open| *open == message) {
                    self.open.remove(position);
                }
                if op.is_none() {
                    self.end_link(from, to, now_ns);
                }
            }
            Fault::Cut { from, to } => {
                self.open.push(Open::Cut(from, to));
                self.begin_link(from, to, now_ns);
            }
            Fault::Heal { from, to } => {
                self.open.retain(|open| *open != Open::Cut(from, to));
                self.end_link(from, to, now_ns);
            }
        }
    }

    fn begin(&mut self, node: NodeId, kind: fn(&mut Node) -> &mut Vec<Trouble>, now_ns: u64) {
        if let Some(node) = self.nodes.get_mut(node.0 as usize) {
            kind(node).push(Trouble { from_ns: now_ns, to_ns: OPEN });
        }
    }

    fn end(&mut self, node: NodeId, kind: fn(&mut Node) -> &mut Vec<Trouble>, now_ns: u64) {
        if let Some(node) = self.nodes.get_mut(node.0 as usize)
            && let Some(trouble) = kind(node).iter_mut().rfind(|trouble| trouble.to_ns == OPEN)
        {
            trouble.to_ns = now_ns;
        }
    }

    fn begin_link(&mut self, from: NodeId, to: NodeId, now_ns: u64) {
        for node in [from, to] {
            self.begin(node, |node| &mut node.links, now_ns);
        }
    }

    fn end_link(&mut self, from: NodeId, to: NodeId, now_ns: u64) {
        for node in [from, to] {
            self.end(node, |node| &mut node.links, now_ns);
        }
    }

    fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node.0 as usize)
    }

    /// Whether a node's code is stopped now.
    pub(crate) fn is_stopped(&self, node: NodeId) -> bool {
        self.node(node).is_some_and(|node| node.stops.last().is_some_and(|stop| stop.to_ns == OPEN))
    }

    /// Whether a node's code was stopped at an instant.
    pub(crate) fn was_stopped_at(&self, node: NodeId, time_ns: u64) -> bool {
        self.node(node).is_some_and(|node| {
            node.stops.iter().rev().any(|stop| stop.from_ns <= time_ns && time_ns < stop.to_ns)
        })
    }

    /// Whether a node's code was stopped at some instant of an interval.
    pub(crate) fn was_stopped_within(&self, node: NodeId, from_ns: u64, to_ns: u64) -> bool {
        self.node(node).is_some_and(|node| touches(&node.stops, from_ns, to_ns))
    }

    /// Whether a link of a node was down at some instant of an interval.
    pub(crate) fn was_cut_off_within(&self, node: NodeId, from_ns: u64, to_ns: u64) -> bool {
        self.node(node).is_some_and(|node| touches(&node.links, from_ns, to_ns))
    }

    /// Whether a node's clock was moved in an interval.
    pub(crate) fn was_clock_moved_within(&self, node: NodeId, from_ns: u64, to_ns: u64) -> bool {
        self.node(node).is_some_and(|node| {
            node.clock_moved_ns.iter().rev().any(|moved_ns| (from_ns..=to_ns).contains(moved_ns))
        })
    }

    /// Whether no fault has touched the system since a moment.
    pub(crate) fn were_none_since(&self, since_ns: u64) -> bool {
        self.open.is_empty() && self.last.is_none_or(|last| last.time_ns < since_ns)
    }
}

fn touches(troubles: &[Trouble], from_ns: u64, to_ns: u64) -> bool {
    troubles.iter().rev().any(|trouble| trouble.from_ns <= to_ns && from_ns < trouble.to_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::StopKind;

    const NODE: NodeId = NodeId(0);

    fn faults(list: &[(u64, Fault)]) -> Faults {
        let mut faults = Faults::new(2);
        for (time_ns, fault) in list {
            faults.push(fault, Moment { time_ns: *time_ns, index: *time_ns });
        }
        faults
    }

    #[test]
    fn a_stop_lasts_until_it_is_over() {
        let stop = Fault::Stop { node: NODE, kind: StopKind::Gc };
        let faults = faults(&[(10, stop.clone()), (20, Fault::Resume { node: NODE }), (30, stop)]);
        assert!(faults.was_stopped_at(NODE, 10) && faults.was_stopped_at(NODE, 19));
        assert!(!faults.was_stopped_at(NODE, 20) && !faults.was_stopped_within(NODE, 20, 29));
        assert!(faults.is_stopped(NODE) && faults.was_stopped_within(NODE, 100, 200));
        assert!(!faults.were_none_since(100));
    }

    #[test]
    fn a_death_ends_a_stop() {
        let stop = Fault::Stop { node: NODE, kind: StopKind::Gc };
        let faults = faults(&[(10, stop), (20, Fault::Kill { node: NODE })]);
        assert!(!faults.is_stopped(NODE));
        assert!(faults.were_none_since(21) && !faults.were_none_since(20));
    }

    #[test]
    fn a_cut_touches_both_ends() {
        let (from, to) = (NodeId(0), NodeId(1));
        let faults = faults(&[(10, Fault::Cut { from, to }), (20, Fault::Heal { from, to })]);
        assert!(faults.was_cut_off_within(from, 0, 10) && faults.was_cut_off_within(to, 19, 30));
        assert!(!faults.was_cut_off_within(from, 20, 30));
    }
}
