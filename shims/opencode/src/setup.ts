// OpenCode 2.x. Its types are not published, so every call is tried before it is relied on, and what is missing is left out.

import { Memory } from "../../common/src/memory.ts";
import { isRecord, messagesOf, numberOf, outputOf, type Payload } from "../../common/src/protocol.ts";
import { GUIDANCE, Requests, textArg, wrong, type Place, type Reply } from "../../common/src/requests.ts";
import { Handoff, HANDOFF_DESCRIPTION, handoffArguments } from "../../common/src/handoff.ts";
import { Sessions } from "./sessions.ts";

type Fields = Record<string, unknown>;
type Call = (...args: unknown[]) => unknown;

/** Most sessions whose recalled block is kept. */
const MAX_BLOCKS = 500;

export async function setup(ctx: unknown): Promise<() => Promise<void>> {
  const host = new HostContext(ctx);
  const options = host.fields("options");
  const memory = new Memory({ host: "opencode", from: import.meta.url, binary: textArg(options, "binary") });
  const sessions = new Sessions();
  const blocks = new Map<string, string>();
  const directory = textArg(host.fields("location"), "directory") ?? process.cwd();
  const about = (id: string): Payload => ({ session_id: id, cwd: directory });
  const stop = new AbortController();

  await host.call("session", "hook", "prompt", guarded(async (event) => {
    const id = textArg(event, "sessionID");
    const prompt = isRecord(event["prompt"]) ? textArg(event["prompt"], "text") : undefined;
    if (!id || !prompt || (await host.isChild(id, sessions))) return;
    sessions.say(id, "user", prompt);
    const context = await memory.tell("prompt", { ...about(id), prompt });
    if (sessions.began(id)) void memory.tell("session-start", { ...about(id), reason: "startup" });
    if (context) keep(blocks, id, context);
    // A session continued by another process: what it was shown is asked for, since the host did not store it.
    else if (!blocks.has(id)) keep(blocks, id, await memory.tell("reminder", about(id)));
  }));
  // Before every model call, so the block is given again with the same bytes.
  await host.call("session", "hook", "context", guarded(async (event) => {
    const block = blocks.get(textArg(event, "sessionID") ?? "");
    if (block && Array.isArray(event["system"])) event["system"].push({ type: "text", text: block });
  }));
  await host.call("session", "hook", "compaction", guarded(async (event) => {
    const id = textArg(event, "sessionID");
    if (id && !sessions.of(id).isChild) await memory.tell("pre-compact", about(id));
  }));
  await host.call("tool", "hook", "execute.after", guarded(async (event) => {
    const id = textArg(event, "sessionID");
    const name = textArg(event, "tool");
    if (!id || !name || sessions.of(id).isChild) return;
    const result = isRecord(event["result"]) ? event["result"] : {};
    const metadata = isRecord(result["metadata"]) ? result["metadata"] : {};
    void memory.tell("tool", {
      ...about(id),
      tool: {
        name, input: event["input"], output: outputOf(result["output"] ?? result["content"] ?? event["error"]),
        exit_code: numberOf(metadata["exit"]), failed: event["status"] === "error" ? true : undefined,
      },
    });
  }));
  await registerTools(host, new Requests(memory), new Handoff(memory, "opencode"), directory);
  void listen(host, memory, sessions, about, stop.signal);

  return async () => {
    stop.abort();
    await memory.settled();
    await Promise.all(sessions.main().map((id) => memory.tell("session-end", about(id))));
  };
}

async function listen(host: HostContext, memory: Memory, sessions: Sessions, about: (id: string) => Payload, signal: AbortSignal): Promise<void> {
  try {
    const events = (await host.call("event", "subscribe", { signal })) as AsyncIterable<unknown> | undefined;
    if (!events || typeof events[Symbol.asyncIterator] !== "function") return;
    for await (const event of events) {
      if (!isRecord(event) || typeof event["type"] !== "string" || !isRecord(event["data"])) continue;
      const id = textArg(event["data"], "sessionID");
      if (!id) continue;
      switch (event["type"]) {
        case "session.created":
          sessions.of(id).isNew = true;
          break;
        case "session.text.ended": sessions.say(id, "assistant", textArg(event["data"], "text") ?? ""); break;
        case "session.compaction.started": sessions.of(id).isCompacting = true; break;
        case "session.compaction.ended": case "session.compaction.failed": sessions.of(id).isCompacting = false; break;
        case "session.execution.failed": case "session.execution.interrupted": sessions.endTurn(id); break;
        case "session.execution.succeeded":
          if (!sessions.of(id).isChild) void memory.tell("turn-end", { ...about(id), ...sessions.endTurn(id) });
          break;
        case "session.deleted":
          if (!sessions.of(id).isChild) void memory.tell("session-end", about(id));
          sessions.forget(id);
          break;
      }
    }
  } catch {
    // The stream ended with the host.
  }
}

async function registerTools(host: HostContext, requests: Requests, handoff: Handoff, directory: string): Promise<void> {
  const define = (name: string, description: string, properties: Fields, required: string[], act: (args: Fields, place: Place) => Promise<Reply>) => ({
    name, description, input: { type: "object", properties, required }, options: { codemode: false },
    execute: async (args: unknown, context: unknown) => {
      const sessionId = isRecord(context) ? textArg(context, "sessionID") : undefined;
      const reply = await act(isRecord(args) ? args : {}, { cwd: directory, sessionId });
      if (reply.isError) throw new Error(reply.text);
      return { content: [{ type: "text", text: reply.text }] };
    },
  });
  const string = { type: "string" };
  const tools = [
    define("search_memories", GUIDANCE, { query: string, top_k: { type: "number" }, scope: string }, ["query"], async (args, place) =>
      requests.search(textArg(args, "query") ?? "", place, { topK: args["top_k"] ?? 10, scope: args["scope"], json: true })),
    define("add_memory", "Store one fact for later sessions of every agent.", { text: string }, ["text"], async (args, place) =>
      requests.add(textArg(args, "text") ?? "", place, { json: true })),
    define("get_memories", "List the memories of this project.", { page: { type: "number" } }, [], async (args, place) =>
      requests.list(place, { page: args["page"], json: true, durable: true })),
    define("update_memory", "Replace a memory's text.", { id: string, text: string }, ["id", "text"], async (args, place) =>
      requests.update(textArg(args, "id") ?? "", textArg(args, "text") ?? "", place, true)),
    define("delete_memory", "Delete one memory for good.", { id: string }, ["id"], async (args, place) => {
      const id = textArg(args, "id");
      return id ? requests.remove([id], place) : wrong("delete_memory needs an id.");
    }),
    define("mem0_handoff", HANDOFF_DESCRIPTION, { action: string, resource: string }, [], async (args, place) => {
      const answer = await handoff.answer(handoffArguments(args), place, async () => host.session(place.sessionId, directory));
      return { text: answer.text, isError: !answer.ok };
    }),
  ];
  await host.call("tool", "transform", (editor: unknown) => {
    const add = isRecord(editor) ? editor["add"] : undefined;
    if (typeof add === "function") for (const tool of tools) (add as Call).call(editor, tool);
  });
}

/** The host's context, of which every part may be missing. */
class HostContext {
  readonly #ctx: Fields;

  constructor(ctx: unknown) {
    this.#ctx = isRecord(ctx) ? ctx : {};
  }

  fields(name: string): Fields {
    const value = this.#ctx[name];
    return isRecord(value) ? value : {};
  }

  /** Calls `ctx.<domain>.<method>(…)`; `undefined` when there is none or it throws. */
  async call(domain: string, method: string, ...args: unknown[]): Promise<unknown> {
    const owner = this.#ctx[domain] as Fields | undefined;
    const call = owner?.[method];
    if (typeof call !== "function") return undefined;
    try {
      return await (call as Call).apply(owner, args);
    } catch {
      return undefined;
    }
  }

  /** Asks once whether a session belongs to a sub-agent. */
  async isChild(id: string, sessions: Sessions): Promise<boolean> {
    const session = sessions.of(id);
    if (session.turn.length === 0 && !session.isChild) {
      const found = await this.call("session", "get", { sessionID: id });
      const data = isRecord(found) && isRecord(found["data"]) ? found["data"] : found;
      session.isChild = isRecord(data) && Boolean(data["parentID"]);
    }
    return session.isChild;
  }

  /** The session's active messages, where the host gives them. */
  async session(id: string | undefined, cwd: string) {
    const context = id ? await this.call("session", "context", { sessionID: id }) : undefined;
    const list = isRecord(context) ? context["messages"] ?? context["data"] : context;
    const messages = messagesOf(list);
    if (!id || messages.length === 0) return "this OpenCode does not give plugins a session's context (ctx.session.context).";
    return { messages: { source: { host: "opencode", session_id: id, title: `OpenCode session ${id}`, cwd }, messages } };
  }
}

function keep(blocks: Map<string, string>, id: string, context: string): void {
  blocks.set(id, context);
  const oldest = blocks.keys().next();
  if (blocks.size > MAX_BLOCKS && !oldest.done) blocks.delete(oldest.value);
}

function guarded(act: (event: Fields) => Promise<void>): (event: unknown) => Promise<void> {
  return async (event) => {
    try {
      if (isRecord(event)) await act(event);
    } catch {
      // The host changed what it passes; it goes on without memory.
    }
  };
}
