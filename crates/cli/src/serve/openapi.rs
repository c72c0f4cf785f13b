//! The OpenAPI document, made from the table of routes.

use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route};

/// Statuses any operation may answer with, and what they mean.
const REFUSALS: [(&str, &str); 9] = [
    ("400", "The request cannot be meant; `detail` names the field."),
    ("401", "A token is needed, or this one is not known."),
    ("403", "This may not be asked from here or with this token."),
    ("404", "There is no such thing."),
    ("405", "This method is not offered here."),
    ("408", "The request did not arrive in time."),
    ("413", "The request is too large."),
    ("500", "The server failed."),
    ("503", "The store cannot be used now; try again."),
];

/// Returns the document.
pub(super) fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "mem0-code",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The Mem0 API over the embedded engine.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas(),
            "securitySchemes": {
                "token": { "type": "apiKey", "in": "header", "name": "Authorization",
                    "description": "`Token …`; needed where the server listens beyond loopback." },
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let in_path = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = in_path
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
        })
        .collect();
    parameters.extend(route.query.iter().map(|(name, kind, description)| {
        json!({ "name": name, "in": "query", "required": false, "description": description, "schema": parameter(name, kind) })
    }));
    let reference = |schema: &str| json!({ "$ref": format!("#/components/schemas/{schema}") });
    let content = |schema: &str| json!({ "application/json": { "schema": reference(schema) } });
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "Done.", "content": content(route.answer) }));
    if route.answer == "McpMessage" {
        responses.insert("202".to_owned(), json!({ "description": "Taken note of; there is no answer." }));
    }
    for (status, description) in REFUSALS {
        responses.insert(status.to_owned(), json!({ "description": description, "content": content("Error") }));
    }
    let mut out = json!({
        "operationId": route.id,
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(schema) = route.body {
        out["requestBody"] = json!({ "required": true, "content": content(schema) });
    }
    out
}

fn parameter(name: &str, kind: &str) -> Value {
    match name {
        "page" => json!({ "type": kind, "minimum": 1, "maximum": 1_000_000_000 }),
        "page_size" => json!({ "type": kind, "minimum": 1, "maximum": 1_000 }),
        _ if kind == "string" => json!({ "type": kind, "minLength": 1 }),
        _ => json!({ "type": kind }),
    }
}

fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let id = || json!({ "type": ["string", "null"], "minLength": 1, "maxLength": 255 });
    let switch = || json!({ "type": ["boolean", "null"] });
    let names = || json!({ "type": ["array", "null"], "items": { "type": "string" } });
    let facts = || json!({ "type": ["object", "null"], "additionalProperties": true });
    let list = |item: &str| json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{item}") } });
    let any_object = || json!({ "type": "object", "additionalProperties": true });
    let object = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties });
    let filters =
        || json!({ "type": "object", "additionalProperties": true, "description": "A filter in the Mem0 language." });
    json!({
        "Error": object(&["detail"], json!({ "detail": text() })),
        "Message": object(&["message"], json!({ "message": text() })),
        "Document": any_object(),
        "McpMessage": any_object(),
        "Health": object(&["status", "version"], json!({ "status": text(), "version": text() })),
        "Ping": object(&["status"], json!({
            "status": text(), "org_id": text(), "project_id": text(), "user_email": maybe("string"), "user_id": maybe("string"),
        })),
        "Memory": object(&["id", "memory"], json!({
            "id": text(), "memory": text(), "user_id": text(), "agent_id": text(), "app_id": text(), "run_id": text(),
            "categories": { "type": "array", "items": { "type": "string" } }, "metadata": any_object(),
            "created_at": { "type": "string", "format": "date-time" },
            "updated_at": { "type": "string", "format": "date-time" },
            "score": { "type": "number", "minimum": 0, "maximum": 1 },
        })),
        "Memories": list("Memory"),
        "Results": object(&["results"], json!({ "results": list("Memory") })),
        "Page": object(&["count", "next", "previous", "results"], json!({
            "count": { "type": "integer", "minimum": 0 }, "next": maybe("string"), "previous": maybe("string"),
            "results": list("Memory"),
        })),
        "New": object(&["id", "memory", "event"], json!({ "id": text(), "memory": text(), "event": text() })),
        "Added": object(&["event_id", "status", "results"], json!({
            "event_id": text(), "status": text(), "message": text(), "results": list("New"),
        })),
        "Event": object(&["id", "status", "results"], json!({
            "id": text(), "event_type": text(), "status": { "enum": ["PENDING", "SUCCEEDED", "FAILED"] }, "results": list("New"),
        })),
        "Change": object(&["id", "memory_id", "event", "created_at"], json!({
            "id": text(), "memory_id": text(), "event": text(), "old_memory": maybe("string"), "new_memory": maybe("string"),
            "created_at": { "type": "string", "format": "date-time" },
            "updated_at": { "type": "string", "format": "date-time" },
        })),
        "Changes": list("Change"),
        "Entity": object(&["id", "name", "type", "total_memories"], json!({
            "id": text(), "name": text(), "type": { "enum": ["user", "agent", "app", "run"] },
            "total_memories": { "type": "integer", "minimum": 0 }, "created_at": text(), "updated_at": text(),
        })),
        "Entities": object(&["count", "results"], json!({
            "count": { "type": "integer", "minimum": 0 }, "next": maybe("string"), "previous": maybe("string"),
            "results": list("Entity"),
        })),
        "Said": object(&["role", "content"], json!({
            "role": { "enum": ["user", "assistant", "system", "tool"] }, "content": text(), "name": text(),
        })),
        "AddRequest": object(&["messages"], json!({
            "messages": { "oneOf": [{ "type": "string" }, { "type": "array", "minItems": 1, "items": { "$ref": "#/components/schemas/Said" } }] },
            "user_id": id(), "agent_id": id(), "app_id": id(), "run_id": id(), "filters": filters(),
            "metadata": facts(), "infer": switch(), "timestamp": { "type": ["integer", "null"], "minimum": 0, "maximum": 32_503_680_000_u64 },
            "custom_categories": { "type": "array", "items": any_object() },
            "custom_instructions": text(), "agent_custom_instructions": text(),
        })),
        "SearchRequest": object(&["query"], json!({
            "query": { "type": "string", "minLength": 1, "maxLength": 20_000 }, "filters": filters(),
            "user_id": id(), "agent_id": id(), "app_id": id(), "run_id": id(),
            "top_k": { "type": ["integer", "null"], "minimum": 1, "maximum": 100 }, "threshold": { "type": ["number", "null"] },
            "categories": names(), "rerank": switch(),
        })),
        "ListRequest": object(&[], json!({
            "filters": filters(), "user_id": id(), "agent_id": id(), "app_id": id(), "run_id": id(),
            "categories": names(),
            "start_date": maybe("string"), "end_date": maybe("string"),
        })),
        "UpdateRequest": object(&[], json!({ "text": { "type": ["string", "null"], "minLength": 1 }, "metadata": facts() })),
        "BatchUpdate": object(&["memories"], json!({
            "memories": { "type": "array", "minItems": 1, "maxItems": 1_000, "items": object(&["memory_id"], json!({
                "memory_id": { "type": "string", "minLength": 1 }, "text": { "type": ["string", "null"], "minLength": 1 }, "metadata": facts(),
            })) },
        })),
        "BatchDelete": object(&["memories"], json!({
            "memories": { "type": "array", "minItems": 1, "maxItems": 1_000, "items": object(&["memory_id"], json!({
                "memory_id": { "type": "string", "minLength": 1 },
            })) },
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_every_route_and_every_schema_it_names() {
        let document = document();
        let mut n_operations = 0;
        for (path, methods) in document["paths"].as_object().expect("paths") {
            for (method, operation) in methods.as_object().expect("methods") {
                n_operations += 1;
                let (route, _) = super::super::routes::find(&method.to_uppercase(), &path.replace(['{', '}'], ""))
                    .expect("a route of the table");
                assert_eq!(operation["operationId"], route.id);
            }
        }
        assert_eq!(n_operations, ROUTES.len());
        let text = document.to_string();
        for reference in text.split("#/components/schemas/").skip(1) {
            let name = reference.split('"').next().expect("a name");
            assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
