// mem0-code as the checks see it: the binary, what it stored for each host, and whether its work is done.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { until } from './lab.mjs';
import { readTable } from './sqlite.mjs';

/** How long a detached worker may take after its host has gone, in milliseconds. */
export const WORKER_LIMIT_MS = 30_000;

const FINAL = ['semantic-succeeded', 'explicitly-stored', 'gave-up'];

/** The binary under test in one lab. */
export class Product {
  constructor(lab, binary) {
    this.lab = lab;
    this.binary = binary;
  }

  /** Runs `mem0-code ARGS…`. */
  cli(args, how = {}) {
    return this.lab.run([this.binary, ...args], { limitMs: 30_000, ...how });
  }

  /** The folder that holds a host's evidence. */
  folder(host) {
    const data = host.id === 'codex' ? join(this.lab.codexHome, 'plugins', 'data') : join(this.lab.home, '.claude', 'plugins', 'data');
    const own = existsSync(data) ? readdirSync(data).filter((name) => name.startsWith('mem0-')).map((name) => join(data, name)) : [];
    const places = [join(this.lab.mem0Dir, `${host.id}-plugin`), ...own];
    return places.find((place) => existsSync(join(place, 'evidence.sqlite3'))) ?? places[0];
  }

  /** Evidence rows of a host, oldest first, each with its payload parsed. */
  events(host) {
    return readTable(join(this.folder(host), 'evidence.sqlite3'), 'events').map((row) => ({ ...row, payload: JSON.parse(row.payload_json) }));
  }

  /** Id of the newest evidence row, to tell later what a session added. */
  mark(host) {
    return this.events(host).at(-1)?.id ?? 0;
  }

  /** Evidence rows newer than a mark, optionally of some kinds. */
  since(host, mark, ...kinds) {
    return this.events(host).filter((row) => row.id > mark && (kinds.length === 0 || kinds.includes(row.kind)));
  }

  /** The same rows as lines, with the last lines of the logs, for the detail of a failure. */
  told(host, mark) {
    const lines = this.since(host, mark).map((row) => `${row.id} ${row.session_id.slice(-6)} ${row.kind} ${row.payload_json.slice(0, 240)}`);
    return [...lines, this.logs(host)].join('\n');
  }

  /** Batches of evidence handed to a worker, oldest first. */
  flushes(host) {
    return readTable(join(this.folder(host), 'evidence.sqlite3'), 'flushes');
  }

  /** Packets that wait or run, without the timers that only watch for an idle session unless these are asked for. */
  packets(host, { timers = false } = {}) {
    const folder = join(this.folder(host), 'pending');
    return existsSync(folder) ? readdirSync(folder).filter((name) => /\.(json|running|tmp)$/.test(name) && (timers || !name.startsWith('idle-'))) : [];
  }

  /**
   * Waits until no worker has anything left to do for this host; returns what is still open, or undefined. A host that
   * tells no end of a session leaves its last turn to the timer, so that `timers` has to be waited for there.
   */
  async unsettled(host, { limitMs = WORKER_LIMIT_MS, timers = false } = {}) {
    const open = () => {
      const packets = this.packets(host, { timers });
      const flushes = this.flushes(host).filter((row) => !FINAL.includes(row.status));
      return packets.length + flushes.length ? { packets, flushes, log: this.logs(host) } : undefined;
    };
    await until(() => !open(), limitMs);
    return open();
  }

  /** The last lines of a host's logs, for the detail of a failure. */
  logs(host) {
    return ['plugin-errors.log', 'flush-worker.log']
      .map((name) => join(this.folder(host), name))
      .filter((path) => existsSync(path))
      .map((path) => `${path}:\n${readFileSync(path, 'utf8').slice(-1500)}`)
      .join('\n');
  }

  /** Workers of this lab that still run, as lines of `ps`. */
  async workers() {
    const { stdout } = await this.lab.run(['ps', '-Ao', 'pid=,args='], { limitMs: 10_000 });
    return stdout.split('\n').filter((line) => line.includes(this.lab.root) && /\bworker\b/.test(line));
  }
}
