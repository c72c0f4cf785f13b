//! Why a session is not handed over. Nothing is cut, guessed or left out to make it fit: it is refused, with a kind
//! that stays the same and a message that quotes nothing of the conversation.

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Which rule.
    pub kind: Kind,
    /// For people: record ids, kinds, paths and what to do next, never text of the conversation.
    pub message: String,
}

impl Refusal {
    /// Makes a refusal.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal,)+) => {
        /// The rule that was broken. The names are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

kinds! {
    SourceNotFound = "source_not_found",
    AmbiguousSession = "ambiguous_session",
    SourceChanged = "source_changed",
    TornLastRecord = "torn_last_record",
    EmptySource = "empty_source",
    InvalidJson = "invalid_json",
    RecordNotObject = "record_not_object",
    TooLarge = "too_large",
    NoConversation = "no_conversation",
    MissingParent = "missing_parent",
    ParentCycle = "parent_cycle",
    DuplicateRecordId = "duplicate_record_id",
    UnsupportedRecord = "unsupported_record",
    UnsupportedContent = "unsupported_content",
    UnavailableImage = "unavailable_image",
    InvalidImage = "invalid_image",
    InvalidToolCall = "invalid_tool_call",
    DuplicateToolCall = "duplicate_tool_call",
    DuplicateToolResult = "duplicate_tool_result",
    UnmatchedToolResult = "unmatched_tool_result",
    MissingToolResult = "missing_tool_result",
    UnfinishedTurn = "unfinished_turn",
    HandoffAlreadyCompleted = "handoff_already_completed",
    OpaqueCompaction = "opaque_compaction",
    NeedsNativeExport = "needs_native_export",
    TruncatedContent = "truncated_content",
    NoItems = "no_items",
    NoUserMessage = "no_user_message",
    MissingCwd = "missing_cwd",
    CwdNotFound = "cwd_not_found",
    UnsupportedFormat = "unsupported_format",
    InvalidBundle = "invalid_bundle",
    IntegrityMismatch = "integrity_mismatch",
    ResourceNotFound = "resource_not_found",
    Io = "io_error",
}
