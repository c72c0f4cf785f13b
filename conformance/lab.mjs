// One throw-away machine: a temporary HOME with everything a host or mem0-code writes inside it, a clean
// environment, git projects, and processes that are bounded in time and ended by their own id.

import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startModel } from './model.mjs';

/** Longest a host session may take, in milliseconds; a scripted one takes seconds. */
export const SESSION_LIMIT_MS = 120_000;

/**
 * Makes a machine with a running model. `close()` ends the model and removes the folder unless `keep`. A `binary` is put
 * where packages' launchers look for it.
 */
export async function makeLab({ keep = false, hosts = [], mem0Dir, binary } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mem0-code-lab-')));
  const model = await startModel({ log: join(root, 'requests.jsonl') });
  const lab = new Lab(root, model, keep);
  if (mem0Dir) lab.mem0Dir = join(root, mem0Dir);
  if (binary) lab.place(binary);
  for (const host of hosts) host.configure(lab);
  return lab;
}

/** The machine. Paths are absolute; all lie below `root`. */
export class Lab {
  constructor(root, model, keep) {
    this.root = root;
    this.model = model;
    this.keep = keep;
    this.home = join(root, 'home');
    this.mem0Dir = join(this.home, '.mem0');
    this.codexHome = join(this.home, '.codex');
    this.temp = join(root, 'tmp');
    this.path = process.env.PATH;
    this.extraEnv = {};
    for (const folder of [this.home, this.temp]) mkdirSync(folder, { recursive: true });
    write(join(this.home, '.gitconfig'), '[user]\n\tname = dev\n\temail = dev@example.invalid\n[init]\n\tdefaultBranch = main\n');
  }

  /** Puts the binary where the packages' launchers look for it. */
  place(binary) {
    const path = join(this.mem0Dir, 'bin', 'mem0-code');
    mkdirSync(dirname(path), { recursive: true });
    copyFileSync(binary, path);
    chmodSync(path, 0o755);
  }

  /** The whole environment of a process here: nothing of the caller's but PATH. */
  env(extra = {}) {
    return {
      PATH: this.path,
      HOME: this.home,
      MEM0_DIR: this.mem0Dir,
      TMPDIR: this.temp,
      USER: 'dev',
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      NO_COLOR: '1',
      NO_PROXY: '127.0.0.1,localhost',
      ...this.extraEnv,
      ...extra,
    };
  }

  /** A git repository with one commit; `remote` becomes its origin. */
  async project(name, remote) {
    const path = join(this.root, 'work', name);
    mkdirSync(path, { recursive: true });
    write(join(path, 'README.md'), `# ${name}\n\nA small project.\n`);
    await this.git(path, 'init', '-q');
    await this.git(path, 'add', '-A');
    await this.git(path, 'commit', '-qm', 'start');
    if (remote) await this.git(path, 'remote', 'add', 'origin', remote);
    return path;
  }

  async git(cwd, ...args) {
    const done = await this.run(['git', ...args], { cwd, limitMs: 20_000 });
    if (done.code !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr.trim()}`);
    return done;
  }

  /**
   * Runs one process to its end, in its own process group.
   * `interruptWhen` is an async function; when it resolves, the group gets SIGINT, as Ctrl-C sends it.
   * @returns {Promise<{code, signal, stdout, stderr, seconds, timedOut}>}
   */
  async run(argv, { cwd = this.root, env = {}, input, limitMs = 60_000, interruptWhen } = {}) {
    const began = Date.now();
    const child = spawn(argv[0], argv.slice(1), {
      cwd, env: this.env(env), detached: true, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const out = { stdout: '', stderr: '', timedOut: false };
    child.stdout.on('data', (chunk) => (out.stdout += chunk));
    child.stderr.on('data', (chunk) => (out.stderr += chunk));
    if (input !== undefined) {
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    }
    let ended = false;
    const timers = [
      setTimeout(() => { out.timedOut = true; signalGroup(child.pid, 'SIGTERM'); }, limitMs),
      setTimeout(() => signalGroup(child.pid, 'SIGKILL'), limitMs + 5_000),
    ];
    if (interruptWhen) interruptWhen().then(() => ended || signalGroup(child.pid, 'SIGINT'), () => {});
    const [code, signal] = await new Promise((done) => {
      child.once('error', (error) => { out.stderr += error.message; done([null, null]); });
      // "exit", with a moment for the pipes: a grandchild that keeps stdout open must not hold us up.
      child.once('exit', async (...result) => {
        await Promise.race([new Promise((closed) => child.once('close', closed)), sleep(1_000)]);
        done(result);
      });
    });
    ended = true;
    timers.forEach(clearTimeout);
    child.stdout.destroy();
    child.stderr.destroy();
    return { code, signal, ...out, seconds: (Date.now() - began) / 1000 };
  }

  /** Runs one session of a host under the given script and returns it with the model requests it made. */
  async session(host, { name, cwd, steps, limitMs = SESSION_LIMIT_MS, interruptWhen, env = {}, ...how }) {
    this.model.begin(name, steps);
    const done = await this.run(host.argv(host.installed, how), {
      cwd, limitMs, interruptWhen, env: { ...host.env(this), ...env },
    });
    writeFileSync(join(this.root, `${name}.out`), `${done.stdout}\n--- stderr\n${done.stderr}`);
    return { ...done, name, requests: this.model.of(name), stepsLeft: this.model.left };
  }

  /** Copies everything hosts and mem0-code keep, and returns a function that puts it back. */
  snapshot() {
    const kept = mkdtempSync(join(this.root, 'snapshot-'));
    const parts = [this.home, this.mem0Dir].filter((path, index, all) => existsSync(path) && !(index && path.startsWith(all[0] + sep)));
    const copy = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: (path) => !lstatSync(path).isSocket() };
    parts.forEach((path, index) => cpSync(path, join(kept, String(index)), copy));
    return () => parts.forEach((path, index) => {
      rmSync(path, { recursive: true, force: true });
      cpSync(join(kept, String(index)), path, copy);
    });
  }

  async close() {
    await this.model.close();
    if (!this.keep) rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Writes a file, with its folders; `mode` is an octal permission. */
export function write(path, content, mode) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  if (mode) chmodSync(path, mode);
}

/** Polls `test` until it gives something true or `limitMs` is over; returns what it gave last. */
export async function until(test, limitMs, stepMs = 100) {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await test();
    if (value || Date.now() >= end) return value;
    await sleep(stepMs);
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // already gone
  }
}
