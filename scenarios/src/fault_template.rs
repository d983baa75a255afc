//! Faults as a scenario file describes them: a schedule's faults, with ranges where it has numbers.

use fencepost_sim::fault::{Fault, PauseCause, Target, What, When};

use crate::quantity::Span;

/// A number of a fault, still to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// What to draw from.
    pub span: Span,
    /// The parameter that the span belongs to. Within one run a parameter has one value: all numbers that
    /// name it must be given the same one.
    pub parameter: Option<String>,
}

impl Number {
    /// A number with nothing to draw.
    pub const fn exactly(value: i64) -> Number {
        Number { span: Span::exactly(value), parameter: None }
    }
}

/// One `[[faults]]` of a scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultTemplate {
    /// What happens.
    pub what: WhatTemplate,
    /// To whom.
    pub target: Target,
    /// When it begins.
    pub when: WhenTemplate,
    /// How long it lasts, in nanoseconds; for ever if absent.
    pub lasts: Option<Number>,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhatTemplate {
    /// See [`What::Pause`].
    Pause {
        /// What people call it.
        cause: PauseCause,
    },
    /// See [`What::Kill`].
    Kill,
    /// See [`What::PowerOff`].
    PowerOff,
    /// See [`What::ClockStep`].
    ClockStep {
        /// By how much, in nanoseconds; negative is back.
        by: Number,
    },
    /// See [`What::ClockRate`].
    ClockRate {
        /// How much the wall clock gains, in parts per million.
        wall_ppm: Number,
        /// How much the monotonic clock gains, in parts per million.
        monotonic_ppm: Number,
    },
    /// See [`What::HoldMessage`].
    HoldMessage {
        /// To whom the message goes.
        to: Target,
    },
    /// See [`What::Cut`].
    Cut {
        /// The other node.
        to: Target,
        /// Whether the way back is cut too.
        both_ways: bool,
    },
    /// See [`What::Isolate`].
    Isolate,
}

/// When a fault begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhenTemplate {
    /// See [`When::Time`].
    Time(Number),
    /// See [`When::Point`].
    Point {
        /// Name of the point.
        name: String,
        /// Which passing, from 1.
        passing: Number,
    },
    /// See [`When::Event`].
    Event {
        /// Name of the event.
        name: String,
        /// Which occurrence, from 1.
        occurrence: Number,
        /// How long after it, in nanoseconds.
        after: Number,
    },
}

impl FaultTemplate {
    /// The fault of one run, with every number as `draw` has it.
    ///
    /// `draw` is asked in a fixed order: what, when, how long. It must answer within the number's span, and
    /// the same for all numbers that name the same parameter.
    pub fn drawn(&self, draw: &mut dyn FnMut(&Number) -> i64) -> Fault {
        let mut draw = |number: &Number| {
            let value = draw(number);
            assert!(number.span.contains(value), "{value} is outside of {:?}", number.span);
            value
        };
        let what = match &self.what {
            WhatTemplate::Pause { cause } => What::Pause { cause: *cause },
            WhatTemplate::Kill => What::Kill,
            WhatTemplate::PowerOff => What::PowerOff,
            WhatTemplate::ClockStep { by } => What::ClockStep { by_ns: draw(by) },
            WhatTemplate::ClockRate { wall_ppm, monotonic_ppm } => {
                What::ClockRate { wall_ppm: draw(wall_ppm), monotonic_ppm: draw(monotonic_ppm) }
            }
            WhatTemplate::HoldMessage { to } => What::HoldMessage { to: to.clone() },
            WhatTemplate::Cut { to, both_ways } => What::Cut { to: to.clone(), both_ways: *both_ways },
            WhatTemplate::Isolate => What::Isolate,
        };
        let when = match &self.when {
            WhenTemplate::Time(ns) => When::Time { ns: unsigned(draw(ns)) },
            WhenTemplate::Point { name, passing } => {
                When::Point { name: name.clone(), passing: unsigned(draw(passing)) }
            }
            WhenTemplate::Event { name, occurrence, after } => When::Event {
                name: name.clone(),
                occurrence: unsigned(draw(occurrence)),
                after_ns: unsigned(draw(after)),
            },
        };
        let lasts_ns = self.lasts.as_ref().map(|lasts| unsigned(draw(lasts)));
        Fault { what, target: self.target.clone(), when, lasts_ns }
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).expect("the reader lets no negative number through here")
}
