// mem0-code in OpenClaw. Translates the host's hooks for the native binary, which decides; see
// `crates/core/src/hosts/openclaw`.

import type { OpenClawPluginApi, OpenClawPluginDefinition } from "openclaw/plugin-sdk/plugin-entry";

import { Handoff } from "../../common/src/handoff.ts";
import { Memory } from "../../common/src/memory.ts";
import { isRecord, messagesOf, numberOf, outputOf, type Payload } from "../../common/src/protocol.ts";
import { Requests, textArg } from "../../common/src/requests.ts";
import { registerCommands } from "./commands.ts";
import { Sessions, type About } from "./sessions.ts";
import { registerTools } from "./tools.ts";

/** Messages of a conversation told at a turn's end: its turn, and what may be recent before it. */
const MAX_MESSAGES = 60;
/** Hooks wait for the binary at most this long, in milliseconds, a little more than it is given. */
const HOOK_MS = 6_000;

const CONSENT =
  "mem0 may not see conversations, so nothing is remembered: set plugins.entries.mem0.hooks.allowConversationAccess to true.";

function register(api: OpenClawPluginApi): void {
  const memory = new Memory({ host: "openclaw", from: import.meta.url, binary: textArg(api.pluginConfig ?? {}, "binary") });
  const requests = new Requests(memory);
  const handoff = new Handoff(memory, "openclaw");
  const sessions = new Sessions();
  const about = (ctx: About): Payload => ({ session_id: sessionId(ctx), cwd: ctx.workspaceDir });

  // Without consent the host leaves conversation hooks out and says so nowhere a person looks.
  if (api.registrationMode === "full" && !mayConverse(api.config)) api.logger.warn(CONSENT);

  api.on("before_prompt_build", async (event, ctx) => {
    const id = sessionId(ctx);
    sessions.keepFolder(id, ctx.workspaceDir);
    if (isNobodys(ctx)) return undefined;
    const prompt = event.currentUserMessage ?? event.prompt;
    const told = await memory.tell("prompt", { ...about(ctx), prompt });
    // The host stores the bare prompt, so the session's block is given again with every prompt; another process that
    // continues the session asks what it was shown.
    const block = told || (sessions.block(id) ?? (await memory.tell("reminder", about(ctx))));
    sessions.keepBlock(id, block);
    const resumed = sessions.takeResumed(id);
    const context = [resumed, block].filter(Boolean).join("\n\n");
    return context ? { prependContext: context } : undefined;
  }, { timeoutMs: HOOK_MS });

  api.on("after_tool_call", (event, ctx) => {
    const result = isRecord(event.result) ? event.result : {};
    const details = isRecord(result["details"]) ? result["details"] : {};
    if (isNobodys(ctx)) return;
    void memory.tell("tool", {
      ...about({ ...ctx, workspaceDir: sessions.folder(sessionId(ctx)) }),
      tool: {
        name: event.toolName, input: event.params, output: outputOf(result["content"]),
        exit_code: numberOf(details["exitCode"]), failed: event.error !== undefined || details["status"] === "error" ? true : undefined,
        duration_ms: numberOf(details["durationMs"]) ?? event.durationMs,
      },
    });
  });

  api.on("agent_end", async (event, ctx) => {
    sessions.keepMessages(ctx, event.messages);
    if (isNobodys(ctx)) return;
    const messages = messagesOf(event.messages).slice(-MAX_MESSAGES);
    await memory.tell("turn-end", { ...about(ctx), messages, outcome: event.success ? "completed" : "failed" });
  }, { timeoutMs: HOOK_MS });

  api.on("before_compaction", async (_event, ctx) => {
    if (!isNobodys(ctx)) await memory.tell("pre-compact", about(ctx));
  }, { timeoutMs: HOOK_MS });

  api.on("session_start", async (event, ctx) => {
    if (!isNobodys(ctx)) await memory.tell("session-start", { ...about(ctx), reason: event.resumedFrom ? "resume" : "startup" });
  });

  // At a shutdown all sessions and plugins together have two seconds.
  api.on("session_end", async (_event, ctx) => {
    const id = sessionId(ctx);
    const folder = sessions.folder(id);
    sessions.forget(id);
    if (!isNobodys(ctx)) await memory.tell("session-end", { ...about(ctx), cwd: folder });
  });

  // The memory slot: search is done by our own tools and hooks, so the capability says only what to tell the model.
  api.registerMemoryCapability?.({ promptBuilder: ({ availableTools }) => (availableTools.has("memory_search") ? GUIDE : []) });
  registerTools(api, requests, handoff, sessions);
  registerCommands(api, requests, handoff, sessions);
}

const GUIDE = [
  "## Memory",
  "What earlier sessions learnt is recalled by itself at a session's first prompt. Use memory_search for one particular point that is still open.",
  "",
];

/** Turns nobody typed: timers, heartbeats, sub-agents, other sessions. */
function isNobodys(ctx: object): boolean {
  const { trigger, sessionKey, inputProvenance } = ctx as { trigger?: unknown; sessionKey?: unknown; inputProvenance?: unknown };
  const kind = isRecord(inputProvenance) ? inputProvenance["kind"] : undefined;
  return (
    (typeof trigger === "string" && /^(cron|heartbeat|automation|schedule)$/i.test(trigger)) ||
    (typeof sessionKey === "string" && /:(cron|heartbeat|subagent):/i.test(sessionKey)) ||
    (kind !== undefined && kind !== "external_user")
  );
}

function sessionId(ctx: About): string {
  return ctx.sessionId ?? ctx.sessionKey ?? "";
}

function mayConverse(config: unknown): boolean {
  let value: unknown = config;
  for (const key of ["plugins", "entries", "mem0", "hooks", "allowConversationAccess"]) {
    value = isRecord(value) ? value[key] : undefined;
  }
  return value === true;
}

export default {
  id: "mem0",
  name: "mem0-code",
  description: "Memory of earlier work, shared with every coding agent on this machine",
  register,
} satisfies OpenClawPluginDefinition;
