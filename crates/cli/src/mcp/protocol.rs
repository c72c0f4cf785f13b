//! JSON-RPC and MCP for one connection: from a line to what to do, without doing it.
//!
//! Two eras at once. Up to 2025-11-25 a client opens with `initialize`; from 2026-07-28 on it names the version
//! in the metadata of each request, and results say more. The metadata of a request decides, so a client may
//! probe with one era and go on in the other. Nothing is refused for coming before `initialize`.

use std::path::PathBuf;

use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, DiscoverResult, ErrorCode, ErrorData, Implementation, InitializeResult,
    ListToolsResult, ProtocolVersion, ServerCapabilities,
};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value, json};

use super::{Options, Reply, SEARCH_GUIDANCE, tools};

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// How long a client may keep the tool list and the server's description: they change with the program only.
const TTL_MS: u64 = 3_600_000;

/// A request's id, echoed as it came: a string or a number.
pub(super) type RequestId = Value;

/// The shape of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Revisions with a handshake.
    Legacy,
    /// From 2026-07-28 on: results say that they are complete and how long they hold.
    Modern,
}

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Nothing: a notification, an answer, or an empty line.
    Nothing,
    /// Send this.
    Reply(Value),
    /// Run this, then send [`call_result`].
    Call {
        /// Of the request.
        id: RequestId,
        /// Of the result.
        shape: Shape,
        /// What to run.
        call: tools::Call,
    },
    /// Take back the call with this id.
    Cancel(RequestId),
}

/// One connection's protocol. Holds no state that a message could change.
pub(super) struct Protocol {
    options: Options,
}

impl Protocol {
    pub(super) fn new(options: Options) -> Self {
        Self { options }
    }

    /// Returns what a line asks for. Answers every request, whatever is in it.
    pub(super) fn receive(&self, line: &[u8]) -> Action {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Action::Nothing;
        }
        let message = match serde_json::from_slice::<Value>(line) {
            Ok(Value::Object(message)) => message,
            Ok(Value::Array(_)) => {
                return error(Value::Null, ErrorData::invalid_request("batches are not supported", None));
            }
            Ok(_) => return Action::Nothing,
            Err(reason) => return error(Value::Null, ErrorData::parse_error(format!("not JSON: {reason}"), None)),
        };
        let method = message.get("method");
        let id = match message.get("id") {
            Some(id) if id.is_string() || id.is_number() => id.clone(),
            None => return method.and_then(Value::as_str).map_or(Action::Nothing, |name| notification(name, &message)),
            Some(_) if method.is_none() => return Action::Nothing,
            Some(_) => {
                return error(Value::Null, ErrorData::invalid_request("the id must be a string or a number", None));
            }
        };
        match method {
            Some(Value::String(method)) => match self.request(&id, method, &message, line) {
                Ok(action) => action,
                Err(reason) => error(id, reason),
            },
            // The answer to a request, which this server never makes.
            None if message.contains_key("result") || message.contains_key("error") => Action::Nothing,
            _ => error(id, ErrorData::invalid_request("the method must be a string", None)),
        }
    }

    fn request(
        &self,
        id: &Value,
        method: &str,
        message: &Map<String, Value>,
        line: &[u8],
    ) -> Result<Action, ErrorData> {
        let empty = Map::new();
        let params = match message.get("params") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(params)) => params,
            Some(_) => return Err(ErrorData::invalid_params("the params must be an object", None)),
        };
        let version = version(params)?;
        let modern = version.as_ref().is_some_and(|version| !version.has_initialize());
        let shape = if modern { Shape::Modern } else { Shape::Legacy };
        match method {
            "initialize" => reply(id, &self.initialize(params)),
            "server/discover" if version.is_none() => {
                Err(ErrorData::invalid_params(format!("the params need _meta with `{META_VERSION}`"), None))
            }
            "server/discover" => reply(id, &self.discover()),
            "ping" => Ok(Action::Reply(json!({"jsonrpc": "2.0", "id": id, "result": {}}))),
            "tools/list" => reply(id, &tool_list(shape)),
            "tools/call" => self.call(id, shape, params, line),
            _ => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("unknown method `{}`", method.chars().take(80).collect::<String>()),
                None,
            )),
        }
    }

    fn initialize(&self, params: &Map<String, Value>) -> InitializeResult {
        let wanted = params.get("protocolVersion").map_or(Some("2024-11-05"), Value::as_str);
        let version = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .find(|version| version.has_initialize() && wanted == Some(version.as_str()))
            .unwrap_or(&ProtocolVersion::LATEST_WITH_INITIALIZE);
        InitializeResult::new(capabilities())
            .with_protocol_version(version.clone())
            .with_server_info(self.implementation())
            .with_instructions(SEARCH_GUIDANCE)
    }

    fn discover(&self) -> DiscoverResult {
        let mut result = DiscoverResult::new(ProtocolVersion::KNOWN_VERSIONS.to_vec(), capabilities())
            .with_server_info(self.implementation());
        result.instructions = Some(SEARCH_GUIDANCE.to_owned());
        result.ttl_ms = TTL_MS;
        result.cache_scope = CacheScope::Public;
        result
    }

    fn implementation(&self) -> Implementation {
        Implementation::new("mem0", &self.options.version)
    }

    fn call(&self, id: &Value, shape: Shape, params: &Map<String, Value>, line: &[u8]) -> Result<Action, ErrorData> {
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params("the params need the name of a tool", None));
        };
        let refuse = |reason| Ok(Action::Reply(call_result(id.clone(), shape, Err(reason))));
        let Some(tool) = tools::find(name) else {
            let name: String = name.chars().take(80).collect();
            return refuse(format!("There is no tool `{name}` here."));
        };
        let empty = Map::new();
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return refuse("The arguments must be an object.".to_owned()),
        };
        let project = workspace(line).or_else(|| self.options.default_project.clone());
        match (tool.parse)(arguments, project) {
            Ok(call) => Ok(Action::Call { id: id.clone(), shape, call }),
            Err(reason) => refuse(reason),
        }
    }
}

/// Returns the answer to a call of a tool.
pub(super) fn call_result(id: RequestId, shape: Shape, result: Result<Reply, String>) -> Value {
    let is_error = result.is_err();
    let reply = result.unwrap_or_else(Reply::from);
    let mut content = vec![ContentBlock::text(reply.text)];
    content.extend(reply.images.into_iter().map(|(data, media_type)| ContentBlock::image(data, media_type)));
    let mut result = CallToolResult::success(content);
    result.is_error = Some(is_error);
    if shape == Shape::Legacy {
        result.result_type = None;
    }
    success(&id, &result)
}

/// Returns the answer to a message that was too long to be read.
pub(super) fn oversized(limit_bytes: usize) -> Action {
    error(Value::Null, ErrorData::parse_error(format!("a message has more than {limit_bytes} bytes"), None))
}

fn notification(method: &str, message: &Map<String, Value>) -> Action {
    match (method, message.get("params").and_then(|params| params.get("requestId"))) {
        ("notifications/cancelled", Some(id)) => Action::Cancel(id.clone()),
        _ => Action::Nothing,
    }
}

/// Returns the version that the metadata of a request names, when it is one we speak.
fn version(params: &Map<String, Value>) -> Result<Option<ProtocolVersion>, ErrorData> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let Some(wanted) = meta.and_then(|meta| meta.get(META_VERSION)) else { return Ok(None) };
    let Some(wanted) = wanted.as_str() else {
        return Err(ErrorData::invalid_params(format!("`{META_VERSION}` must be a string"), None));
    };
    let Some(version) = ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str() == wanted) else {
        let data = json!({"requested": wanted, "supported": ProtocolVersion::KNOWN_VERSIONS});
        return Err(ErrorData::new(
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            "unsupported protocol version",
            Some(data),
        ));
    };
    let has_capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object);
    if !version.has_initialize() && !has_capabilities {
        return Err(ErrorData::invalid_params(format!("_meta needs the object `{META_CAPABILITIES}`"), None));
    }
    Ok(Some(version.clone()))
}

fn tool_list(shape: Shape) -> ListToolsResult {
    let mut list = ListToolsResult::with_all_items(tools::list());
    match shape {
        Shape::Legacy => list.result_type = None,
        Shape::Modern => {
            list.ttl_ms = Some(TTL_MS);
            list.cache_scope = Some(CacheScope::Public);
        }
    }
    list
}

fn capabilities() -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::builder().enable_tools().build();
    if let Some(tools) = &mut capabilities.tools {
        tools.list_changed = Some(false);
    }
    capabilities
}

fn reply(id: &Value, result: &impl serde::Serialize) -> Result<Action, ErrorData> {
    Ok(Action::Reply(success(id, result)))
}

fn success(id: &Value, result: &impl serde::Serialize) -> Value {
    match serde_json::to_value(result) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(reason) => {
            json!({"jsonrpc": "2.0", "id": id, "error": ErrorData::internal_error(reason.to_string(), None)})
        }
    }
}

fn error(id: Value, error: ErrorData) -> Action {
    Action::Reply(json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// Returns the first workspace in a request's metadata, the only way to know where a caller works whose
/// servers start in a folder of the host's own.
fn workspace(line: &[u8]) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Request {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        #[serde(rename = "x-codex-turn-metadata")]
        turn: Turn,
    }
    #[derive(Deserialize)]
    struct Turn {
        workspaces: FirstKey,
    }
    let request: Request = serde_json::from_slice(line).ok()?;
    request.params.meta.turn.workspaces.0.filter(|path| !path.trim().is_empty()).map(PathBuf::from)
}

/// The first key of an object as written. `serde_json::Map` sorts its keys and could not tell.
struct FirstKey(Option<String>);

impl<'de> Deserialize<'de> for FirstKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = FirstKey;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<FirstKey, A::Error> {
                let mut first = None;
                while let Some((key, de::IgnoredAny)) = map.next_entry::<String, _>()? {
                    first = first.or(Some(key));
                }
                Ok(FirstKey(first))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
