// The command line of `conformance/shims/run`.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { makeLab, until } from '../lab.mjs';
import { Skip, Suite } from '../suite.mjs';
import { scenario } from './checks.mjs';
import { cross } from './cross.mjs';
import { faults } from './faults.mjs';
import { handoff } from './handoff.mjs';
import { SHIM_HOSTS, installShimHost } from './hosts.mjs';
import { latency } from './latency.mjs';
import { packages } from './packages.mjs';
import { ShimRun } from './session.mjs';

const PARTS = { packages, story: scenario, handoff, faults, latency, cross };
/** Parts that are not about one host in one machine. */
const WHOLE = ['packages', 'cross'];

const USAGE = `Runs whole sessions of the hosts that load JavaScript with the packages of shims/ in them, offline, against a
scripted model.

  conformance/shims/run [options]

  --binary PATH   the mem0-code to test (default: target/release/mem0-code)
  --host HOST     only this host; may be repeated (${Object.keys(SHIM_HOSTS).join(', ')})
  --part PART     only this part; may be repeated (${Object.keys(PARTS).join(', ')})
  --report FILE   write the outcome as JSON
  --keep          keep the temporary machines and say where they are
  --list          print the checks, run nothing

Pinned hosts are installed from the npm registry into MEM0_CODE_HOST_CACHE (default ~/.cache/mem0-code/hosts); one that
cannot be installed is skipped. Exit: 0 all tried checks passed, 1 a check failed or none could be tried, 2 bad usage.`;

/** Idle sessions are flushed after this many seconds in a lab, so that every watcher ends within the run. */
const IDLE_S = '2';
/** How long the last worker of a lab may take, in milliseconds. */
const LAST_WORKER_MS = 20_000;

export async function main(argv) {
  let options;
  try {
    options = parseArgs({
      args: argv,
      options: {
        binary: { type: 'string' }, host: { type: 'string', multiple: true }, part: { type: 'string', multiple: true },
        report: { type: 'string' }, keep: { type: 'boolean' }, list: { type: 'boolean' }, help: { type: 'boolean', short: 'h' },
      },
    }).values;
    for (const id of options.host ?? []) if (!SHIM_HOSTS[id]) throw new Error(`no host ${id}; there are ${Object.keys(SHIM_HOSTS).join(', ')}`);
    for (const part of options.part ?? []) if (!PARTS[part]) throw new Error(`no part ${part}; there are ${Object.keys(PARTS).join(', ')}`);
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const binary = resolve(options.binary ?? fileURLToPath(new URL('../../target/release/mem0-code', import.meta.url)));
  if (!options.list && !existsSync(binary)) {
    console.error(`error: no binary at ${binary}\nhint: run \`cargo build --release\`, or name one with --binary`);
    return 1;
  }
  const suite = new Suite({ list: options.list });
  const ids = options.host ?? Object.keys(SHIM_HOSTS);
  const hosts = [];
  for (const host of ids.map((id) => SHIM_HOSTS[id])) {
    await suite.check('hosts', `${host.id}-${host.version}`, {}, () => {
      const found = installShimHost(host);
      if (found.reason) throw new Skip(found.reason);
      hosts.push({ ...host, ...found });
    });
  }
  if (options.list) hosts.push(...ids.map((id) => SHIM_HOSTS[id]));
  const parts = Object.entries(PARTS).filter(([name]) => !options.part || options.part.includes(name));
  const isWanted = (part) => hosts.length > 0 && parts.some(([name]) => name === part);
  if (isWanted('packages')) await packages(suite, hosts, options);
  for (const [, part] of parts.filter(([name]) => !WHOLE.includes(name))) {
    for (const host of hosts) await inLab(suite, [host], binary, options.keep, part);
  }
  if (isWanted('cross')) await inLab(suite, hosts, binary, options.keep, cross);
  return suite.finish(options.report, { binary, hosts: hosts.map(({ id, version }) => ({ id, version })) });
}

async function inLab(suite, hosts, binary, keep, part) {
  const lab = await makeLab({ keep, hosts });
  lab.extraEnv = { MEM0_CODE_IDLE_FLUSH_SECONDS: IDLE_S };
  const run = new ShimRun({ suite, lab, hosts, binary });
  try {
    await part(run);
  } finally {
    // Workers write until they are done; the machine is taken away after that.
    await until(async () => (await run.processes(/./)).length === 0, LAST_WORKER_MS, 500);
    await lab.close();
    if (keep) console.log(`kept: ${lab.root}`);
  }
}
