// The package's side of the protocol: events in the order of each session, commands, and never an exception.

import { findBinary } from "./binary.ts";
import { run, runSync, type Ended } from "./process.ts";
import { isRecord, type EventName, type Payload } from "./protocol.ts";

export interface Options {
  host: string;
  /** `import.meta.url` of the package's entry. */
  from: string;
  /** The binary as set in the host's own settings. */
  binary?: string | undefined;
  env?: NodeJS.ProcessEnv;
}

/** How long a host waits for an event, in milliseconds. A native hook answers in a few. */
const LIMIT_MS: Record<EventName, number> = {
  "session-start": 2_000,
  prompt: 3_000,
  reminder: 2_000,
  tool: 2_000,
  "turn-end": 2_000,
  "pre-compact": 2_000,
  "session-end": 1_500,
};
/** How long a command may take, in milliseconds. */
const COMMAND_LIMIT_MS = 30_000;
/** After a binary hung, or could not be started, the host is left alone for so long. */
const REST_MS = 60_000;
/** How long a missing binary counts as missing. */
const MISSING_MS = 10_000;
/** Events of one session that may wait. */
const MAX_WAITING = 200;

export class Memory {
  readonly host: string;
  readonly #options: Options;
  readonly #sessions = new Map<string, Promise<unknown>>();
  readonly #nWaiting = new Map<string, number>();
  #binary: string | undefined;
  #lookedAt = -Infinity;
  #restUntil = -Infinity;

  constructor(options: Options) {
    this.host = options.host;
    this.#options = options;
  }

  /** The binary; looked for again while there is none, so that installing it needs no restart. */
  get binary(): string | undefined {
    if (this.#binary === undefined && now() - this.#lookedAt > MISSING_MS) {
      const { from, binary, env } = this.#options;
      this.#lookedAt = now();
      this.#binary = findBinary({ from, env: env ?? process.env, setting: binary });
    }
    return this.#binary;
  }

  /**
   * Tells an event and returns the context to inject, empty when there is none. Events of one session reach the binary
   * one after another. Never rejects and never takes longer than the event's limit once it is its turn.
   */
  tell(event: EventName, payload: Payload): Promise<string> {
    const id = payload.session_id;
    const nWaiting = this.#nWaiting.get(id) ?? 0;
    if (nWaiting >= MAX_WAITING) return Promise.resolve("");
    this.#nWaiting.set(id, nWaiting + 1);
    const told = (this.#sessions.get(id) ?? Promise.resolve()).then(() => this.#hook(event, payload)).catch(() => "");
    const over = told.then(() => {
      const left = (this.#nWaiting.get(id) ?? 1) - 1;
      if (left > 0) this.#nWaiting.set(id, left);
      else {
        this.#nWaiting.delete(id);
        this.#sessions.delete(id);
      }
    });
    this.#sessions.set(id, over);
    return told;
  }

  /** Tells an event at the host's very end, where nothing asynchronous would still run. */
  tellNow(event: EventName, payload: Payload): void {
    const binary = this.#isResting() ? undefined : this.binary;
    if (!binary) return;
    const how = { args: ["hook", this.host, event], input: JSON.stringify(payload), limitMs: LIMIT_MS[event], ...this.#env() };
    if (!runSync(binary, how)) this.#rest();
  }

  /** Resolves when every event told so far has been dealt with. */
  async settled(): Promise<void> {
    await Promise.all(this.#sessions.values());
  }

  /** Runs `mem0-code ARGS…` in a folder. */
  async command(args: string[], how: { cwd?: string | undefined; input?: string; limitMs?: number; maxBytes?: number; signal?: AbortSignal | undefined } = {}): Promise<Ended> {
    const binary = this.binary;
    if (!binary) return { code: null, stdout: "", stderr: "", isLate: false, failure: MISSING };
    return run(binary, { args, limitMs: COMMAND_LIMIT_MS, ...how, ...this.#env() });
  }

  async #hook(event: EventName, payload: Payload): Promise<string> {
    const binary = this.#isResting() ? undefined : this.binary;
    if (!binary) return "";
    const ended = await run(binary, {
      args: ["hook", this.host, event], input: JSON.stringify(payload), limitMs: LIMIT_MS[event], ...this.#env(),
    });
    if (ended.isLate || ended.failure !== undefined) {
      this.#rest();
      return "";
    }
    return ended.code === 0 ? contextOf(ended.stdout) : "";
  }

  /** Leaves a binary that hung or could not be started alone; it may be replaced, so it is looked for again afterwards. */
  #rest(): void {
    this.#binary = undefined;
    this.#restUntil = now() + REST_MS;
  }

  #isResting(): boolean {
    return now() < this.#restUntil;
  }

  #env(): { env?: NodeJS.ProcessEnv } {
    return this.#options.env ? { env: this.#options.env } : {};
  }
}

/** Said where a person or a model asks for something and there is no binary. */
export const MISSING = "mem0-code is not installed on this machine. Install it, or set MEM0_CODE_BIN to the program.";

/** What a command printed, or why there is nothing; `isError` tells which. */
export function said(ended: Ended): { text: string; isError: boolean } {
  if (ended.failure !== undefined) return { text: ended.failure, isError: true };
  if (ended.isLate) return { text: "mem0-code did not answer in time.", isError: true };
  const text = ended.stdout.trim();
  if (ended.code === 0) return { text: text || "Done.", isError: false };
  return { text: [text, ended.stderr.trim()].filter(Boolean).join("\n") || `mem0-code ended with status ${ended.code}.`, isError: true };
}

function contextOf(stdout: string): string {
  if (!stdout.trim()) return "";
  try {
    const answer: unknown = JSON.parse(stdout);
    return isRecord(answer) && typeof answer["context"] === "string" ? answer["context"] : "";
  } catch {
    return "";
  }
}

function now(): number {
  return performance.now();
}
