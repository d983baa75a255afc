//! Lock services, their clients, resources and workloads.
//!
//! Where to look:
//! - a lock service and its client library: [`redis`], [`none`]; what they implement: [`lock`];
//! - what users of such a library do with it – renew, check, give up: [`session`];
//! - the protected resource: [`ledger`], and what it checks: [`fence`], one file a mode;
//! - what workers do, and what an overlap costs: [`workload`];
//! - what a run depends on, and how it is put together and run: [`config`], [`run`];
//! - what can be named in scenarios: [`catalogue`].

pub mod catalogue;
pub mod config;
pub mod downstream;
pub mod fence;
pub mod ledger;
pub mod lock;
pub mod none;
pub mod recorder;
pub mod redis;
pub mod rpc;
pub mod run;
pub mod session;
pub mod workload;
