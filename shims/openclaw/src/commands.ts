// Commands a person types in a channel. The command's text is the reply.

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import type { Handoff } from "../../common/src/handoff.ts";
import type { Place, Reply, Requests } from "../../common/src/requests.ts";
import { collect } from "./handoff.ts";
import type { Sessions } from "./sessions.ts";

type CommandContext = Parameters<Parameters<OpenClawPluginApi["registerCommand"]>[0]["handler"]>[0];

export function registerCommands(api: OpenClawPluginApi, requests: Requests, handoff: Handoff, sessions: Sessions): void {
  const command = (name: string, description: string, act: (args: string, place: Place, ctx: CommandContext) => Promise<Reply>) =>
    api.registerCommand({
      name: `mem0-${name}`,
      description,
      acceptsArgs: true,
      handler: async (ctx) => {
        const id = ctx.sessionId ?? ctx.sessionKey ?? "";
        const { text } = await act((ctx.args ?? "").trim(), { cwd: sessions.folder(id), sessionId: ctx.sessionId }, ctx);
        return { text };
      },
    });

  command("remember", "Store one fact in memory now", (args, place) => requests.add(args, place));
  command("search", "Search the memory of earlier sessions", (args, place) => requests.search(args, place, { topK: 10 }));
  command("tour", "Show what is remembered here", (_args, place) => requests.list(place, { durable: true }));
  command("status", "Show whether memory works here and what it holds", (_args, place) => requests.status(place));
  command("pause", "Stop saving and searching memories in OpenClaw", (_args, place) => requests.pause(place));
  command("resume", "Save and search memories in OpenClaw again", (_args, place) => requests.resume(place));
  command("forget", "Show what would be deleted here; `yes` deletes it", async (args, place) => {
    if (args === "yes") return requests.forget(place);
    const preview = await requests.forgetPreview(place);
    return preview.isError ? preview : { text: `${preview.text}\n\n/mem0-forget yes deletes it.`, isError: false };
  });
  command("handoff", "Hand this session to another agent: save, list, or resume <path>", async (args, place, ctx) => {
    const id = ctx.sessionId ?? ctx.sessionKey;
    if (!id) return { text: "Handoff failed: the host does not say which session this is.", isError: true };
    const about = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId };
    const answer = await handoff.answer(args, place, () => collect(about, sessions));
    if (answer.ok && answer.action === "resume") {
      sessions.keepResumed(id, answer.text);
      return { text: "The session will be given to the agent with your next message.", isError: false };
    }
    return { text: answer.text, isError: !answer.ok };
  });
}
