use serde_json::{Value, json};

use crate::ui::{Exit, Format, Talk, Ui, printable};

/// What a hook answers.
///
/// Text for the user goes to stdout as JSON: the client shows nothing of the stderr of a hook that lets
/// pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Nothing,
    /// Members of the answer to the client.
    Json(Value),
    /// A line for whoever reads the client's log.
    Talk(String),
    /// The client must not go on; the text tells the agent why and what to do.
    Block(String),
}

impl Reply {
    /// Returns a message for the user.
    pub(crate) fn message(text: &str) -> Self {
        Self::Json(json!({"systemMessage": printable(text)}))
    }

    /// Returns the same answer with one more message for the user.
    pub(super) fn with_message(self, text: &str) -> Self {
        let text = printable(text);
        match self {
            Self::Nothing => Self::message(&text),
            Self::Json(mut answer) => {
                let joined = match answer["systemMessage"].as_str() {
                    Some(before) => format!("{before}\n{text}"),
                    None => text.into_owned(),
                };
                answer["systemMessage"] = joined.into();
                Self::Json(answer)
            }
            Self::Talk(said) => Self::Talk(format!("{said}\n{text}")),
            Self::Block(reason) => Self::Block(format!("{}\n{text}", reason.trim_end())),
        }
    }

    pub(super) fn give(self) -> Exit {
        let ui = Ui::new(Format::Text, Talk::Normal);
        let printed = match self {
            Self::Nothing => Ok(()),
            Self::Json(value) => ui.line(value),
            Self::Talk(text) => {
                ui.note(text);
                Ok(())
            }
            Self::Block(text) => {
                ui.note(text.trim_end());
                return Exit::Block;
            }
        };
        // Whoever does not want the answer goes on without it.
        let _ = printed.and_then(|()| ui.finish());
        Exit::Done
    }
}
