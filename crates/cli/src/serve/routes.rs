//! What is offered: one table, from which requests are routed and the OpenAPI document is made.

use super::handlers::Failure;

/// One operation at one address.
#[derive(Debug)]
pub(super) struct Route {
    /// HTTP method.
    pub(super) method: &'static str,
    /// Path with `{name}` for parameters, ending with `/` as the SDKs write it; a request may leave that out.
    pub(super) path: &'static str,
    /// What is done.
    pub(super) operation: Operation,
    /// Name of the operation in the document; unique.
    pub(super) id: &'static str,
    /// One sentence.
    pub(super) summary: &'static str,
    /// Query parameters: name, schema type, what it is.
    pub(super) query: &'static [(&'static str, &'static str, &'static str)],
    /// Schema of the request's body, if it has one.
    pub(super) body: Option<&'static str>,
    /// Schema of the answer.
    pub(super) answer: &'static str,
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Says that the server lives.
    Health,
    /// Says whom the server takes the client for.
    Ping,
    /// The OpenAPI document.
    Document,
    /// Stores messages.
    Add,
    /// How far an add has come.
    Event,
    /// Looks for memories; the answer is an object.
    Search,
    /// The same, and the answer is a list, as the first version of the API had it.
    SearchList,
    /// Pages of memories, filter in the body.
    List,
    /// The same, filter in the query.
    ListByQuery,
    /// One memory.
    Get,
    /// Changes one memory.
    Update,
    /// Deletes one memory.
    Delete,
    /// Deletes what the query names.
    DeleteMatching,
    /// What happened to one memory.
    History,
    /// Changes several.
    UpdateMany,
    /// Deletes several.
    DeleteMany,
    /// Everybody and everything that memories belong to.
    Entities,
    /// Deletes the memories of one of them.
    DeleteEntity,
    /// A message of the Model Context Protocol.
    Mcp,
}

impl Operation {
    /// Whether it changes the memory.
    pub(super) fn is_write(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Update
                | Self::Delete
                | Self::DeleteMatching
                | Self::UpdateMany
                | Self::DeleteMany
                | Self::DeleteEntity
        )
    }
}

const PAGES: &[(&str, &str, &str)] =
    &[("page", "integer", "Page, from 1."), ("page_size", "integer", "Memories a page, 1 to 1,000.")];
const WHOM: &[(&str, &str, &str)] = &[
    ("user_id", "string", "A person."),
    ("agent_id", "string", "An agent, or a project's shared namespace."),
    ("app_id", "string", "An application, or a repository's slug."),
    ("run_id", "string", "A session."),
    ("filters", "string", "A filter in the Mem0 language, as JSON."),
];
const WHOM_AND_PAGES: &[(&str, &str, &str)] = &[WHOM[0], WHOM[1], WHOM[2], WHOM[3], WHOM[4], PAGES[0], PAGES[1]];

const fn route(
    method: &'static str,
    path: &'static str,
    operation: Operation,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static str>,
    answer: &'static str,
) -> Route {
    Route { method, path, operation, id, summary, query: &[], body, answer }
}

const fn with(route: Route, query: &'static [(&'static str, &'static str, &'static str)]) -> Route {
    Route { query, ..route }
}

/// Everything.
pub(super) const ROUTES: &[Route] = &[
    route("GET", "/health/", Operation::Health, "health", "Says that the server lives.", None, "Health"),
    route("GET", "/openapi.json", Operation::Document, "document", "This document.", None, "Document"),
    route("GET", "/v1/ping/", Operation::Ping, "ping", "Says whom the server takes the client for.", None, "Ping"),
    route("POST", "/v3/memories/add/", Operation::Add, "add", "Stores messages.", Some("AddRequest"), "Added"),
    route("POST", "/v1/memories/", Operation::Add, "addV1", "Stores messages.", Some("AddRequest"), "Added"),
    route("GET", "/v1/event/{id}/", Operation::Event, "event", "Says how far an add has come.", None, "Event"),
    route(
        "POST",
        "/v3/memories/search/",
        Operation::Search,
        "search",
        "Looks for memories.",
        Some("SearchRequest"),
        "Results",
    ),
    route(
        "POST",
        "/v2/memories/search/",
        Operation::Search,
        "searchV2",
        "Looks for memories.",
        Some("SearchRequest"),
        "Results",
    ),
    route(
        "POST",
        "/v1/memories/search/",
        Operation::SearchList,
        "searchV1",
        "Looks for memories.",
        Some("SearchRequest"),
        "Memories",
    ),
    with(
        route("POST", "/v3/memories/", Operation::List, "list", "Lists memories.", Some("ListRequest"), "Page"),
        PAGES,
    ),
    with(
        route("POST", "/v2/memories/", Operation::List, "listV2", "Lists memories.", Some("ListRequest"), "Page"),
        PAGES,
    ),
    with(
        route("GET", "/v1/memories/", Operation::ListByQuery, "listV1", "Lists memories.", None, "Page"),
        WHOM_AND_PAGES,
    ),
    with(
        route(
            "DELETE",
            "/v1/memories/",
            Operation::DeleteMatching,
            "deleteMatching",
            "Deletes the memories of whom the query names.",
            None,
            "Message",
        ),
        WHOM,
    ),
    route("GET", "/v1/memories/{id}/", Operation::Get, "get", "Shows a memory.", None, "Memory"),
    route(
        "PUT",
        "/v1/memories/{id}/",
        Operation::Update,
        "update",
        "Changes a memory's text or metadata.",
        Some("UpdateRequest"),
        "Memory",
    ),
    with(
        route("DELETE", "/v1/memories/{id}/", Operation::Delete, "delete", "Deletes a memory.", None, "Message"),
        &[("delete_linked", "boolean", "Also delete the memories this one replaced.")],
    ),
    route(
        "GET",
        "/v1/memories/{id}/history/",
        Operation::History,
        "history",
        "Says what happened to a memory.",
        None,
        "Changes",
    ),
    route(
        "PUT",
        "/v1/batch/",
        Operation::UpdateMany,
        "updateMany",
        "Changes up to 1,000 memories.",
        Some("BatchUpdate"),
        "Message",
    ),
    route(
        "DELETE",
        "/v1/batch/",
        Operation::DeleteMany,
        "deleteMany",
        "Deletes up to 1,000 memories.",
        Some("BatchDelete"),
        "Message",
    ),
    route("GET", "/v1/entities/", Operation::Entities, "entities", "Lists whom memories belong to.", None, "Entities"),
    route(
        "DELETE",
        "/v1/entities/{type}/{name}/",
        Operation::DeleteEntity,
        "deleteEntityV1",
        "Deletes the memories of one entity.",
        None,
        "Message",
    ),
    route(
        "DELETE",
        "/v2/entities/{type}/{name}/",
        Operation::DeleteEntity,
        "deleteEntity",
        "Deletes the memories of one entity.",
        None,
        "Message",
    ),
    with(
        route(
            "POST",
            "/mcp/",
            Operation::Mcp,
            "mcp",
            "Takes a message of the Model Context Protocol; on loopback only.",
            Some("McpMessage"),
            "McpMessage",
        ),
        &[("project", "string", "The folder whose memories are meant; the server's own when absent.")],
    ),
];

/// Finds what a method and a path ask for, and the path's parameters, decoded.
pub(super) fn find(method: &str, path: &str) -> Result<(&'static Route, Vec<String>), Failure> {
    let asked: Vec<&str> = path.strip_prefix('/').unwrap_or(path).trim_end_matches('/').split('/').collect();
    let mut allowed = Vec::new();
    // A path that is written out is meant, not one with a parameter in its place.
    let least = ROUTES.iter().filter_map(|route| matched(route.path, &asked)).map(|found| found.len()).min();
    for route in ROUTES {
        let Some(parameters) = matched(route.path, &asked).filter(|found| Some(found.len()) == least) else { continue };
        // HEAD is GET without the body, which the HTTP layer leaves out.
        if route.method == method || (method == "HEAD" && route.method == "GET") {
            let decoded: Option<Vec<String>> = parameters.into_iter().map(super::requests::decoded).collect();
            let decoded = decoded.ok_or_else(|| Failure::new(400, "the path is not text"))?;
            return Ok((route, decoded));
        }
        allowed.push(route.method);
    }
    if allowed.is_empty() {
        return Err(Failure::new(404, "there is nothing here; GET /openapi.json lists what there is"));
    }
    let mut failure = Failure::new(405, format!("{method} is not offered here"));
    failure.headers.push(("allow", allowed.join(", ")));
    Err(failure)
}

fn matched<'a>(pattern: &str, asked: &[&'a str]) -> Option<Vec<&'a str>> {
    let pattern: Vec<&str> = pattern.trim_matches('/').split('/').collect();
    if pattern.len() != asked.len() {
        return None;
    }
    let mut parameters = Vec::new();
    for (expected, given) in pattern.iter().zip(asked) {
        if expected.starts_with('{') && !given.is_empty() {
            parameters.push(*given);
        } else if expected != given {
            return None;
        }
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn paths_lead_where_they_say() {
        for (method, path, id, parameters) in [
            ("GET", "/v1/ping/", "ping", &[][..]),
            ("GET", "/v1/ping", "ping", &[]),
            ("HEAD", "/health", "health", &[]),
            ("POST", "/v3/memories/search/", "search", &[]),
            ("GET", "/v1/memories/a%2Fb/", "get", &["a/b"]),
            ("GET", "/v1/memories/x/history/", "history", &["x"]),
            ("DELETE", "/v2/entities/user/ada%20l/", "deleteEntity", &["user", "ada l"]),
        ] {
            let (route, found) = find(method, path).expect(path);
            assert_eq!((route.id, found), (id, parameters.iter().map(|text| (*text).to_owned()).collect()), "{path}");
        }
        for (method, path, status) in [
            ("GET", "/", 404),
            ("GET", "/v9/ping/", 404),
            ("GET", "/v1//ping/", 404),
            ("PATCH", "/v1/memories/x/", 405),
            ("GET", "/mcp", 405),
            ("GET", "/v1/memories/%ff/", 400),
        ] {
            assert_eq!(find(method, path).expect_err(path).status, status, "{method} {path}");
        }
        assert_eq!(find("GET", "/v1/memories/search/").expect_err("refused").headers[0].1, "POST");
        assert_eq!(find("TRACE", "/v1/memories/x/").expect_err("refused").headers[0].1, "GET, PUT, DELETE");
    }

    #[test]
    fn the_table_names_each_thing_once() {
        let ids: BTreeSet<&str> = ROUTES.iter().map(|route| route.id).collect();
        let places: BTreeSet<(&str, &str)> = ROUTES.iter().map(|route| (route.method, route.path)).collect();
        assert_eq!((ids.len(), places.len()), (ROUTES.len(), ROUTES.len()));
    }
}
