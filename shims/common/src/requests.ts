// What tools and commands of every host ask of the binary, as command lines. What is found, stored or refused, and how
// it is worded, is decided there.

import type { Memory } from "./memory.ts";
import { said } from "./memory.ts";
import type { Ended } from "./process.ts";
import { isRecord } from "./protocol.ts";

/** What is told to a person or a model. */
export interface Reply {
  text: string;
  isError: boolean;
}

/** What a model is told about searching, in every host. */
export const GUIDANCE =
  "Memory of earlier coding sessions in this project, from every agent on this machine. Search when an earlier decision, fix, " +
  "command, preference or result may help; ask one focused question. When the context already answers it, do not search; " +
  "search again only for a particular point that is still open.";

export interface Place {
  cwd?: string | undefined;
  sessionId?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface Found {
  id: string;
  memory: string;
}

export interface SearchHow {
  topK?: unknown;
  category?: unknown;
  scope?: unknown;
  json?: boolean;
}

/** Most memories one listing takes. */
const PAGE_SIZE = 1_000;

/** The setting that says how far a search reaches. */
const SCOPE_KEY = "search_scope";

/** The requests, for one host. */
export class Requests {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  async search(query: string, place: Place, how: SearchHow = {}): Promise<Reply> {
    const args = searchArgs(query, place, how);
    return "text" in args ? args : said(await this.#run(args.args, place));
  }

  /** The memories found, for a host that lets a person choose among them. */
  async find(query: string, place: Place, topK = 10): Promise<Found[] | Reply> {
    return found(await this.#run(["search", "--json", "--top-k", String(topK), "--", query], place));
  }

  async add(text: string, place: Place, how: { personal?: boolean; json?: boolean } = {}): Promise<Reply> {
    if (!text.trim()) return wrong("There is nothing to remember: the text is empty.");
    const flags = [...(how.personal ? ["--personal"] : []), ...(how.json ? ["--json"] : [])];
    return said(await this.#run(["add", ...flags, "-"], place, text));
  }

  async list(place: Place, how: { page?: unknown; pageSize?: unknown; json?: boolean; durable?: boolean; filter?: unknown } = {}): Promise<Reply> {
    const args = ["list"];
    const page = whole(how.page, 1, 1_000_000);
    const size = whole(how.pageSize, 1, PAGE_SIZE);
    if (page !== undefined) args.push("--page", String(page));
    if (size !== undefined) args.push("--page-size", String(size));
    if (how.durable) args.push("--durable");
    if (how.filter !== undefined) args.push("--filter", JSON.stringify(how.filter));
    if (how.json) args.push("--json");
    return said(await this.#run(args, place));
  }

  async get(id: string, place: Place, json = false): Promise<Reply> {
    return said(await this.#run(["get", ...(json ? ["--json"] : []), "--", id], place));
  }

  async update(id: string, text: string, place: Place, json = false): Promise<Reply> {
    return said(await this.#run(["update", ...(json ? ["--json"] : []), "--", id, text], place));
  }

  async remove(ids: string[], place: Place): Promise<Reply> {
    if (ids.length === 0) return { text: "There is nothing to delete.", isError: false };
    return said(await this.#run(["delete", "--", ...ids], place));
  }

  /** What forgetting this repository would delete. */
  async forgetPreview(place: Place): Promise<Reply> {
    return said(await this.#run(["forget", "--preview"], place));
  }

  /** Forgets this repository. Only after the person agreed, having seen the preview. */
  async forget(place: Place): Promise<Reply> {
    return said(await this.#run(["forget", "--remote", "--yes"], place));
  }

  async status(place: Place, json = false): Promise<Reply> {
    return said(await this.#run(["status", ...(json ? ["--json"] : [])], place));
  }

  async pause(place: Place): Promise<Reply> {
    return said(await this.#run(["pause"], place));
  }

  async resume(place: Place): Promise<Reply> {
    return said(await this.#run(["resume"], place));
  }

  /** The people, projects and sessions memories here are filed under, with how many each has. */
  async entities(place: Place): Promise<Reply> {
    const listed = await this.#run(["list", "--json", "--page-size", String(PAGE_SIZE)], place);
    const reply = said(listed);
    if (reply.isError) return reply;
    const counts = new Map<string, number>();
    for (const memory of results(listed.stdout)) {
      for (const [type, key] of [["user", "user_id"], ["agent", "agent_id"], ["app", "app_id"], ["run", "run_id"]] as const) {
        const id = memory[key];
        if (typeof id === "string" && id) counts.set(`${type}\n${id}`, (counts.get(`${type}\n${id}`) ?? 0) + 1);
      }
    }
    const entities = [...counts].map(([key, total_memories]) => {
      const [type, name] = key.split("\n");
      return { type, name, total_memories };
    });
    return { text: JSON.stringify({ results: entities }), isError: false };
  }

  /** Deletes every memory of one session. */
  async removeRun(runId: string, place: Place): Promise<Reply> {
    const rows = found(await this.#run(["list", "--json", "--page-size", String(PAGE_SIZE), "--filter", JSON.stringify({ run_id: runId })], place));
    return Array.isArray(rows) ? this.remove(rows.map(({ id }) => id), place) : rows;
  }

  /** Tells whether what a receipt stands for is stored. */
  async event(id: string, place: Place): Promise<Reply> {
    return said(await this.#run(["event", "--json", "--", id], place));
  }

  /** Shows how far a search reaches, or sets it. */
  async searchScope(scope: string | undefined, place: Place): Promise<Reply> {
    return said(await this.#run(scope ? ["config", "set", SCOPE_KEY, scope] : ["config", "get", SCOPE_KEY], place));
  }

  /** Runs a command of the binary for this host. */
  run(args: string[], place: Place, input?: string): Promise<Ended> {
    return this.#run(args, place, input);
  }

  #run(args: string[], { cwd, signal }: Place, input?: string): Promise<Ended> {
    return this.#memory.command(["--harness", this.#memory.host, ...args], { cwd, signal, ...(input === undefined ? {} : { input }) });
  }
}

/**
 * Refuses identities other than the one the binary works with, so that a model cannot reach another user's or project's
 * memories: returns why, or `undefined` when nothing was named or it is the same.
 */
export async function widened(requests: Requests, named: Record<string, unknown>, place: Place): Promise<Reply | undefined> {
  const wanted = Object.entries(named).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "");
  if (wanted.length === 0) return undefined;
  const status = await requests.status(place, true);
  if (status.isError) return status;
  const own = parsed(status.text);
  for (const [key, value] of wanted) {
    const allowed = { user_id: ["user_id"], app_id: ["app_id", "repo_id", "project_id"], agent_id: ["project_id", "app_id"] }[key] ?? [];
    if (!allowed.some((name) => own[name] === value)) {
      return wrong(`${key} ${JSON.stringify(value)} is not this session's: a tool cannot reach another's memories. Leave it out.`);
    }
  }
  return undefined;
}

export function wrong(text: string): Reply {
  return { text, isError: true };
}

/** A non-empty text among a tool's arguments. */
export function textArg(args: Record<string, unknown>, key: string): string | undefined {
  const value = args[key];
  return typeof value === "string" && value.trim() ? value : undefined;
}

function searchArgs(query: string, place: Place, how: SearchHow): { args: string[] } | Reply {
  const args = ["search"];
  const topK = whole(how.topK, 1, 20);
  if (topK !== undefined) args.push("--top-k", String(topK));
  if (typeof how.category === "string" && how.category) args.push("--category", how.category);
  switch (how.scope) {
    case undefined: case null: case "": case "project": case "repo": case "all": case "long-term": break;
    case "dir": case "mine": args.push("--scope", how.scope); break;
    case "session":
      if (!place.sessionId) return wrong("This session has no id to search by.");
      args.push("--run-id", place.sessionId);
      break;
    case "global": return wrong("A tool cannot search beyond this project. Search scope is set with `mem0-code config set`.");
    default: return wrong(`There is no scope ${JSON.stringify(how.scope)}.`);
  }
  if (how.json) args.push("--json");
  return { args: [...args, "--", query] };
}

function found(ended: Ended): Found[] | Reply {
  const reply = said(ended);
  if (reply.isError) return reply;
  return results(ended.stdout).flatMap((row) =>
    typeof row["id"] === "string" && typeof row["memory"] === "string" ? [{ id: row["id"], memory: row["memory"] }] : [],
  );
}

function results(stdout: string): Record<string, unknown>[] {
  const rows = parsed(stdout)["results"];
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function whole(value: unknown, least: number, most: number): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Math.min(most, Math.max(least, Math.trunc(value)));
}
