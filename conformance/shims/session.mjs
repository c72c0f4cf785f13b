// One run in one lab: the packed packages in their hosts, and sessions.

import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { packHost } from '../../shims/scripts/pack.mjs';
import { hostCache } from '../hosts.mjs';
import { fences } from '../conversation.mjs';
import { Product } from '../product.mjs';
import { expect } from '../suite.mjs';

export class ShimRun {
  #count = 0;

  constructor({ suite, lab, hosts, binary }) {
    Object.assign(this, { suite, lab, hosts, binary });
    this.product = new Product(lab, binary);
    const folders = hosts.flatMap((host) => [host.nodeBin, host.bin]).filter(Boolean);
    lab.path = [...new Set(folders), process.env.PATH].join(':');
  }

  /** Puts the binary where packages look for it. */
  placeBinary() {
    mkdirSync(join(this.lab.mem0Dir, 'bin'), { recursive: true, mode: 0o700 });
    copyFileSync(this.binary, join(this.lab.mem0Dir, 'bin', 'mem0-code'));
    chmodSync(join(this.lab.mem0Dir, 'bin', 'mem0-code'), 0o755);
  }

  /** Packs the host's package as npm would publish it and gives it to the host; returns the unpacked folder. */
  async put(host) {
    const archive = packHost(host.id, join(this.lab.root, 'packed'), { withPlatforms: false });
    const folder = join(this.lab.root, 'package', host.id);
    mkdirSync(folder, { recursive: true });
    const done = await this.lab.run(['tar', 'xzf', archive, '--strip-components=1', '-C', folder]);
    expect(done.code === 0, 'the package cannot be unpacked', done.stderr);
    this.#prepare(host);
    await host.put(this.lab, host, folder);
    return folder;
  }

  /** One session. Fails unless the host ended well and the script was used up. */
  async talk(host, { cwd, prompt, steps = [{ text: 'Done.' }], resume = false, limitMs, args, env = {}, mayFail = false }) {
    const { lab } = this;
    const name = `${host.id}-${++this.#count}`;
    lab.model.begin(name, steps);
    const argv = host.argv(host.installed, { prompt, resume, lab, cwd, args });
    const done = await lab.run(argv, { cwd, limitMs: limitMs ?? host.limitMs ?? 120_000, env: { ...host.env(lab), ...env } });
    writeFileSync(join(lab.root, `${name}.out`), `${done.stdout}\n--- stderr\n${done.stderr}`);
    this.#keepConfig(host);
    const session = { ...done, name, requests: lab.model.of(name), stepsLeft: lab.model.left };
    const seen = () => `exit ${done.code}\nstdout: ${done.stdout.slice(-1500)}\nstderr: ${done.stderr.slice(-1500)}`;
    if (!mayFail) {
      expect(!done.timedOut, `${host.id} did not end in time`, seen);
      expect(done.code === 0, `${host.id} exits with ${done.signal ?? done.code}`, seen);
      expect(session.stepsLeft === 0, `${session.stepsLeft} steps of the script were not taken`, seen);
    }
    // Requests that offer no tools are titles and summaries.
    session.main = session.requests.filter((request) => (request.body.tools ?? []).length > 0);
    expect(mayFail || session.main.length > 0, `${host.id} asked the model nothing`, seen);
    return session;
  }

  async settle(host) {
    const open = await this.product.unsettled(host, { timers: true });
    expect(!open, 'the worker did not finish in time', open);
  }

  /** Processes of this lab, as lines of `ps`; `worker`s may outlive a host. */
  async processes(pattern) {
    const { stdout } = await this.lab.run(['ps', '-Ao', 'pid=,ppid=,args='], { limitMs: 10_000 });
    return stdout.split('\n').filter((line) => line.includes(this.lab.root) && pattern.test(line));
  }

  // OpenCode installs its plugin types from the registry before its first request: what one run installed is kept for the
  // next, so that only the very first one needs the registry.
  #config(host) {
    return { kept: join(hostCache(), `${host.id}-${host.version}-config`), config: join(this.lab.home, '.config', 'opencode') };
  }

  #prepare(host) {
    const { kept, config } = this.#config(host);
    if (host.id !== 'opencode' || !existsSync(kept)) return;
    for (const name of readdirSync(kept)) cpSync(join(kept, name), join(config, name), { recursive: true, verbatimSymlinks: true });
  }

  #keepConfig(host) {
    const { kept, config } = this.#config(host);
    if (host.id !== 'opencode' || existsSync(kept) || !existsSync(join(config, 'node_modules'))) return;
    const staging = `${kept}.${process.pid}.part`;
    for (const name of readdirSync(config).filter((one) => one !== 'opencode.json')) {
      cpSync(join(config, name), join(staging, name), { recursive: true, verbatimSymlinks: true });
    }
    if (existsSync(staging) && !existsSync(kept)) renameSync(staging, kept);
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The blocks of memory in a request. */
export const blocks = (request) => (request ? fences(request) : []);
