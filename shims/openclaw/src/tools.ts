// The tools OpenClaw's models know from the Mem0 plugin.

import type { OpenClawPluginApi, OpenClawPluginToolContext } from "openclaw/plugin-sdk/plugin-entry";

import { HANDOFF_DESCRIPTION, handoffArguments, type Handoff } from "../../common/src/handoff.ts";
import { GUIDANCE, textArg, widened, wrong, type Place, type Reply, type Requests } from "../../common/src/requests.ts";
import { collect } from "./handoff.ts";
import type { Sessions } from "./sessions.ts";

type Args = Record<string, unknown>;
type Act = (args: Args, place: Place, call: { id: string; about: OpenClawPluginToolContext }) => Promise<Reply>;

interface Tool {
  name: string;
  label: string;
  description: string;
  properties: Record<string, object>;
  required: string[];
  act: Act;
}

const SEEN_AT_ONCE = ["memory_search", "mem0_handoff"];

const string = (description: string) => ({ type: "string", description });
const identity = { userId: string("Only this session's own user; leave it out"), agentId: string("Only this session's own project; leave it out") };
const scope = { type: "string", enum: ["session", "long-term", "all"], description: "Where to look; all when absent" };

export function registerTools(api: OpenClawPluginApi, requests: Requests, handoff: Handoff, sessions: Sessions): void {
  const tools = [...memoryTools(requests), handoffTool(handoff, sessions)];
  const factory = (about: OpenClawPluginToolContext) =>
    tools.map(({ name, label, description, properties, required, act }) => ({
      name, label, description,
      // The host keeps most tools behind a search of tools: these are for the model to see at once.
      ...(SEEN_AT_ONCE.includes(name) ? { catalogMode: "direct-only" } : {}),
      parameters: { type: "object", properties, required },
      execute: async (id: string, given: unknown, signal?: AbortSignal) => {
        const args = (given ?? {}) as Args;
        const place = { cwd: about.workspaceDir, sessionId: about.sessionId, signal };
        const reply = (await widened(requests, { user_id: args["userId"], agent_id: args["agentId"] }, place)) ?? (await act(args, place, { id, about }));
        if (reply.isError) throw new Error(reply.text);
        return { content: [{ type: "text", text: reply.text }], details: undefined };
      },
    }));
  api.registerTool(factory as unknown as Parameters<OpenClawPluginApi["registerTool"]>[0], { names: tools.map(({ name }) => name) });
}

function memoryTools(requests: Requests): Tool[] {
  return [
    {
      name: "memory_search", label: "Search memory", description: GUIDANCE, required: ["query"],
      properties: {
        query: string("One focused question"), limit: { type: "number", description: "Most results, 1 to 20" }, ...identity, scope,
        categories: { type: "array", items: { type: "string" }, description: "Only the first is used" }, filters: { type: "object", description: "Works with memory_list only" },
      },
      act: async (args, place) => {
        const query = textArg(args, "query");
        if (!query) return wrong("memory_search needs a query.");
        const [category] = Array.isArray(args["categories"]) ? args["categories"] : [];
        return requests.search(query, place, { topK: args["limit"] ?? 5, scope: args["scope"], category });
      },
    },
    {
      name: "memory_add", label: "Remember", required: [],
      description: "Store facts for later sessions of every agent. One sentence each that will make sense months from now; no secrets.",
      properties: {
        text: string("The fact"), facts: { type: "array", items: { type: "string" }, description: "Several facts" }, category: string("Ignored: it is found out"),
        importance: { type: "number", description: "Ignored" }, ...identity, metadata: { type: "object", description: "Ignored" },
        longTerm: { type: "boolean", description: "Ignored: facts are kept" },
      },
      act: async (args, place) => {
        const facts = (Array.isArray(args["facts"]) ? args["facts"] : [args["text"]]).filter((fact): fact is string => typeof fact === "string" && fact.trim() !== "");
        if (facts.length === 0) return wrong("memory_add needs a text or facts.");
        const replies = [];
        for (const fact of facts) replies.push(await requests.add(fact, place));
        return { text: replies.map(({ text }) => text).join("\n"), isError: replies.some(({ isError }) => isError) };
      },
    },
    {
      name: "memory_get", label: "Show a memory", description: "Show one memory.", required: ["memoryId"], properties: { memoryId: string("Its id") },
      act: async (args, place) => requests.get(String(args["memoryId"]), place),
    },
    {
      name: "memory_list", label: "List memories", description: "List the memories of this project, newest first.", required: [], properties: { ...identity, scope },
      act: async (args, place) => requests.list(place, args["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true }),
    },
    {
      name: "memory_update", label: "Change a memory", description: "Replace a memory's text; the old one stays in its history.", required: ["memoryId", "text"],
      properties: { memoryId: string("Its id"), text: string("The new text") },
      act: async (args, place) => {
        const text = textArg(args, "text");
        return text ? requests.update(String(args["memoryId"]), text, place) : wrong("memory_update needs a text.");
      },
    },
    {
      name: "memory_delete", label: "Forget", required: [],
      description: "Delete one memory by its id, or the one a question finds. Only when the user asked for it.",
      properties: {
        memoryId: string("Its id"), query: string("A question that finds it"), all: { type: "boolean", description: "Everything about this project" },
        confirm: { type: "boolean", description: "The user has seen what goes and agreed" }, ...identity,
      },
      act: async (args, place) => remove(requests, args, place),
    },
    {
      name: "memory_event_list", label: "What waits", description: "Show what was recorded and waits to become memory.", required: [], properties: {},
      act: async (_args, place) => requests.status(place),
    },
    {
      name: "memory_event_status", label: "State of a stored fact", description: "Show whether a stored fact can be found by now.", required: ["event_id"],
      properties: { event_id: string("The id memory_add gave") },
      act: async (args, place) => requests.event(String(args["event_id"]), place),
    },
  ];
}

function handoffTool(handoff: Handoff, sessions: Sessions): Tool {
  return {
    name: "mem0_handoff", label: "Handoff", description: HANDOFF_DESCRIPTION, required: [],
    properties: { action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" }, resource: string("Path of a saved session, for resume") },
    act: async (args, place, { id, about }) => {
      const answer = await handoff.answer(handoffArguments(args), place, () => collect(about, sessions, id));
      return { text: answer.text, isError: !answer.ok };
    },
  };
}

/** Deletes; everything, or what a question finds, only once it was shown and agreed to. */
async function remove(requests: Requests, args: Args, place: Place): Promise<Reply> {
  const id = textArg(args, "memoryId");
  if (id) return requests.remove([id], place);
  const isAgreed = args["confirm"] === true;
  if (args["all"] === true) {
    if (isAgreed) return requests.forget(place);
    const preview = await requests.forgetPreview(place);
    return preview.isError ? preview : { text: `${preview.text}\n\nShow this to the user; with their consent call again with confirm.`, isError: false };
  }
  const query = textArg(args, "query");
  if (!query) return wrong("memory_delete needs a memoryId, a query, or all.");
  const found = await requests.find(query, place, 5);
  if (!Array.isArray(found)) return found;
  const [only] = found;
  if (found.length === 1 && only && isAgreed) return requests.remove([only.id], place);
  if (found.length === 0) return { text: "No matching memories found.", isError: false };
  return { text: `Nothing was deleted. Show these to the user, then delete by id:\n${found.map((one) => `${one.id}  ${one.memory}`).join("\n")}`, isError: false };
}
