// The command line of `conformance/run`.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { ANSWERS } from './answers.mjs';
import { scenario } from './checks.mjs';
import { HOSTS, installHost } from './hosts.mjs';
import { makeLab } from './lab.mjs';
import { live } from './live.mjs';
import { offline } from './offline.mjs';
import { packages } from './packages.mjs';
import { Product } from './product.mjs';
import { probe } from './probe.mjs';
import { servers } from './servers.mjs';
import { SHIM_HOSTS, installShimHost } from './shims/hosts.mjs';
import { Skip, Suite } from './suite.mjs';
import { WAYS } from './ways.mjs';
import { wired } from './wired.mjs';

/** The groups, in the order they run. */
const GROUPS = {
  packages: 'the committed packages: current, valid, the same bytes twice, damage named',
  offline: 'payloads of every host, and answers exactly as each takes them',
  mcp: "each package's MCP server, started as its host starts it",
  hosts: 'whole sessions of the real hosts, with mem0-code put into them in every way a user can',
  wired: '`mem0-code install` for the real hosts that load JavaScript',
  shims: "the JavaScript hosts' packages, in whole sessions; needs `npm ci` in shims/, and only when asked for",
  'live-platform': 'the hosted Platform, with the key in MEM0_API_KEY; only when asked for',
};
const LIVE = 'live-platform';
/** Groups that run only when they are named: one spends somebody's quota, one takes a workspace and a quarter of an hour. */
const NAMED = [LIVE, 'shims'];

const USAGE = `Shows that mem0-code does what its hosts need, from single payloads to whole sessions of real coding agents
against a scripted model. Everything but ${LIVE} runs offline once the hosts are installed.

  conformance/run [options]

  --binary PATH        the mem0-code to test (default: target/release/mem0-code)
  --group GROUP        only this group; may be repeated (all, ${Object.keys(GROUPS).join(', ')})
  --live               ${LIVE} as well
  --host HOST          only this host; may be repeated
  --way WAY            only this way of installing; may be repeated (${Object.keys(WAYS).join(', ')})
  --report FILE        write the outcome as JSON
  --artifacts-dir DIR  build the packages there and keep them
  --keep               keep the temporary machines and say where they are
  --list               print the checks, run nothing
  --probe              learn facts about the hosts with a recorder; needs no mem0-code

${Object.entries(GROUPS).map(([name, text]) => `  ${name.padEnd(15)}${text}`).join('\n')}

Pinned hosts (${[...Object.keys(HOSTS), ...Object.keys(SHIM_HOSTS)].join(', ')}) are installed from the npm registry into MEM0_CODE_HOST_CACHE (default
~/.cache/mem0-code/hosts); one that cannot be installed is skipped. Exit: 0 all tried checks passed, 1 a check failed
or none could be tried, 2 bad usage.`;

/** Hosts with checks that need no installed host. */
const COMMAND_HOSTS = [...Object.keys(ANSWERS), 'portable'];

/** Idle sessions are flushed after this many seconds in a lab, so that every watcher ends within the run. */
const IDLE_S = '2';

export async function main(argv) {
  let options;
  try {
    options = parseArgs({
      args: argv,
      options: {
        binary: { type: 'string' }, host: { type: 'string', multiple: true }, way: { type: 'string', multiple: true },
        group: { type: 'string', multiple: true }, live: { type: 'boolean' }, 'artifacts-dir': { type: 'string' },
        report: { type: 'string' }, keep: { type: 'boolean' }, list: { type: 'boolean' }, probe: { type: 'boolean' }, help: { type: 'boolean', short: 'h' },
      },
    }).values;
    const known = [...new Set([...Object.keys(HOSTS), ...Object.keys(SHIM_HOSTS), ...COMMAND_HOSTS])];
    for (const id of options.host ?? []) if (!known.includes(id)) throw new Error(`no host ${id}; there are ${known.join(', ')}`);
    for (const id of options.way ?? []) if (!WAYS[id]) throw new Error(`no way ${id}; there are ${Object.keys(WAYS).join(', ')}`);
    for (const id of options.group ?? []) if (id !== 'all' && !GROUPS[id]) throw new Error(`no group ${id}; there are all, ${Object.keys(GROUPS).join(', ')}`);
    const groups = chosen(options);
    if (groups.includes(LIVE) && !options.list && !process.env.MEM0_API_KEY) throw new Error(`MEM0_API_KEY is required for ${LIVE}`);
    options.groups = groups;
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const ids = Object.keys(HOSTS).filter((id) => !options.host || options.host.includes(id));
  if (options.probe) {
    await probe(ids, options);
    return 0;
  }
  return conform(ids, options);
}

/** Which groups are meant: those named, and without names or with `all` every one that need not be. */
function chosen({ group = [], live: isLive }) {
  const isAll = group.length === 0 || group.includes('all');
  const isMeant = (name) => (NAMED.includes(name) ? group.includes(name) : isAll || group.includes(name));
  return Object.keys(GROUPS).filter((name) => (name === LIVE && isLive) || isMeant(name));
}

async function conform(ids, { binary, groups, host: only, way: ways = Object.keys(WAYS), report, keep, list, 'artifacts-dir': artifacts }) {
  const path = resolve(binary ?? fileURLToPath(new URL('../target/release/mem0-code', import.meta.url)));
  if (!list && !existsSync(path)) {
    console.error(`error: no binary at ${path}\nhint: run \`cargo build --release\`, or name one with --binary`);
    return 1;
  }
  const suite = new Suite({ list });
  const inLab = async (how, body) => {
    const lab = await makeLab({ keep, ...how });
    try {
      await body({ suite, lab, product: new Product(lab, path), binary: path, only });
    } finally {
      await lab.close();
      if (keep) console.log(`kept: ${lab.root}`);
    }
  };
  const parts = {
    packages: () => inLab({}, (run) => packages({ ...run, artifacts: resolve(artifacts ?? join(run.lab.root, 'artifacts')) })),
    offline: () => inLab({}, offline),
    mcp: () => inLab({ binary: path }, servers),
    hosts: () => realHosts({ suite, ids, ways, list, inLab }),
    wired: () => shimHosts({ suite, only, list, inLab, prefix: 'wired' }, wired),
    shims: () => shims({ suite, only, list, inLab }),
    [LIVE]: () => inLab({}, live),
  };
  const hosts = [];
  for (const group of groups) hosts.push(...((await parts[group]()) ?? []));
  return suite.finish(report, { binary: path, hosts: hosts.map(({ id, version }) => ({ id, version })) });
}

/** Installs the hosts and tells the story once for each way of putting mem0-code into them. */
async function realHosts({ suite, ids, ways, list, inLab }) {
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
    await inLab({ hosts, mem0Dir: way === 'install' ? 'memory' : undefined }, (run) => {
      run.lab.extraEnv = { MEM0_CODE_IDLE_FLUSH_SECONDS: IDLE_S };
      return scenario({ ...run, way, hosts });
    });
  }
  return hosts;
}

/** The packages of `shims/`, packed as npm would, which takes that workspace's tools. */
async function shims(how) {
  let parts;
  await how.suite.check('shims', 'workspace', {}, async () => {
    try {
      parts = [await import('./shims/checks.mjs'), await import('./shims/session.mjs')];
    } catch (error) {
      throw new Skip(`run \`npm ci\` in shims/ first: ${error.message}`);
    }
  });
  if (!parts && !how.list) return [];
  const [{ scenario: story }, { ShimRun }] = parts ?? [{}, {}];
  return how.list ? [] : shimHosts({ ...how, prefix: 'shims' }, (run) => story(new ShimRun(run)));
}

/** Installs each host that loads JavaScript and runs one story in it, in a lab of its own. */
async function shimHosts({ suite, only, list, inLab, prefix }, story) {
  const hosts = [];
  for (const host of Object.values(SHIM_HOSTS).filter(({ id }) => !only || only.includes(id))) {
    let found = {};
    await suite.check(prefix, `${host.id}-${host.version}`, {}, () => {
      found = installShimHost(host);
      if (found.reason) throw new Skip(found.reason);
    });
    if (found.reason && !list) continue;
    const ready = { ...host, ...found };
    hosts.push(ready);
    await inLab({ hosts: [ready] }, (run) => {
      run.lab.extraEnv = { MEM0_CODE_IDLE_FLUSH_SECONDS: IDLE_S };
      return story({ ...run, hosts: [ready] });
    });
  }
  return hosts;
}
