//! Names with their meanings, in columns.

use crate::paint::Paint;

/// Named things under headings.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    groups: Vec<(String, Vec<Item>)>,
}

/// A name and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    name: String,
    meaning: String,
}

impl Item {
    /// A name and what it means, in one line.
    pub fn new(name: impl Into<String>, meaning: impl Into<String>) -> Self {
        Item { name: name.into(), meaning: meaning.into() }
    }
}

impl Listing {
    /// Adds a group.
    pub fn add(&mut self, heading: &str, items: Vec<Item>) {
        self.groups.push((heading.to_owned(), items));
    }

    /// The text, for a screen of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        let paint = Paint::new(colour);
        let longest = self.groups.iter().flat_map(|(_, items)| items).map(|item| item.name.chars().count());
        let column = longest.max().unwrap_or(0) + 2;
        let mut parts = Vec::new();
        for (heading, items) in &self.groups {
            let mut part = paint.strong(heading) + "\n";
            for Item { name, meaning } in items {
                let first = format!("  {name:column$}");
                let rest = " ".repeat(column + 2);
                let options = textwrap::Options::new(width.max(column + 22));
                let options = options.initial_indent(&first).subsequent_indent(&rest);
                part += &textwrap::fill(meaning, options);
                part.push('\n');
            }
            parts.push(part);
        }
        parts.join("\n")
    }
}
