// The command line of `conformance/run`.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { scenario } from './checks.mjs';
import { HOSTS, installHost } from './hosts.mjs';
import { makeLab } from './lab.mjs';
import { Product } from './product.mjs';
import { probe } from './probe.mjs';
import { Skip, Suite } from './suite.mjs';
import { WAYS } from './ways.mjs';

const USAGE = `Runs whole sessions of real coding agents with mem0-code in them, offline, against a scripted model.

  conformance/run [options]

  --binary PATH   the mem0-code to test (default: target/release/mem0-code)
  --host HOST     only this host; may be repeated (${Object.keys(HOSTS).join(', ')})
  --way WAY       only this way of installing; may be repeated (${Object.keys(WAYS).join(', ')})
  --report FILE   write the outcome as JSON
  --keep          keep the temporary machines and say where they are
  --list          print the checks, run nothing
  --probe         learn facts about the hosts with a recorder; needs no mem0-code

Pinned hosts are installed from the npm registry into MEM0_CODE_HOST_CACHE (default ~/.cache/mem0-code/hosts);
one that cannot be installed is skipped. Exit: 0 all tried checks passed, 1 a check failed or none could be
tried, 2 bad usage.`;

/** Idle sessions are flushed after this many seconds in a lab, so that every watcher ends within the run. */
const IDLE_S = '2';

export async function main(argv) {
  let options;
  try {
    options = parseArgs({
      args: argv,
      options: {
        binary: { type: 'string' }, host: { type: 'string', multiple: true }, way: { type: 'string', multiple: true },
        report: { type: 'string' }, keep: { type: 'boolean' }, list: { type: 'boolean' }, probe: { type: 'boolean' }, help: { type: 'boolean', short: 'h' },
      },
    }).values;
    for (const id of options.host ?? []) if (!HOSTS[id]) throw new Error(`no host ${id}; there are ${Object.keys(HOSTS).join(', ')}`);
    for (const id of options.way ?? []) if (!WAYS[id]) throw new Error(`no way ${id}; there are ${Object.keys(WAYS).join(', ')}`);
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const ids = options.host ?? Object.keys(HOSTS);
  if (options.probe) {
    await probe(ids, options);
    return 0;
  }
  return conform(ids, options);
}

async function conform(ids, { binary, way: ways = Object.keys(WAYS), report, keep, list }) {
  const path = resolve(binary ?? fileURLToPath(new URL('../target/release/mem0-code', import.meta.url)));
  if (!list && !existsSync(path)) {
    console.error(`error: no binary at ${path}\nhint: run \`cargo build --release\`, or name one with --binary`);
    return 1;
  }
  const suite = new Suite({ list });
  const hosts = [];
  for (const host of ids.map((id) => HOSTS[id])) {
    await suite.check('hosts', `${host.id}-${host.version}`, {}, async () => {
      const { binary: installed, reason } = await installHost(host);
      if (!installed) throw new Skip(reason);
      hosts.push({ ...host, installed });
    });
  }
  if (list) hosts.push(...ids.map((id) => HOSTS[id]));
  for (const way of hosts.length ? ways : []) {
    // The second way also keeps its memory in a folder of its own, to see that every process finds it.
    const lab = await makeLab({ keep, hosts, mem0Dir: way === 'install' ? 'memory' : undefined });
    lab.extraEnv = { MEM0_CODE_IDLE_FLUSH_SECONDS: IDLE_S };
    try {
      await scenario({ suite, way, lab, hosts, binary: path, product: new Product(lab, path) });
    } finally {
      await lab.close();
      if (keep) console.log(`kept: ${lab.root}`);
    }
  }
  return suite.finish(report, { binary: path, hosts: hosts.map(({ id, version }) => ({ id, version })) });
}
