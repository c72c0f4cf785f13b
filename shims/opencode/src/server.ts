// OpenCode 1.x.

import type { Config, Hooks, Plugin } from "@opencode-ai/plugin";
import type { Event, Part } from "@opencode-ai/sdk";

import { Handoff } from "../../common/src/handoff.ts";
import { Memory } from "../../common/src/memory.ts";
import { isRecord, numberOf, outputOf, textOf, type Payload } from "../../common/src/protocol.ts";
import { Requests } from "../../common/src/requests.ts";
import { COMMANDS } from "./commands.ts";
import { Sessions } from "./sessions.ts";
import { tools } from "./tools.ts";

export const server: Plugin = async ({ client, directory }, options) => {
  const memory = new Memory({
    host: "opencode", from: import.meta.url, binary: typeof options?.["binary"] === "string" ? options["binary"] : undefined,
  });
  const sessions = new Sessions();
  const about = (id: string): Payload => ({ session_id: id, cwd: directory });

  const hooks: Hooks = {
    config: async (config: Config) => {
      config.command ??= {};
      for (const [name, command] of Object.entries(COMMANDS)) config.command[name] ??= command;
    },

    event: async ({ event }: { event: Event }) => {
      switch (event.type) {
        case "session.created": {
          const { id, parentID } = event.properties.info;
          sessions.of(id).isChild = Boolean(parentID);
          sessions.of(id).isNew = !parentID;
          break;
        }
        case "session.error":
          if (event.properties.sessionID) sessions.of(event.properties.sessionID).hasFailed = true;
          break;
        case "session.compacted":
          sessions.of(event.properties.sessionID).isCompacting = false;
          break;
        case "session.idle": {
          const id = event.properties.sessionID;
          if (!sessions.of(id).isChild) await memory.tell("turn-end", { ...about(id), ...sessions.endTurn(id) });
          break;
        }
        case "session.deleted": {
          const { id, parentID } = event.properties.info;
          if (!parentID) await memory.tell("session-end", about(id));
          sessions.forget(id);
          break;
        }
      }
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (sessions.of(sessionID).isChild) return;
      const prompt = spoken(parts);
      sessions.of(sessionID).isCompacting = false;
      sessions.say(sessionID, "user", prompt);
      const context = await memory.tell("prompt", { ...about(sessionID), prompt });
      // A new session is told after its first prompt, which does not wait for it.
      if (sessions.began(sessionID)) void memory.tell("session-start", { ...about(sessionID), reason: "startup" });
      // A part of its own, which the host stores with the prompt: the same bytes in every later request of the session,
      // also when it is continued by another process.
      if (context) parts.push({ id: partId(), sessionID, messageID: message.id, type: "text", text: context, synthetic: true });
    },

    "experimental.text.complete": async ({ sessionID }, { text }) => {
      sessions.say(sessionID, "assistant", text);
    },

    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (sessions.of(sessionID).isChild) return;
      const { output: text, content, metadata } = output as { output?: unknown; content?: unknown; metadata?: unknown };
      void memory.tell("tool", {
        ...about(sessionID),
        tool: {
          name: tool, input: args, output: outputOf(text ?? content),
          exit_code: isRecord(metadata) ? numberOf(metadata["exit"]) : undefined,
        },
      });
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      if (sessions.of(sessionID).isChild) return;
      sessions.of(sessionID).isCompacting = true;
      await memory.tell("pre-compact", about(sessionID));
    },

    dispose: async () => {
      await memory.settled();
      await Promise.all(sessions.main().map((id) => memory.tell("session-end", about(id))));
    },

    tool: tools(new Requests(memory), new Handoff(memory, "opencode"), client),
  };
  return guarded(hooks);
};

/** The person's own text of a prompt. */
function spoken(parts: Part[]): string {
  return textOf(parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored));
}

let nParts = 0;

/** An id as the host makes them: it sorts by time. */
function partId(): string {
  const time = (BigInt(Date.now()) * 0x1000n + BigInt(nParts++ % 0x1000)) & 0xffffffffffffn;
  const random = Array.from({ length: 14 }, () => ALPHABET[Math.floor(Math.random() * ALPHABET.length)]).join("");
  return `prt_${time.toString(16).padStart(12, "0")}${random}`;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A hook that throws ends the person's turn here, so none does. */
function guarded(hooks: Hooks): Hooks {
  const quiet = (hook: unknown) =>
    typeof hook !== "function" ? hook : async (...args: unknown[]) => {
      try {
        await hook(...args);
      } catch {
        // The host changed what it passes; it goes on without memory.
      }
    };
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, quiet(hook)])) as Hooks;
}
