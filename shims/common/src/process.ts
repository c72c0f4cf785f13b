// One run of the binary: bounded in time and in what it may print, never an exception.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";

export interface Run {
  args: string[];
  cwd?: string | undefined;
  input?: string | undefined;
  limitMs: number;
  maxBytes?: number;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal | undefined;
}

export interface Ended {
  /** Exit status; `null` when it could not be started or was ended by us or a signal. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Whether it was ended by us. */
  isLate: boolean;
  /** Why it could not be started. */
  failure?: string;
}

/** Most bytes of standard output that are kept by default. */
const MAX_BYTES = 1024 * 1024;
/** Most characters of standard error that are kept. */
const MAX_ERROR_CHARS = 4_000;

/** Runs the binary in a process group of its own, so that a Ctrl-C meant for the host does not break off its work. */
export function run(binary: string, how: Run): Promise<Ended> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(binary, how.args, {
        cwd: how.cwd, env: how.env ?? process.env, detached: process.platform !== "win32", windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
    } catch (error) {
      resolve({ code: null, stdout: "", stderr: "", isLate: false, failure: String(error) });
      return;
    }
    const maxBytes = how.maxBytes ?? MAX_BYTES;
    const chunks: Buffer[] = [];
    let nBytes = 0;
    let stderr = "";
    let isOver = false;
    const finish = (code: number | null, isLate: boolean, failure?: string) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      how.signal?.removeEventListener("abort", abort);
      // A grandchild may hold the pipes open: nothing of it is waited for.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      const ended: Ended = { code, stdout: Buffer.concat(chunks).toString("utf8"), stderr, isLate };
      resolve(failure === undefined ? ended : { ...ended, failure });
    };
    const stop = (isLate: boolean) => {
      endGroup(child);
      finish(null, isLate);
    };
    const abort = () => stop(false);
    const timer = setTimeout(() => stop(true), how.limitMs);
    how.signal?.addEventListener("abort", abort, { once: true });
    child.on("error", (error) => finish(null, false, error.message));
    child.on("close", (code) => finish(code, false));
    child.stdout?.on("data", (chunk: Buffer) => {
      nBytes += chunk.length;
      if (nBytes > maxBytes) stop(false);
      else chunks.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (stderr.length < MAX_ERROR_CHARS) stderr += chunk.toString("utf8");
    });
    child.stdin?.on("error", () => {});
    child.stdin?.end(how.input ?? "");
    if (how.signal?.aborted) abort();
  });
}

/**
 * Runs the binary and waits: for the last moment of a host, where nothing asynchronous would still run. Tells whether it
 * ended by itself.
 */
export function runSync(binary: string, how: Run): boolean {
  try {
    const ended = spawnSync(binary, how.args, {
      cwd: how.cwd, env: how.env ?? process.env, input: how.input ?? "", timeout: how.limitMs, killSignal: "SIGKILL",
      stdio: ["pipe", "ignore", "ignore"], windowsHide: true,
    });
    return ended.error === undefined;
  } catch {
    return false;
  }
}

function endGroup(child: ChildProcess): void {
  try {
    if (process.platform !== "win32" && child.pid) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // Already gone.
  }
}
