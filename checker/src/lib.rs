//! Histories of locks and ledgers, and the checks that judge them.
//!
//! A [history] says in true time what everybody saw: operations as their workers saw them, grants as the lock
//! service saw them, writes as the resource saw them, faults as the nemesis made them. A [`Checker`] reads it
//! once, from the first entry to the last, and keeps three views apart:
//!
//! - *owner*: who holds the lock according to the service;
//! - *belief*: who acts as if it held the lock;
//! - *data*: what the resource accepted.
//!
//! From where they differ it counts harm and time, says which promises were [broken](analysis::Contract), and
//! names for each [finding](finding::Finding) who is to blame. [`jsonl`] reads and writes histories, and
//! [`digest()`] tells whether two are the same.
//!
//! ```
//! use fencepost_checker::analyse;
//! use fencepost_checker::finding::{Assumption, Party};
//! use fencepost_checker::history::Hold;
//! use fencepost_checker::jsonl;
//!
//! // A holds a lock for ten seconds, and is stopped for twelve. Meanwhile B gets it.
//! let text = r#"
//! {"schema":"fencepost.history/1","nodes":["server","a","b"],"workers":[{"name":"A","node":1,"check":"before-write","retry":"never"},{"name":"B","node":2,"check":"before-write","retry":"never"}],"locks":[{"name":"lock","service":true,"ttl_ns":10000000000,"tokens":"with-grant"}],"resources":[]}
//! {"index":0,"time_ns":0,"type":"invoke","op":1,"worker":0,"f":"acquire","lock":0,"hold":1}
//! {"index":1,"time_ns":1000000,"type":"grant","server":0,"lock":0,"hold":1,"token":1,"ttl_ns":10000000000,"by_op":1,"by_hold":1}
//! {"index":2,"time_ns":2000000,"type":"ok","op":1,"worker":0,"f":"acquire","lock":0,"hold":1,"token":1,"deadline_ns":10000000000}
//! {"index":3,"time_ns":5000000,"type":"nemesis","f":"stop","node":1,"kind":"gc"}
//! {"index":4,"time_ns":10001000000,"type":"end","server":0,"lock":0,"hold":1,"cause":"expired"}
//! {"index":5,"time_ns":11000000000,"type":"invoke","op":2,"worker":1,"f":"acquire","lock":0,"hold":2}
//! {"index":6,"time_ns":11001000000,"type":"grant","server":0,"lock":0,"hold":2,"token":2,"ttl_ns":10000000000,"by_op":2,"by_hold":2}
//! {"index":7,"time_ns":11002000000,"type":"ok","op":2,"worker":1,"f":"acquire","lock":0,"hold":2,"token":2,"deadline_ns":21000000000}
//! {"index":8,"time_ns":12005000000,"type":"nemesis","f":"resume","node":1}
//! {"index":9,"time_ns":12006000000,"type":"check","worker":0,"lock":0,"hold":1,"passed":false}
//! {"index":10,"time_ns":12006000000,"type":"cease","worker":0,"lock":0,"hold":1,"reason":"deadline-passed"}
//! "#;
//! let (header, entries) = jsonl::read(text.trim_start().as_bytes())?;
//!
//! let analysis = analyse(&header, &entries);
//! assert_eq!(analysis.counts.double_holders, 1);
//! assert_eq!(analysis.counts.double_grants, 0);
//! assert_eq!(analysis.pairs, [(Hold(1), Hold(2))]);
//! assert_eq!(analysis.times.double_holder_ns, 1_004_000_000);
//! // The service kept its promises, and A checked before it would have written.
//! assert_eq!(analysis.blame.iter().collect::<Vec<_>>(), [Party::Holder]);
//! assert!(analysis.assumptions.contains(Assumption::BoundedPause));
//! # Ok::<(), jsonl::ReadError>(())
//! ```

mod acting;
pub mod analysis;
mod belief;
mod blame;
mod checker;
mod contract;
mod data;
mod digest;
mod faults;
pub mod finding;
mod findings;
mod grants;
pub mod history;
pub mod jsonl;
mod meter;
mod moment;
mod operations;
mod overlap;
mod owner;
mod round_trip;
mod tokens;
mod views;
mod waiting;

pub use analysis::Analysis;
pub use checker::{Checker, analyse};
pub use digest::{Digest, NotADigest, digest};
pub use finding::Finding;
