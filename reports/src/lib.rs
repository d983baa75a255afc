//! Tables, narration and other views of what a scenario found.

pub mod listing;
pub mod narration;
pub mod numbers;
pub mod paint;
pub mod suite;
pub mod summary;

mod rows;
