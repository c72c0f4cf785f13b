// The tools the Harness' models know from the Mem0 plugin.

import type { Context } from "@deepseek-ai/cordis";
import type { Session } from "@deepseek-ai/dsh-session";
import type { ToolDefinition, ToolRunContext } from "@deepseek-ai/dsh-tools";

import { HANDOFF_DESCRIPTION, handoffArguments, type Handoff, type SessionForm } from "../../common/src/handoff.ts";
import { isRecord } from "../../common/src/protocol.ts";
import { GUIDANCE, textArg, widened, wrong, type Place, type Reply, type Requests } from "../../common/src/requests.ts";

type Args = Record<string, unknown>;

const string = (description: string) => ({ type: "string", description }) as const;
const identity = { userId: string("Only this session's own user; leave it out"), agentId: string("Only this session's own project; leave it out") };

export function registerTools(ctx: Context, requests: Requests, handoff: Handoff): void {
  const define = (name: string, description: string, properties: object, required: string[], act: (args: Args, place: Place, exec: ToolRunContext) => Promise<Reply>): ToolDefinition =>
    ({
      name,
      description,
      parameters: { type: "object", properties, required },
      output: { schema: { type: "string" }, render: (_args: unknown, value: unknown) => [{ type: "text", text: String(value) }] },
      execute: async (given: unknown, exec: ToolRunContext) => {
        const args = isRecord(given) ? given : {};
        const place = placeOf(exec);
        const reply = (await widened(requests, { user_id: args["userId"], agent_id: args["agentId"] }, place)) ?? (await act(args, place, exec));
        return reply.isError ? `${name} failed: ${reply.text}` : reply.text;
      },
    }) as unknown as ToolDefinition;

  ctx.tools.register(define(
    "search_memory", GUIDANCE,
    { query: string("One focused question"), limit: { type: "integer", description: "Most results, 1 to 20; 10 when absent" }, ...identity, runId: string("Only this session") },
    ["query"],
    async (args, place) => {
      const query = textArg(args, "query");
      if (!query) return wrong("it needs a query.");
      const runId = textArg(args, "runId");
      return requests.search(query, { ...place, sessionId: runId ?? place.sessionId }, { topK: args["limit"] ?? 10, scope: runId ? "session" : undefined });
    },
  ));
  ctx.tools.register(define(
    "add_memory", "Store one fact for later sessions of every agent. One sentence that will make sense months from now; no secrets.",
    { text: string("The fact"), ...identity, runId: string("Ignored: where and when is known") },
    ["text"],
    async (args, place) => requests.add(textArg(args, "text") ?? "", place),
  ));
  ctx.tools.register(define(
    "mem0_handoff", HANDOFF_DESCRIPTION,
    { action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" }, resource: string("Path of a saved session, for resume") },
    [],
    async (args, place, exec) => {
      const session = exec.agent?.session;
      if (!session || exec.rootCallId !== exec.callId) return wrong("it has to be called by the agent itself, not inside another tool.");
      const answer = await handoff.answer(handoffArguments(args), place, async () => active(session, exec.callId));
      return { text: answer.text, isError: !answer.ok };
    },
  ));
}

/** The session's active messages, without the call that saves them. */
export function active(session: Session, callId?: string): SessionForm {
  const titled = session.events.findLast((event) => (event.type as string) === "session/title");
  const title = isRecord(titled?.data) ? textArg(titled.data, "title") : undefined;
  const { id, cwd } = session.header;
  const source = { host: "deepseek", session_id: id, title: title ?? `DeepSeek session ${id}`, cwd: cwd ?? process.cwd() };
  return { messages: { source, ...(callId ? { exclude_call_id: callId } : {}), messages: session.deriveMessages() as unknown[] } };
}

function placeOf(exec: ToolRunContext): Place {
  const header = exec.agent?.session.header;
  return { cwd: header?.cwd, sessionId: header?.id, signal: exec.signal };
}
