//! The parts of a line: fields of one JSON object, appended to a text.

/// A line that is being written.
pub(super) struct Line<'a> {
    text: &'a mut Vec<u8>,
    digits: itoa::Buffer,
    /// Whether the next field is the first one of its object.
    is_first: bool,
}

/// What a field can be.
pub(super) trait Field {
    /// Appends the value.
    fn write(self, line: &mut Line<'_>);
}

impl<'a> Line<'a> {
    /// Begins a line.
    pub(super) fn begin(text: &'a mut Vec<u8>) -> Self {
        text.push(b'{');
        Line { text, digits: itoa::Buffer::new(), is_first: true }
    }

    /// Ends the line.
    pub(super) fn end(self) {
        self.text.extend_from_slice(b"}\n");
    }

    /// Appends a field. Names are ours, and need no escapes.
    pub(super) fn field(&mut self, name: &'static str, value: impl Field) {
        self.name(name);
        value.write(self);
    }

    /// Appends a field if there is a value.
    pub(super) fn optional(&mut self, name: &'static str, value: Option<impl Field>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Appends a field that is an object.
    pub(super) fn object(&mut self, name: &'static str, fields: impl FnOnce(&mut Self)) {
        self.name(name);
        self.text.push(b'{');
        self.is_first = true;
        fields(self);
        self.text.push(b'}');
        self.is_first = false;
    }

    /// Appends a field that is a list of numbers.
    pub(super) fn list(&mut self, name: &'static str, numbers: impl Iterator<Item = u64>) {
        self.name(name);
        self.text.push(b'[');
        for (position, number) in numbers.enumerate() {
            if position > 0 {
                self.text.push(b',');
            }
            number.write(self);
        }
        self.text.push(b']');
    }

    fn name(&mut self, name: &'static str) {
        self.text.extend_from_slice(if self.is_first { b"\"" } else { b",\"" });
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        self.is_first = false;
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Field for $integer {
            fn write(self, line: &mut Line<'_>) {
                line.text.extend_from_slice(line.digits.format(self).as_bytes());
            }
        }
    )*};
}

integers!(u32, u64, i64);

impl Field for bool {
    fn write(self, line: &mut Line<'_>) {
        line.text.extend_from_slice(if self { b"true" } else { b"false" });
    }
}

/// A word of ours, which needs no escapes.
impl Field for &'static str {
    fn write(self, line: &mut Line<'_>) {
        line.text.push(b'"');
        line.text.extend_from_slice(self.as_bytes());
        line.text.push(b'"');
    }
}

/// Somebody else's text, with what escapes it takes.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Field for Text<'_> {
    fn write(self, line: &mut Line<'_>) {
        // Memory takes every byte, and every text has a form in JSON.
        let written = serde_json::to_writer(&mut *line.text, self.0);
        assert!(written.is_ok(), "a text can always be written: {written:?}");
    }
}
