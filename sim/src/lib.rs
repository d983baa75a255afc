//! Deterministic simulation of nodes, clocks, networks, disks and their faults.
//!
//! # A tour
//!
//! A world is made of nodes. A node is a name and a closure: what its process runs when it starts, and again
//! when it restarts. Its code is ordinary `async` Rust, and sees the world through a [`Node`] handle only.
//! Here a server with an [`Inbox`] answers a client with a [`Connection`], and what the client has to tell
//! is noted with the true time, which only a [`Probe`] sees:
//!
//! ```
//! use std::{cell::RefCell, rc::Rc, time::Duration};
//!
//! use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};
//! use fencepost_sim::{Incoming, Latency, Message, NoMessage, World};
//!
//! struct Number(u64);
//! impl Message for Number {}
//!
//! fn story(faults: &[Fault]) -> Vec<String> {
//!     let mut world = World::new(7);
//!     world.set_latency(Latency::Constant(Duration::from_millis(1)));
//!     world.add_node("server", |node| async move {
//!         let inbox = node.bind::<Number, Number>("double");
//!         while let (client, Incoming::Message(Number(number))) = inbox.recv().await {
//!             node.work("multiply", Duration::from_millis(3)).await;
//!             client.send(Number(2 * number));
//!         }
//!     });
//!     let (notes, probe) = (Rc::new(RefCell::new(Vec::new())), world.probe());
//!     let notebook = notes.clone();
//!     world.add_node("client", move |node| {
//!         let (notes, probe) = (notebook.clone(), probe.clone());
//!         async move {
//!             let server = node.connect(node.lookup("server"), "double").await.expect("it listens");
//!             server.send(Number(21));
//!             let answer = node.timeout(Duration::from_millis(50), server.recv()).await;
//!             let answer = answer.map(|answer| answer.map(|Number(number)| number));
//!             notes.borrow_mut().push(format!("{} ms: {answer:?}", probe.now_ns() / 1_000_000));
//!         }
//!     });
//!     world.add_faults(faults);
//!     world.run(Duration::from_secs(60));
//!     notes.take()
//! }
//!
//! // Two milliseconds to connect, one to the server, three of work, one back.
//! assert_eq!(story(&[]), ["7 ms: Ok(Ok(42))"]);
//!
//! // A fault: a garbage collection stops the server for a second, just when it begins to multiply.
//! let pause = Fault {
//!     what: What::Pause { cause: PauseCause::Gc },
//!     target: Target::Node("server".to_owned()),
//!     when: When::Point { name: "multiply".to_owned(), passing: 1 },
//!     lasts_ns: Some(1_000_000_000),
//! };
//! assert_eq!(story(&[pause]), ["52 ms: Err(Elapsed)"]);
//! ```
//!
//! The name of a [`work`](Node::work) point is where a fault can be aimed: nothing happens between two awaits,
//! so code has a point wherever real code could be stopped, such as between the check of a lease and the write
//! that it protects. Had the pause begun one millisecond later, with two milliseconds of work left, these two
//! would follow the resume; clocks go on meanwhile, and so does the kernel, which receives and acknowledges.
//! What else can go wrong, to whom and when is in [`fault`].
//!
//! # Determinism
//!
//! A run is its seed, its parameters and its fault schedule, all of them data. Events have one total order,
//! by (true time, sequence number); there are no threads, no time of the machine, no hashing. So the same
//! binary gives the same run, on every thread and however often, and [`World::digest`] tells whether it did.
//! Node code must do its part: no randomness but [`Node::draw`], no clock but the node's, no iteration over
//! hash maps, and nothing shared between nodes but messages.
//!
//! # Streams of randomness
//!
//! Each [`Concern`] has a [`Stream`] of its own, and in [`Concern::Workload`] each node. One more fault, or
//! one more draw in a client, changes what it touches and does not reshuffle the rest. A schedule that is
//! drawn at random is generated from [`Concern::Faults`] before the run, and then executed like one written
//! by hand: it can be printed, edited, replayed and shrunk.
//!
//! # Incarnations
//!
//! A handle belongs to one incarnation of a process and dies with it. When a process is killed its code does
//! not run on; its destructors do (Rust sees to that), but what they do through handles has no effect, and
//! the next incarnation starts with what the disk has. A [`Probe`] is no handle of a node: what observers
//! record in destructors of node code is for them to guard with [`Node::is_alive`].
//!
//! # What is not modelled yet
//!
//! Send buffers, keepalive and user time-outs, loss, and distributions of latency with a tail; torn writes,
//! and an `fsync` that lies or fails; clocks that slew or strobe; several processes on one host. The header
//! of each file says what it leaves out. A monotonic clock goes on over a power-off.

mod clock;
mod core;
mod disk;
mod engine;
mod event;
pub mod fault;
mod native;
mod nemesis;
mod net;
mod node;
mod rng;
mod timer;
mod world;

pub use clock::EPOCH_NS;
pub use disk::Disk;
pub use engine::RunEnd;
pub use nemesis::Notice;
pub use net::{ConnectError, Connection, Disconnected, Inbox, Incoming, Latency, Message, NoMessage, Peer};
pub use node::{Elapsed, Node, NodeId};
pub use rng::{Concern, Stream};
pub use world::{Probe, World};
