//! Requests and replies over one connection, as a client library does it.

use std::cell::RefCell;
use std::time::Duration;

use fencepost_checker::history::{Hold, OpId, WorkerId};
use fencepost_sim::{Connection, Message, NoMessage, Node, NodeId};

/// A request with what a trace header would carry: servers record it and never act on it.
#[derive(Clone, Debug)]
pub struct Traced<T> {
    /// The operation that the request belongs to.
    pub op: OpId,
    /// Whose it is.
    pub worker: WorkerId,
    /// The grant under which it acts.
    pub hold: Option<Hold>,
    /// The request itself.
    pub request: T,
}

impl<T: 'static> Message for Traced<T> {
    fn operation(&self) -> Option<u64> {
        Some(self.op.0)
    }
}

/// A request got no reply: whether it was or will be executed is unknown, unless it was not even sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// Not within the time-out.
    TimedOut,
    /// The connection broke.
    Disconnected,
    /// There is no connection: certainly not executed.
    NotSent,
}

impl NoReply {
    /// What a client library would log.
    pub fn message(self) -> &'static str {
        match self {
            NoReply::TimedOut => "no reply within the time-out",
            NoReply::Disconnected => "connection lost",
            NoReply::NotSent => "no connection",
        }
    }
}

/// One connection to one service, opened when it is needed and again after it broke. A request whose reply
/// is given up takes its connection with it, so that a late reply is not taken for another one's.
#[derive(Debug)]
pub struct Rpc<Out: Message, In: Message> {
    node: Node,
    server: NodeId,
    service: &'static str,
    timeout: Option<Duration>,
    connection: RefCell<Option<Connection<Out, In>>>,
}

impl<Out: Message, In: Message> Rpc<Out, In> {
    /// A client of a service; without `timeout` it waits for ever.
    pub fn new(node: &Node, server: NodeId, service: &'static str, timeout: Option<Duration>) -> Self {
        Rpc { node: node.clone(), server, service, timeout, connection: RefCell::new(None) }
    }

    /// Sends a request and waits for its reply. One call at a time.
    ///
    /// # Errors
    /// [`NoReply`]: what became of the request is unknown.
    pub async fn call(&self, request: Out) -> Result<In, NoReply> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        connection.send(request);
        let reply = match self.timeout {
            Some(timeout) => connection.recv_within(timeout).await.map_err(|error| match error {
                NoMessage::TimedOut => NoReply::TimedOut,
                NoMessage::Disconnected(_) => NoReply::Disconnected,
            }),
            None => connection.recv().await.map_err(|_| NoReply::Disconnected),
        }?;
        self.connection.replace(Some(connection));
        Ok(reply)
    }

    async fn connect(&self) -> Result<Connection<Out, In>, NoReply> {
        let opening = self.node.connect(self.server, self.service);
        let opened = match self.timeout {
            // Nothing was sent yet: whatever it was, it certainly did not happen.
            Some(timeout) => self.node.timeout(timeout, opening).await.map_err(|_| NoReply::NotSent)?,
            None => opening.await,
        };
        opened.map_err(|_| NoReply::NotSent)
    }
}
