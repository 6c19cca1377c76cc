/// A colour of a part of a line; the text says the same without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
    Dim,
}

/// Puts colour on text, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colored,
}

impl Paint {
    /// Returns `text` in the colour.
    pub fn paint(self, color: Color, text: &str) -> String {
        let code = match (self, color) {
            (Self::Plain, _) => return text.to_owned(),
            (Self::Colored, Color::Red) => 31,
            (Self::Colored, Color::Green) => 32,
            (Self::Colored, Color::Yellow) => 33,
            (Self::Colored, Color::Cyan) => 36,
            (Self::Colored, Color::Bold) => 1,
            (Self::Colored, Color::Dim) => 2,
        };
        format!("\x1b[{code}m{text}\x1b[m")
    }
}
