//! Colour on terminals. Meaning is never carried by colour alone.

use anstyle::{AnsiColor, Style};

/// Whether to paint, and how each kind of text looks then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// Paints if `on`.
    pub fn new(on: bool) -> Self {
        Paint { on }
    }

    /// Harm that was done.
    pub fn harm(self, text: &str) -> String {
        self.apply(AnsiColor::Red.on_default().bold(), text)
    }

    /// What held.
    pub fn good(self, text: &str) -> String {
        self.apply(AnsiColor::Green.on_default(), text)
    }

    /// What neither held nor failed.
    pub fn doubt(self, text: &str) -> String {
        self.apply(AnsiColor::Yellow.on_default(), text)
    }

    /// Headings.
    pub fn strong(self, text: &str) -> String {
        self.apply(Style::new().bold(), text)
    }

    /// What can be skipped.
    pub fn faint(self, text: &str) -> String {
        self.apply(Style::new().dimmed(), text)
    }

    fn apply(self, style: Style, text: &str) -> String {
        if self.on && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
