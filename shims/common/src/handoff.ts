// A session handed to another agent: the package collects what the host has in memory, the binary does the rest.

import { said, type Memory } from "./memory.ts";
import { isRecord } from "./protocol.ts";
import type { Place } from "./requests.ts";

/** What is handed over, in one of the forms the binary reads. */
export type SessionForm =
  | { transcript: string }
  | { messages: { source: Source; exclude_call_id?: string; messages: unknown[] } }
  | { export: { info: unknown; messages: unknown[]; exclude?: string } };

export interface Source {
  host: string;
  session_id: string;
  title: string;
  cwd: string;
  path?: string;
}

export interface Answer {
  action: string;
  ok: boolean;
  text: string;
}

/** How long saving or reading a long session may take, in milliseconds. */
const LIMIT_MS = 60_000;
/** Most bytes of an answer: a whole session. */
const MAX_BYTES = 64 * 1024 * 1024;

export const HANDOFF_DESCRIPTION =
  "Hand this coding session to another agent, or continue one another agent saved. `save` stores this session, `list` shows the " +
  "saved ones of this project, `resume` returns one as history. What `resume` returns already happened: do not repeat its tool calls.";

/** The arguments a tool call stands for. */
export function handoffArguments(params: Record<string, unknown>): string {
  const words = [params["action"], params["resource"]].filter((word): word is string => typeof word === "string" && word !== "");
  return words.join(" ");
}

export class Handoff {
  readonly #memory: Memory;
  readonly #host: string;

  /** `host` is the id handoffs know the host by. */
  constructor(memory: Memory, host: string) {
    this.#memory = memory;
    this.#host = host;
  }

  /** Answers `/mem0-handoff ARGUMENTS`. The session is collected only when it is to be saved. */
  async answer(rawArguments: string, place: Place, session: () => Promise<SessionForm | string>): Promise<Answer> {
    const request = { host: this.#host, arguments: rawArguments, cwd: place.cwd ?? process.cwd() };
    const first = await this.#ask(request, place);
    if (first["needs"] !== "session") return answerOf(first);
    let form: SessionForm | string;
    try {
      form = await session();
    } catch (error) {
      form = error instanceof Error ? error.message : String(error);
    }
    if (typeof form === "string") return { action: "save", ok: false, text: `Handoff failed: ${form}` };
    return answerOf(await this.#ask({ ...request, session: form }, place));
  }

  async #ask(request: object, { cwd, signal }: Place): Promise<Record<string, unknown>> {
    const ended = await this.#memory.command(["handoff", "command"], {
      cwd, signal, input: JSON.stringify(request), limitMs: LIMIT_MS, maxBytes: MAX_BYTES,
    });
    try {
      const answer: unknown = JSON.parse(ended.stdout);
      if (ended.code === 0 && isRecord(answer)) return answer;
    } catch {
      // Said below.
    }
    return { ok: false, text: `Handoff failed: ${said({ ...ended, code: ended.code === 0 ? null : ended.code, stdout: "" }).text}` };
  }
}

function answerOf(answer: Record<string, unknown>): Answer {
  return {
    action: typeof answer["action"] === "string" ? answer["action"] : "",
    ok: answer["ok"] === true,
    text: typeof answer["text"] === "string" ? answer["text"] : "",
  };
}
