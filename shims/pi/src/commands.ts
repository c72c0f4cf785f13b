// The slash commands, with Pi's own dialogs for what a person has to decide.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import type { Found, Reply, Requests } from "../../common/src/requests.ts";
import { forgetAll, placeOf } from "./tools.ts";

export function registerCommands(pi: ExtensionAPI, requests: Requests): void {
  const command = (name: string, description: string, act: (args: string, ctx: ExtensionContext) => Promise<Reply>) =>
    pi.registerCommand(`mem0-${name}`, {
      description,
      handler: async (args, ctx) => show(pi, ctx, await act(args.trim(), ctx)),
    });

  command("remember", "Store one fact in memory now", (args, ctx) => requests.add(args, placeOf(ctx)));
  command("search", "Search the memory of earlier sessions", (args, ctx) => requests.search(args, placeOf(ctx), { topK: 10 }));
  command("tour", "Show what is remembered about this project", (_args, ctx) => requests.list(placeOf(ctx), { durable: true }));
  command("status", "Show whether memory works here and what it holds", (_args, ctx) => requests.status(placeOf(ctx)));
  command("scope", "Show how far a search reaches, or set it: repo, dir or mine", (args, ctx) => requests.searchScope(args, placeOf(ctx)));
  command("pause", "Stop saving and searching memories in Pi", (_args, ctx) => requests.pause(placeOf(ctx)));
  command("resume", "Save and search memories in Pi again", (_args, ctx) => requests.resume(placeOf(ctx)));
  command("forget", "Delete one memory, found by a question, or all of this repository", (args, ctx) =>
    args ? forgetOne(requests, args, ctx) : forgetAll(requests, placeOf(ctx), ctx));
}

/** Tells the person; the text does not reach the model. */
export function show(pi: ExtensionAPI, ctx: ExtensionContext, { text, isError }: Reply): void {
  if (ctx.hasUI) ctx.ui.notify(text, isError ? "error" : "info");
  else pi.sendMessage({ customType: "mem0-notice", content: text, display: true });
}

async function forgetOne(requests: Requests, query: string, ctx: ExtensionContext): Promise<Reply> {
  if (!ctx.hasUI) return { text: "Deleting needs a person to agree, and there is nobody to ask in this mode.", isError: true };
  const found = await requests.find(query, placeOf(ctx));
  if (!Array.isArray(found)) return found;
  const chosen = await choose(found, ctx);
  if (!chosen) return { text: found.length === 0 ? "No matching memories found." : "Nothing was deleted.", isError: false };
  return requests.remove([chosen.id], placeOf(ctx));
}

async function choose(found: Found[], ctx: ExtensionContext): Promise<Found | undefined> {
  const [only] = found;
  if (found.length === 0 || !only) return undefined;
  if (found.length === 1) return (await ctx.ui.confirm("Delete this memory?", only.memory)) ? only : undefined;
  const labels = found.map((memory, index) => `${index + 1}. ${memory.memory.replace(/\s+/g, " ").slice(0, 200)}`);
  const label = await ctx.ui.select("Which memory is to be deleted?", labels);
  return label === undefined ? undefined : found[labels.indexOf(label)];
}
