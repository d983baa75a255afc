//! Hand-written histories with what a right checker must say of them.

mod brute_force;
mod contract;
mod counts;
mod formats;
mod memory;
mod rules;
mod servers;
mod story;
