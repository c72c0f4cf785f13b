// The tools OpenCode's models know from the Mem0 plugin.

import type { PluginInput, ToolContext, ToolDefinition } from "@opencode-ai/plugin";
import * as z from "zod/mini";

import { HANDOFF_DESCRIPTION, handoffArguments, type Handoff, type SessionForm } from "../../common/src/handoff.ts";
import { isRecord } from "../../common/src/protocol.ts";
import { GUIDANCE, textArg, widened, wrong, type Place, type Reply, type Requests } from "../../common/src/requests.ts";

type Client = PluginInput["client"];
type Args = Record<string, unknown>;
type Act = (args: Args, place: Place, context: ToolContext) => Promise<Reply>;

/** The host reads a description off the schema object. */
const told = <T extends object>(schema: T, description: string): T => Object.assign(schema, { description });
const text = (description: string) => told(z.string(), description);
const maybeText = (description: string) => told(z.optional(z.string()), description);
const maybeNumber = (description: string) => told(z.optional(z.number()), description);
const maybeObject = (description: string) => told(z.optional(z.record(z.string(), z.unknown())), description);

const identity = {
  user_id: maybeText("Only this session's own user; leave it out"),
  app_id: maybeText("Only this session's own project; leave it out"),
  agent_id: maybeText("Only this session's own project; leave it out"),
};
const scope = told(z.optional(z.enum(["project", "session", "global"])), "Where to look; project when absent");

export function tools(requests: Requests, handoff: Handoff, client: Client): Record<string, ToolDefinition> {
  const define = (description: string, args: object, act: Act): ToolDefinition =>
    ({
      description,
      args,
      execute: async (given: Args, context: ToolContext) => {
        const place = { cwd: context.directory, sessionId: context.sessionID, signal: context.abort };
        const { user_id, app_id, agent_id } = given;
        const reply = (await widened(requests, { user_id, app_id, agent_id }, place)) ?? (await act(given, place, context));
        if (reply.isError) throw new Error(reply.text);
        return reply.text;
      },
    }) as unknown as ToolDefinition;

  return {
    search_memories: define(
      GUIDANCE,
      { query: text("One focused question"), ...identity, filters: maybeObject("Ignored unless empty"), limit: maybeNumber("Most results, 1 to 20"), top_k: maybeNumber("Most results, 1 to 20"), scope },
      async (args, place) => {
        const query = textArg(args, "query");
        if (!query) return wrong("search_memories needs a query.");
        if (isRecord(args["filters"]) && Object.keys(args["filters"]).length > 0) return wrong("Filters work with get_memories only.");
        return requests.search(query, place, { topK: args["top_k"] ?? args["limit"] ?? 10, scope: args["scope"], json: true });
      },
    ),
    add_memory: define(
      "Store one fact for later sessions of every agent. One sentence that will make sense months from now; no secrets.",
      { text: text("The fact"), ...identity, metadata: maybeObject("Ignored: where and when is known"), infer: told(z.optional(z.boolean()), "Ignored: the fact is stored as it is"), scope },
      async (args, place) => requests.add(textArg(args, "text") ?? "", place, { json: true }),
    ),
    get_memories: define(
      "List the memories of this project, newest first.",
      { ...identity, page: maybeNumber("From 1"), page_size: maybeNumber("1 to 1,000"), scope },
      async (args, place) => {
        if (args["scope"] === "global") return wrong("A tool cannot list beyond this project.");
        const filter = args["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true };
        return requests.list(place, { page: args["page"], pageSize: args["page_size"], json: true, ...filter });
      },
    ),
    get_memory: define("Show one memory.", { id: text("Its id") }, async (args, place) => requests.get(String(args["id"]), place, true)),
    update_memory: define(
      "Replace a memory's text; the old one stays in its history.",
      { id: text("Its id"), text: maybeText("The new text"), metadata: maybeObject("Ignored") },
      async (args, place) => {
        const newText = textArg(args, "text");
        return newText ? requests.update(String(args["id"]), newText, place, true) : wrong("update_memory needs a text.");
      },
    ),
    delete_memory: define("Delete one memory for good.", { id: text("Its id") }, async (args, place) => requests.remove([String(args["id"])], place)),
    delete_all_memories: define("Delete all memories of this project, after asking the user.", { ...identity, scope }, async (args, place, context) => {
      if (args["scope"] !== undefined && args["scope"] !== "project") return wrong("Only the whole project can be forgotten.");
      const preview = await requests.forgetPreview(place);
      if (preview.isError) return preview;
      await asked(context, "mem0_forget", preview.text);
      return requests.forget(place);
    }),
    delete_entities: define(
      "Delete everything stored for this project, or for one session, after asking the user.",
      { ...identity, run_id: maybeText("A session") },
      async (args, place, context) => {
        const run = textArg(args, "run_id");
        const preview = run ? await requests.list(place, { filter: { run_id: run }, pageSize: 1_000 }) : await requests.forgetPreview(place);
        if (preview.isError) return preview;
        await asked(context, "mem0_forget", preview.text);
        return run ? requests.removeRun(run, place) : requests.forget(place);
      },
    ),
    list_entities: define(
      "List the people, projects and sessions memories here are filed under.",
      { page: maybeNumber("Ignored: all are shown"), page_size: maybeNumber("Ignored: all are shown") },
      async (_args, place) => requests.entities(place),
    ),
    get_event_status: define("Show whether a stored fact can be found by now.", { event_id: text("The id add_memory gave") }, async (args, place) =>
      requests.event(String(args["event_id"]), place)),
    memory_status: define(
      "Show, pause or resume memory, or show or set how far a search reaches. Only when the user asks.",
      { action: told(z.enum(["status", "pause", "resume", "scope"]), "What to do"), value: maybeText("For scope: repo, dir or mine; empty shows it") },
      async (args, place) => {
        switch (args["action"]) {
          case "pause": return requests.pause(place);
          case "resume": return requests.resume(place);
          case "scope": return requests.searchScope(textArg(args, "value"), place);
          default: return requests.status(place);
        }
      },
    ),
    mem0_handoff: define(
      HANDOFF_DESCRIPTION,
      { action: told(z.optional(z.enum(["save", "list", "resume"])), "What to do; save when absent"), resource: maybeText("Path of a saved session, for resume") },
      async (args, place, context) => {
        const answer = await handoff.answer(handoffArguments(args), place, () => exported(client, context));
        return { text: answer.text, isError: !answer.ok };
      },
    ),
  };
}

/** Asks through the host's permission dialog; a refusal throws, which the model is told. */
async function asked(context: ToolContext, permission: string, preview: string): Promise<void> {
  await context.ask({ permission, patterns: [preview.slice(0, 2_000)], always: [], metadata: { preview } });
}

/** The session as the host keeps it, without the call that saves it. */
async function exported(client: Client, { sessionID }: ToolContext): Promise<SessionForm | string> {
  const path = { id: sessionID };
  const [session, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
  if (!session.data || !messages.data) return "the host did not give the session.";
  const own = messages.data.flatMap(({ parts }) => parts).findLast((part) => part.type === "tool" && part.tool === "mem0_handoff" && part.state.status === "running");
  return { export: { info: session.data, messages: messages.data, ...(own && "callID" in own ? { exclude: own.callID } : {}) } };
}
