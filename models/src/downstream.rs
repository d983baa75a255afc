//! A slow service that the invoice workload calls while it holds the lock: a tax office, a printer.

use std::time::Duration;

use fencepost_sim::{Incoming, Message, Node, World};

use crate::rpc::Traced;

/// The name under which clients find it.
pub(crate) const SERVICE: &str = "downstream";

/// Work for the service.
#[derive(Clone, Debug)]
pub struct Task {
    /// How long it takes.
    pub takes: Duration,
}

/// The work is done.
#[derive(Clone, Copy, Debug)]
pub struct Finished;

impl Message for Finished {}

/// Adds the service's node to the world.
pub fn start(world: &mut World) {
    world.add_node("downstream", serve);
}

/// Works on all tasks at once.
async fn serve(node: Node) {
    let inbox = node.bind::<Traced<Task>, Finished>(SERVICE);
    loop {
        let (client, incoming) = inbox.recv().await;
        let Incoming::Message(traced) = incoming else { continue };
        let worker = node.clone();
        node.spawn(async move {
            worker.sleep(traced.request.takes).await;
            client.send(Finished);
        });
    }
}
