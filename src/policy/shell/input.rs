//! What commands read, where the line tells.

use super::{Argv, Word};

/// A here-document whose body is still to come.
pub(super) struct Heredoc {
    /// The number of the command that reads it.
    pub(super) reader: usize,
    pub(super) delimiter: String,
    pub(super) strip_tabs: bool,
    pub(super) quoted: bool,
}

/// What a command reads.
pub(super) enum Input {
    Text(Word),
    /// The output of the command of this number.
    Output(usize),
}

impl Heredoc {
    /// Returns what the command reads; expansions stand in it as they were written.
    pub(super) fn text(&self, body: &str) -> Word {
        let mut text = String::new();
        for line in body.split_inclusive('\n') {
            let line = if self.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            text.push_str(line);
        }
        let known = self.quoted || !text.contains(['$', '`']);
        if !self.quoted {
            text = text.replace("\\\n", "");
            for escaped in ["\\$", "\\`", "\\\\"] {
                text = text.replace(escaped, &escaped[1..]);
            }
        }
        Word {
            text,
            known,
            single: true,
        }
    }
}

/// Returns what a command prints, where its words tell.
fn output(argv: &Argv) -> Option<Word> {
    let words = argv.words.get(1..)?;
    let text = match argv.name()? {
        "cat" if words.is_empty() => return argv.stdin.clone(),
        "echo" => {
            let is_option = |word: &&Word| matches!(word.text.as_str(), "-n" | "-e" | "-E" | "-ne");
            let skipped = words.iter().take_while(is_option).count();
            joined(&words[skipped..], " ")
        }
        "printf" => match words {
            [format] if !format.text.contains('%') => format.text.replace("\\n", "\n"),
            [format, rest @ ..] if matches!(format.text.as_str(), "%s" | "%s\\n" | "%s\n") => {
                joined(rest, "\n")
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(Word {
        text,
        known: words.iter().all(|word| word.known),
        single: true,
    })
}

fn joined(words: &[Word], by: &str) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(by)
}

/// Tells each command in `found` what it reads; `numbers` are those of the commands.
pub(super) fn feed(found: &mut [Argv], numbers: &[usize], inputs: Vec<(usize, Input)>) {
    let place = |number| numbers.iter().position(|own| *own == number);
    let mut pipes = Vec::new();
    for (reader, input) in inputs {
        match input {
            Input::Text(text) => {
                if let Some(at) = place(reader) {
                    found[at].stdin = Some(text);
                }
            }
            Input::Output(writer) => pipes.push((reader, writer)),
        }
    }
    for (reader, writer) in pipes {
        if let Some((at, from)) = place(reader).zip(place(writer))
            && found[at].stdin.is_none()
        {
            found[at].stdin = output(&found[from]);
        }
    }
}
