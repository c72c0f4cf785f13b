// mem0-code in the DeepSeek Harness. Translates the host's events for the native binary, which decides; see
// `crates/core/src/hosts/deepseek`.

import { randomUUID } from "node:crypto";

import type { Context } from "@deepseek-ai/cordis";
import type {} from "@deepseek-ai/dsh-agent";
import type {} from "@deepseek-ai/dsh-commands";
import type { Session, UserMessage } from "@deepseek-ai/dsh-session";
import type {} from "@deepseek-ai/dsh-tools";

import { Handoff } from "../../common/src/handoff.ts";
import { Memory } from "../../common/src/memory.ts";
import { isRecord, numberOf, outputOf, textOf, type Message, type Payload } from "../../common/src/protocol.ts";
import { Requests, textArg } from "../../common/src/requests.ts";
import { registerCommands } from "./commands.ts";
import { registerTools } from "./tools.ts";

export const name = "mem0";
export const inject = ["tools"];

/** Messages of one turn that are held at most; the oldest go first. */
const MAX_MESSAGES = 400;

export function apply(ctx: Context, config: unknown): void {
  const memory = new Memory({ host: "deepseek", from: import.meta.url, binary: textArg(isRecord(config) ? config : {}, "binary") });
  const requests = new Requests(memory);
  const handoff = new Handoff(memory, "deepseek");
  /** The main sessions seen, each with what was said in its open turn. */
  const turns = new Map<Session, Message[]>();
  /** Sessions that began and were not told yet: that comes after the first prompt, which does not wait for it. */
  const begun = new Map<Session, string>();

  const about = (session: Session): Payload => ({ session_id: session.header.id, cwd: session.header.cwd });
  const isMain = (session: Session) => session.header.origin !== "subagent" && (session.header.delegationDepth ?? 0) === 0;

  ctx.on("agent/session-start", quiet(({ agent, source }) => {
    if (isMain(agent.session)) begun.set(agent.session, source);
  }));

  // The incoming messages become part of the session's log, so a message added to them is stored once and is the same in
  // every later request. Nothing of it is read as a template, as the prompt's own texts are.
  ctx.on("agent/pre-step", async ({ agent, messages, signal }, next) => {
    const decision = await next();
    try {
      const prompt = textOf(messages.filter(isPersons).flatMap(({ content }) => content));
      if (decision.kind !== "enter" || !prompt.trim() || signal.aborted || !isMain(agent.session)) return decision;
      const context = await memory.tell("prompt", { ...about(agent.session), prompt });
      const reason = begun.get(agent.session);
      if (begun.delete(agent.session)) void memory.tell("session-start", { ...about(agent.session), reason });
      return context ? { ...decision, messages: [...decision.messages, recalled(context)] } : decision;
    } catch {
      return decision;
    }
  });

  ctx.on("session/event", quiet((session, event) => {
    if (!isMain(session)) return;
    switch (event.type) {
      case "turn/start":
        turns.set(session, []);
        break;
      case "user/message":
        if (isPersons(event.data)) say(turns, session, "user", textOf(event.data.content));
        break;
      case "assistant/message":
        if (!event.data.interrupted) say(turns, session, "assistant", textOf(event.data.message.content));
        break;
      case "turn/end": {
        const messages = turns.get(session) ?? [];
        turns.set(session, []);
        void memory.tell("turn-end", { ...about(session), messages, outcome: event.data.reason.kind });
        break;
      }
      default:
        if ((event.type as string) === "compaction/start") void memory.tell("pre-compact", about(session));
    }
  }));

  ctx.on("tools/result", quiet((exec, result) => {
    const session = exec.agent?.session;
    // A call inside another tool's program is that tool's own doing.
    if (!session || !isMain(session) || exec.parent) return undefined;
    const value: unknown = "value" in result ? result.value : undefined;
    void memory.tell("tool", {
      ...about(session),
      tool: {
        name: exec.name, input: exec.arguments, output: outputOf(result.content),
        exit_code: isRecord(value) ? numberOf(value["exitCode"]) : undefined, failed: result.isError,
      },
    });
    return undefined;
  }));

  ctx.on("session/disposed", quiet((session) => {
    begun.delete(session);
    if (!turns.delete(session)) return;
    void memory.tell("session-end", about(session));
  }));

  // In a headless run this is the only end there is, and nothing asynchronous would be waited for.
  ctx.effect(() => () => {
    for (const session of turns.keys()) memory.tellNow("session-end", about(session));
    turns.clear();
  });

  registerTools(ctx, requests, handoff);
  // A deployment without people has no commands.
  ctx.inject(["commands"], (scoped) => registerCommands(scoped, requests, handoff));
}

function isPersons(message: UserMessage): boolean {
  return message.source.kind === "user";
}

function recalled(text: string): UserMessage {
  return {
    id: randomUUID() as UserMessage["id"], role: "user", content: [{ type: "text", text }], source: { kind: "plugin", plugin: name },
  } as UserMessage;
}

function say(turns: Map<Session, Message[]>, session: Session, role: "user" | "assistant", content: string): void {
  if (!content.trim()) return;
  const turn = turns.get(session) ?? [];
  turn.push({ role, content });
  if (turn.length > MAX_MESSAGES) turn.shift();
  turns.set(session, turn);
}

/** An observer that never throws into the host. */
function quiet<Args extends unknown[]>(observe: (...args: Args) => undefined | void): (...args: Args) => undefined {
  return (...args) => {
    try {
      observe(...args);
    } catch {
      // The host changed what it passes; it goes on without memory.
    }
    return undefined;
  };
}
