//! Options among the words of a command, read the way programs read them.

use super::Word;

/// Which options of a program take a value, and from where.
#[derive(Clone, Copy, Debug, Default)]
pub struct Syntax {
    /// Letters whose value is the rest of the cluster or, at its end, the next word.
    pub letters: &'static str,
    /// Letters whose value, if any, is the rest of the cluster, and never the next word.
    pub glued: &'static str,
    /// Long options whose value is the next word where none follows a `=`.
    pub longs: &'static [&'static str],
}

/// Where a program stops looking for options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// At the first operand: what follows is another command.
    Stop,
    /// At `--` only.
    Permute,
}

/// An option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    pub text: &'a str,
    pub known: bool,
    /// Whether it is one word whatever it expands to.
    pub single: bool,
}

impl Value<'_> {
    pub fn word(self) -> Word {
        Word {
            text: self.text.to_owned(),
            known: self.known,
            single: self.single,
        }
    }
}

/// One option as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    Letter(char, Option<Value<'a>>),
    /// A long option's name as written, perhaps abbreviated.
    Long(&'a str, Option<Value<'a>>),
}

impl<'a> Given<'a> {
    /// Says whether it is `long`, an abbreviation of it, or `letter`.
    pub fn is(&self, long: &str, letter: Option<char>) -> bool {
        match *self {
            Self::Letter(given, _) => letter == Some(given),
            Self::Long(name, _) => !name.is_empty() && long.starts_with(name),
        }
    }

    pub fn value(&self) -> Option<Value<'a>> {
        match *self {
            Self::Letter(_, value) | Self::Long(_, value) => value,
        }
    }
}

/// The words of a command, told apart.
#[derive(Clone, Debug, Default)]
pub struct Arguments<'a> {
    pub options: Vec<Given<'a>>,
    pub operands: Vec<&'a Word>,
    /// How many operands stand before `--`, if it is given.
    pub dashes: Option<usize>,
    /// With [`Order::Stop`], the first operand and all that follows.
    pub rest: &'a [Word],
}

impl<'a> Arguments<'a> {
    /// Says whether an option is given: its long name, an abbreviation of it, or its letter.
    pub fn has(&self, long: &str, letter: Option<char>) -> bool {
        self.options.iter().any(|given| given.is(long, letter))
    }

    /// Returns the values given to an option.
    pub fn values(&self, long: &str, letter: Option<char>) -> impl Iterator<Item = Value<'a>> {
        let given = self.options.iter();
        given
            .filter(move |given| given.is(long, letter))
            .filter_map(Given::value)
    }
}

impl Syntax {
    /// Tells options and operands in `words` apart, which follow the name of the program.
    pub fn read<'a>(&self, words: &'a [Word], order: Order) -> Arguments<'a> {
        let mut found = Arguments::default();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                found.dashes = Some(found.operands.len());
                break;
            }
            let is_option = text.len() > 1 && text.starts_with('-');
            if !is_option && order == Order::Stop {
                break;
            }
            at += 1;
            if let Some(long) = text.strip_prefix("--") {
                at += self.long(long, (word, words.get(at)), &mut found);
            } else if is_option {
                at += self.cluster(word, words.get(at), &mut found);
            } else {
                found.operands.push(word);
            }
        }
        found.rest = words.get(at..).unwrap_or_default();
        found.operands.extend(found.rest);
        found
    }

    /// Reads a long option; returns how many of the words after it belong to it.
    fn long<'a>(
        &self,
        text: &'a str,
        (word, next): (&'a Word, Option<&'a Word>),
        found: &mut Arguments<'a>,
    ) -> usize {
        if let Some((name, value)) = text.split_once('=') {
            let value = part(word, value);
            found.options.push(Given::Long(name, Some(value)));
            return 0;
        }
        let is_valued = self.longs.iter().any(|long| long.starts_with(text));
        let value = next.filter(|_| is_valued);
        found.options.push(Given::Long(text, value.map(whole)));
        usize::from(value.is_some())
    }

    /// Reads a cluster of letters; returns how many of the words after it belong to it.
    fn cluster<'a>(
        &self,
        word: &'a Word,
        next: Option<&'a Word>,
        found: &mut Arguments<'a>,
    ) -> usize {
        for (at, letter) in word.text.char_indices().skip(1) {
            let rest = &word.text[at + letter.len_utf8()..];
            let is_valued = self.letters.contains(letter);
            if is_valued && rest.is_empty() {
                found.options.push(Given::Letter(letter, next.map(whole)));
                return usize::from(next.is_some());
            }
            if is_valued || self.glued.contains(letter) {
                let value = (!rest.is_empty()).then(|| part(word, rest));
                found.options.push(Given::Letter(letter, value));
                return 0;
            }
            if !letter.is_ascii_alphanumeric() {
                return 0;
            }
            found.options.push(Given::Letter(letter, None));
        }
        0
    }
}

fn whole(word: &Word) -> Value<'_> {
    part(word, &word.text)
}

fn part<'a>(word: &'a Word, text: &'a str) -> Value<'a> {
    Value {
        text,
        known: word.known,
        single: word.single,
    }
}

#[cfg(test)]
mod tests {
    use super::{Given, Order, Syntax};
    use crate::policy::shell::{Shell, commands};

    #[test]
    fn values_are_found_wherever_they_stand() {
        let syntax = Syntax {
            letters: "mu",
            glued: "i",
            longs: &["message"],
        };
        for (line, options, operands) in [
            ("x -vm a b", "v m=a", "b"),
            ("x -vma b", "v m=a", "b"),
            ("x -vib c", "v i=b", "c"),
            ("x -i c", "i", "c"),
            ("x --mess a --message=b c", "mess=a message=b", "c"),
            ("x a -v -- -m b", "v", "a -m b"),
            ("x - -m", "m", "-"),
            ("x -v$y -m \"$z\" b", "v m=$z", "b"),
        ] {
            let argv = &commands(Shell::Posix, line).unwrap()[0];
            let found = syntax.read(&argv.words[1..], Order::Permute);
            let shown: Vec<String> = found
                .options
                .iter()
                .map(|given| match given {
                    Given::Letter(name, None) => name.to_string(),
                    Given::Letter(name, Some(value)) => format!("{name}={}", value.text),
                    Given::Long(name, None) => (*name).to_owned(),
                    Given::Long(name, Some(value)) => format!("{name}={}", value.text),
                })
                .collect();
            let texts: Vec<&str> = found.operands.iter().map(|word| &*word.text).collect();
            assert_eq!(shown.join(" "), options, "{line}");
            assert_eq!(texts.join(" "), operands, "{line}");
        }
    }

    #[test]
    fn a_command_after_the_options_is_left_alone() {
        let syntax = Syntax {
            letters: "u",
            ..Syntax::default()
        };
        let argv = &commands(Shell::Posix, "x -nu bob git push -f").unwrap()[0];
        let found = syntax.read(&argv.words[1..], Order::Stop);
        assert_eq!(found.rest.len(), 3);
        assert_eq!(found.rest[0].text, "git");
    }
}
