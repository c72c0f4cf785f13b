// A stand-in for the binary that writes down every call, and answers as its test says.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Call {
  event: string;
  payload: Record<string, any>;
}

export class Fake {
  readonly folder = mkdtempSync(join(tmpdir(), "shim-fake-"));
  readonly #log = join(this.folder, "calls");
  readonly #before = process.env["MEM0_CODE_BIN"];

  /** Answers an event's name with a context; commands print `reply`. */
  constructor(answers: Record<string, string> = {}, reply = "done") {
    const cases = Object.entries(answers).map(([event, context]) => `${event}) echo '${JSON.stringify({ context })}';;`).join("\n");
    const program = join(this.folder, "mem0-code");
    writeFileSync(program, `#!/bin/sh
if [ "$1" = hook ]; then
  payload=$(cat)
  printf '%s\\t%s\\n' "$3" "$payload" >> '${this.#log}'
  case "$3" in
  ${cases}
  *) ;;
  esac
else
  printf 'command\\t{"args":"%s"}\\n' "$*" >> '${this.#log}'
  echo '${reply}'
fi
`);
    chmodSync(program, 0o755);
    process.env["MEM0_CODE_BIN"] = program;
  }

  get calls(): Call[] {
    if (!existsSync(this.#log)) return [];
    return readFileSync(this.#log, "utf8").trim().split("\n").filter(Boolean).map((line) => {
      const [event, payload] = line.split("\t") as [string, string];
      return { event, payload: JSON.parse(payload) as Record<string, unknown> };
    });
  }

  get events(): string[] {
    return this.calls.map(({ event }) => event);
  }

  of(event: string): Record<string, any>[] {
    return this.calls.filter((call) => call.event === event).map(({ payload }) => payload);
  }

  /** Waits until so many calls were made, at most two seconds. */
  async settled(count: number): Promise<void> {
    for (let round = 0; round < 100 && this.calls.length < count; round++) await new Promise((done) => setTimeout(done, 20));
  }

  close(): void {
    if (this.#before === undefined) delete process.env["MEM0_CODE_BIN"];
    else process.env["MEM0_CODE_BIN"] = this.#before;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
