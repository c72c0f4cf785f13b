// The slash commands. Their answers are shown to the person and do not reach the model, save a handoff that is resumed.

import { randomUUID } from "node:crypto";

import type { Context } from "@deepseek-ai/cordis";
import type { CommandInvocation, CommandResult } from "@deepseek-ai/dsh-commands";
import type { UserMessage } from "@deepseek-ai/dsh-session";

import type { Handoff } from "../../common/src/handoff.ts";
import type { Place, Reply, Requests } from "../../common/src/requests.ts";
import { active } from "./tools.ts";

export function registerCommands(ctx: Context, requests: Requests, handoff: Handoff): void {
  const command = (name: string, description: string, hint: string | undefined, act: (args: string, place: Place, call: CommandInvocation) => Promise<Reply>) =>
    ctx.commands.register({
      name: `mem0-${name}`,
      description,
      ...(hint === undefined ? {} : { input: { hint } }),
      handler: async (call) => resultOf(await act(call.rawInput.trim(), placeOf(call), call)),
    });

  command("remember", "Store one fact in memory now", "the fact", (args, place) => requests.add(args, place));
  command("search", "Search the memory of earlier sessions", "the question", (args, place) => requests.search(args, place, { topK: 10 }));
  command("tour", "Show what is remembered about this project", undefined, (_args, place) => requests.list(place, { durable: true }));
  command("status", "Show whether memory works here and what it holds", undefined, (_args, place) => requests.status(place));
  command("pause", "Stop saving and searching memories in the Harness", undefined, (_args, place) => requests.pause(place));
  command("resume", "Save and search memories in the Harness again", undefined, (_args, place) => requests.resume(place));
  command("forget", "Show what would be deleted about this repository; `yes` deletes it", "yes", (args, place) => forget(requests, args, place));
  command("handoff", "Hand this session to another agent: save, list, or resume <path>", "save | list | resume <path>", async (args, place, { agent }) => {
    const answer = await handoff.answer(args, place, async () => active(agent.session));
    if (answer.ok && answer.action === "resume") {
      agent.inject({
        id: randomUUID() as UserMessage["id"], role: "user", content: [{ type: "text", text: answer.text }], source: { kind: "plugin", plugin: "mem0" },
      } as UserMessage);
      return { text: "The session was put into this one; go on from it.", isError: false };
    }
    return { text: answer.text, isError: !answer.ok };
  });
}

/** The Harness has no dialog for commands: the person sees what would go, and says yes in a second command. */
async function forget(requests: Requests, args: string, place: Place): Promise<Reply> {
  if (args === "yes") return requests.forget(place);
  const preview = await requests.forgetPreview(place);
  return preview.isError ? preview : { text: `${preview.text}\n\n\`/mem0-forget yes\` deletes it.`, isError: false };
}

function placeOf({ agent, signal }: CommandInvocation): Place {
  const { id, cwd } = agent.session.header;
  return { cwd, sessionId: id, signal };
}

function resultOf({ text, isError }: Reply): CommandResult {
  return isError ? { kind: "error", text } : { kind: "success", text };
}
