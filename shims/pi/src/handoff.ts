// `/mem0-handoff` and the tool of the same name.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { HANDOFF_DESCRIPTION, handoffArguments, type Answer, type Handoff, type SessionForm } from "../../common/src/handoff.ts";
import { isRecord } from "../../common/src/protocol.ts";
import { show } from "./commands.ts";
import { placeOf, type Schema } from "./tools.ts";

/** The id handoffs know Pi by. */
export const HANDOFF_HOST = "pi-agent";

export function registerHandoff(pi: ExtensionAPI, handoff: Handoff): void {
  pi.registerCommand("mem0-handoff", {
    description: "Hand this session to another agent: save, list, or resume <path>",
    handler: async (args, ctx) => {
      if (!ctx.isIdle()) return show(pi, ctx, { text: "Handoff failed: wait until the agent has finished.", isError: true });
      const answer = await handoff.answer(args, placeOf(ctx), async () => saved(ctx));
      if (answer.ok && answer.action === "resume") {
        pi.sendMessage({ customType: "mem0-handoff", content: answer.text, display: true }, { triggerTurn: true });
        return;
      }
      show(pi, ctx, { text: answer.text, isError: !answer.ok });
    },
  });

  pi.registerTool({
    name: "mem0_handoff",
    label: "Handoff",
    description: HANDOFF_DESCRIPTION,
    promptSnippet: "Hand this session to another agent, or continue one",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" },
        resource: { type: "string", description: "Path of a saved session, for resume" },
      },
    } as unknown as Schema,
    async execute(callId, params, signal, _onUpdate, ctx) {
      const place = { ...placeOf(ctx), signal };
      const answer: Answer = await handoff.answer(handoffArguments(params as Record<string, unknown>), place, async () => active(ctx, callId));
      if (!answer.ok) throw new Error(answer.text);
      return { content: [{ type: "text", text: answer.text }], details: undefined };
    },
  });
}

/** The session at rest: its file, where it has one. */
function saved(ctx: ExtensionContext): SessionForm {
  const transcript = ctx.sessionManager.getSessionFile();
  return transcript ? { transcript } : active(ctx, undefined);
}

/** The messages of the active branch, in the middle of a turn. */
function active(ctx: ExtensionContext, callId: string | undefined): SessionForm {
  const manager = ctx.sessionManager;
  const id = manager.getSessionId();
  const path = manager.getSessionFile();
  const messages = manager.buildContextEntries().flatMap((entry): unknown[] => message(entry));
  const source = {
    host: HANDOFF_HOST, session_id: id, title: manager.getSessionName() ?? `Pi session ${id}`, cwd: manager.getCwd(),
    ...(path ? { path } : {}),
  };
  return { messages: { source, ...(callId ? { exclude_call_id: callId } : {}), messages } };
}

/** An entry as a message: what Pi itself turns into user text for its model is user text here. */
function message(entry: unknown): unknown[] {
  if (!isRecord(entry)) return [];
  const user = (text: unknown) => (typeof text === "string" && text ? [{ role: "user", content: text }] : []);
  switch (entry["type"]) {
    case "message": {
      const inner = entry["message"];
      if (!isRecord(inner)) return [];
      if (inner["role"] === "bashExecution") {
        return inner["excludeFromContext"] ? [] : user(`Ran \`${String(inner["command"])}\`\n${String(inner["output"] ?? "")}`);
      }
      if (inner["role"] === "custom") return [{ role: "user", content: inner["content"] }];
      return inner["role"] === "branchSummary" || inner["role"] === "compactionSummary" ? user(inner["summary"]) : [inner];
    }
    case "custom_message": return entry["customType"] === "mem0-memory" ? [] : [{ role: "user", content: entry["content"] }];
    case "compaction": case "branch_summary": return user(entry["summary"]);
    default: return [];
  }
}
