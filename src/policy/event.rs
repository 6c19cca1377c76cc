//! The events policies stand on, the actions they take, and which is possible where.

use std::fmt;

macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $variant_doc])* $variant,)*
        }

        impl $name {
            /// Every value, in the order of its rank.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the word that stands for it in a policy.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Returns what `word` stands for.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// Something that happened, or is about to.
    EventName {
        /// A session began.
        SessionStart = "session.start",
        /// The user sent a prompt.
        PromptSubmit = "prompt.submit",
        /// A tool is about to run.
        ToolCall = "tool.call",
        /// A tool ran.
        ToolResult = "tool.result",
        /// A tool failed.
        ToolError = "tool.error",
        /// A tool was not allowed to run.
        ToolDenied = "tool.denied",
        /// A file is about to be written, or was.
        FileWrite = "file.write",
        /// A file is gone.
        FileDelete = "file.delete",
        /// The agent wants to end its turn.
        TurnEnd = "turn.end",
        /// A session ended.
        SessionEnd = "session.end",
    }
}

words! {
    /// What a policy does when it matches.
    Action {
        /// Puts files back as they were.
        Restore = "restore",
        /// Refuses what is about to happen; what has happened is reported to the agent.
        Block = "block",
        /// Asks the user.
        Ask = "ask",
        /// Tells the user and the agent.
        Warn = "warn",
        /// Tells the agent.
        Context = "context",
        /// Keeps a record.
        Log = "log",
    }
}

words! {
    /// How far the answer to an event goes, least first.
    Level {
        Nothing = "none",
        Log = "log",
        Context = "context",
        Warn = "warn",
        Ask = "ask",
        Block = "block",
    }
}

impl EventName {
    /// Says whether the client lets a hook refuse at this event.
    pub fn can_block(self) -> bool {
        match self {
            Self::ToolCall
            | Self::ToolResult
            | Self::ToolError
            | Self::FileWrite
            | Self::FileDelete
            | Self::TurnEnd
            | Self::PromptSubmit => true,
            Self::ToolDenied | Self::SessionStart | Self::SessionEnd => false,
        }
    }

    /// Returns why `action` is not possible at this event; `None` when it is.
    pub fn refuses(self, action: Action) -> Option<&'static str> {
        let possible = match action {
            Action::Restore => {
                matches!(self, Self::ToolResult | Self::ToolError | Self::FileWrite)
            }
            Action::Block => self.can_block(),
            Action::Ask => matches!(self, Self::ToolCall | Self::FileWrite),
            Action::Context => !matches!(self, Self::ToolDenied | Self::SessionEnd),
            Action::Warn | Action::Log => true,
        };
        if possible {
            return None;
        }
        Some(match action {
            Action::Restore => "files are put back only after a tool ran",
            Action::Block => "the client lets nothing be refused there",
            Action::Ask => "the user is asked only before a tool runs",
            Action::Context => "the client passes nothing on from there",
            Action::Warn | Action::Log => "it is possible everywhere",
        })
    }
}

impl Action {
    /// Returns the level it raises the answer to; `None` for `restore`, which speaks only for itself.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Restore => None,
            Self::Block => Some(Level::Block),
            Self::Ask => Some(Level::Ask),
            Self::Warn => Some(Level::Warn),
            Self::Context => Some(Level::Context),
            Self::Log => Some(Level::Log),
        }
    }
}
