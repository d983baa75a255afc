//! What is said of each entry, one file a family.

mod client;
mod data;
mod fate;
mod fault;
mod lock;
mod service;
