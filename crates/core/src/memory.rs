//! Memories and the messages they come from: the types of the Mem0 API.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool's call and result.
    Tool,
}

/// One message given to `add`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// The text, redacted.
    pub content: String,
    /// When it was said; absent on the wire of the Platform.
    #[serde(skip)]
    pub at: Option<Timestamp>,
    /// For [`Role::Tool`]: what ran. Only places that keep turns get these ([`Detail::Turns`]).
    #[serde(skip)]
    pub tool: Option<ToolOutcome>,
}

/// A tool call as a memory keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolOutcome {
    /// The host's name of the tool.
    pub name: String,
    /// The command, for shells.
    pub command: Option<String>,
    /// `test`, `build` or `shell`, for commands.
    pub command_kind: Option<String>,
    /// Whether it failed; `None` when nobody knows.
    pub failed: Option<bool>,
    /// Its result or error, bounded.
    pub output: String,
    /// The file it wrote, relative to the repository's root.
    pub path: Option<String>,
}

/// How much of a session a place for memories wants to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What was said, plus one evidence text (the Platform extracts from that).
    Conversation,
    /// Every turn with its tool calls (the embedded engine extracts by rules).
    Turns,
}

/// The entities a memory belongs to. An empty string never stands for "any".
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Entities {
    /// The person (personal lane).
    pub user_id: String,
    /// The project's shared namespace, `scope::Scope::project_id` (project lane).
    pub agent_id: String,
    /// The repository's slug.
    pub app_id: String,
    /// The session.
    pub run_id: Option<String>,
}

/// What a memory is about. Names are those of the Mem0 plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// What the project is and how it works.
    ProjectKnowledge,
    /// Why, and what must stay true.
    DecisionsAndConstraints,
    /// How to run, test, deploy, configure.
    Workflows,
    /// Failures, causes, remedies.
    ProblemsAndFixes,
    /// Outcomes and measurements.
    Results,
}

impl Category {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 5] =
        [Self::ProjectKnowledge, Self::DecisionsAndConstraints, Self::Workflows, Self::ProblemsAndFixes, Self::Results];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProjectKnowledge => "project_knowledge",
            Self::DecisionsAndConstraints => "decisions_and_constraints",
            Self::Workflows => "workflows",
            Self::ProblemsAndFixes => "problems_and_fixes",
            Self::Results => "results",
        }
    }

    /// Returns the category with this wire name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

/// Whom a durable memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Everyone who works on the project.
    Project,
    /// The person, whatever the project.
    Personal,
}

/// A stored memory, in the shape the Mem0 API gives it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Its id; empty when a server sent none.
    #[serde(default)]
    pub id: String,
    /// The text.
    #[serde(default)]
    pub memory: String,
    /// The person it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The shared namespace it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The repository's slug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Categories; `None` when not yet assigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// Free facts: `branch`, `dirs`, `git_sha`, `source`, `author`; ours add `kind` (`turn` or `durable`),
    /// `rule`, `confidence`, `lane`, `role`, `sources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When it was stored, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last changed, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// How well it matches; only in search results. No scale is promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}
