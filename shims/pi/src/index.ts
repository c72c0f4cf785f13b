// mem0-code in Pi. Translates Pi's events for the native binary, which decides; see `crates/core/src/hosts/pi`.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { Handoff } from "../../common/src/handoff.ts";
import { Memory } from "../../common/src/memory.ts";
import { isRecord, messagesOf, numberOf, outputOf, type Message, type Payload } from "../../common/src/protocol.ts";
import { Requests } from "../../common/src/requests.ts";
import { registerCommands } from "./commands.ts";
import { HANDOFF_HOST, registerHandoff } from "./handoff.ts";
import { registerTools } from "./tools.ts";

/** Type of the stored message that carries recalled memories. */
const RECALLED = "mem0-memory";
/** Messages of one turn that are held at most; the oldest go first. */
const MAX_MESSAGES = 400;

export default function extension(pi: ExtensionAPI): void {
  const memory = new Memory({ host: "pi", from: import.meta.url });
  const requests = new Requests(memory);
  let turn: Message[] = [];

  const about = (ctx: ExtensionContext): Payload => ({
    session_id: ctx.sessionManager.getSessionId(),
    cwd: ctx.cwd,
    transcript_path: ctx.sessionManager.getSessionFile(),
  });

  pi.on("session_start", async (event, ctx) => {
    await memory.tell("session-start", { ...about(ctx), reason: event.reason, model: ctx.model?.id });
  });

  pi.on("before_agent_start", async (event, ctx) => {
    if (event.messageType === "custom") return undefined;
    const context = await memory.tell("prompt", { ...about(ctx), prompt: event.prompt });
    // Stored by the host once, right after its prompt: the same bytes in every later request of the session.
    return context ? { message: { customType: RECALLED, content: context, display: false } } : undefined;
  });

  pi.on("tool_result", (event, ctx) => {
    const structured = isRecord(event.structuredContent) ? event.structuredContent : {};
    void memory.tell("tool", {
      ...about(ctx),
      tool: {
        name: event.toolName,
        input: event.input,
        output: typeof structured["output"] === "string" ? outputOf(structured["output"]) : outputOf(event.content),
        exit_code: numberOf(structured["exit_code"]),
        failed: event.isError,
      },
    });
  });

  // One prompt can end several low-level runs, by retries and queued messages; `agent_settled` comes once.
  pi.on("agent_end", (event) => {
    turn = [...turn, ...messagesOf(event.messages)].slice(-MAX_MESSAGES);
  });

  pi.on("agent_settled", async (event, ctx) => {
    const messages = turn;
    turn = [];
    await memory.tell("turn-end", { ...about(ctx), messages, outcome: event.aborted ? "aborted" : "completed" });
  });

  pi.on("session_before_compact", async (_event, ctx) => {
    await memory.tell("pre-compact", about(ctx));
    return undefined;
  });

  pi.on("session_shutdown", async (_event, ctx) => {
    await memory.tell("session-end", about(ctx));
  });

  registerTools(pi, requests);
  registerCommands(pi, requests);
  registerHandoff(pi, new Handoff(memory, HANDOFF_HOST));
}
