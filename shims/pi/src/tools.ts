// The tool Pi's models know from the Mem0 extension.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { GUIDANCE, textArg, wrong, type Place, type Reply, type Requests } from "../../common/src/requests.ts";

/** A tool's parameters; plain JSON Schema is what the host makes of them. */
export type Schema = Parameters<ExtensionAPI["registerTool"]>[0]["parameters"];

const ACTIONS = ["search", "add", "get_all", "update", "delete", "delete_all"] as const;

export function registerTools(pi: ExtensionAPI, requests: Requests): void {
  pi.registerTool({
    name: "mem0_memory",
    label: "Memory",
    description: GUIDANCE,
    promptSnippet: "Search and store memories of earlier sessions",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS], description: "What to do" },
        query: { type: "string", description: "The question, for search" },
        content: { type: "string", description: "The fact to store, for add; the new text, for update" },
        memory_id: { type: "string", description: "The memory, for update and delete" },
        scope: { type: "string", enum: ["project", "session", "global"], description: "Where to look, for search and get_all" },
      },
      required: ["action"],
    } as unknown as Schema,
    async execute(_id, params, signal, _onUpdate, ctx) {
      const place = { ...placeOf(ctx), signal };
      const reply = await act(requests, params as Record<string, unknown>, place, ctx);
      if (reply.isError) throw new Error(reply.text);
      return { content: [{ type: "text", text: reply.text }], details: undefined };
    },
  });
}

export function placeOf(ctx: ExtensionContext): Place {
  return { cwd: ctx.cwd, sessionId: ctx.sessionManager.getSessionId() };
}

async function act(requests: Requests, params: Record<string, unknown>, place: Place, ctx: ExtensionContext): Promise<Reply> {
  const id = textArg(params, "memory_id");
  const content = textArg(params, "content");
  const query = textArg(params, "query");
  switch (params["action"]) {
    case "search":
      return query ? requests.search(query, place, { scope: params["scope"] }) : wrong("search needs a query.");
    case "add":
      return content ? requests.add(content, place) : wrong("add needs content.");
    case "get_all":
      if (params["scope"] === "global") return wrong("A tool cannot list beyond this project.");
      return requests.list(place, params["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true });
    case "update":
      return id && content ? requests.update(id, content, place) : wrong("update needs memory_id and content.");
    case "delete":
      return id ? requests.remove([id], place) : wrong("delete needs memory_id.");
    case "delete_all":
      return forgetAll(requests, place, ctx);
    default:
      return wrong(`There is no action ${JSON.stringify(params["action"])}; there are ${ACTIONS.join(", ")}.`);
  }
}

/** Deletes what is stored about this repository, once the person has seen what and agreed. */
export async function forgetAll(requests: Requests, place: Place, ctx: ExtensionContext): Promise<Reply> {
  if (!ctx.hasUI) return wrong("Deleting needs a person to agree, and there is nobody to ask in this mode.");
  const preview = await requests.forgetPreview(place);
  if (preview.isError) return preview;
  if (!(await ctx.ui.confirm("Forget this repository?", preview.text))) return { text: "Nothing was deleted.", isError: false };
  return requests.forget(place);
}
