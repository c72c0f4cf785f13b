// `conformance/run --probe`: learns facts about the real hosts without mem0-code. A recorder stands where
// our binary would be, in every place an installer could put it, and the answers are printed: which hooks
// ran and how, whether the MCP server started, which skills the model was told of.

import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { HOSTS, installHost } from './hosts.mjs';
import { makeLab, write } from './lab.mjs';

const RECORDER = fileURLToPath(new URL('recorder.mjs', import.meta.url));
const SCRIPT = [
  { tool: /search_memories$/, args: { query: 'probe' } },
  { tool: 'shell', args: { command: 'echo works' } },
  { tool: 'shell', args: { command: 'echo oops >&2; exit 3' } },
  { text: 'Done.' },
];
const EVENTS = {
  'claude-code': ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop', 'SessionEnd'],
  codex: ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'SessionEnd'],
};

const skill = (name) => `---\nname: ${name}\ndescription: Probe skill ${name}, for a test.\n---\n\nSay ${name}.\n`;
const quoted = (words) => words.map((word) => `"${word}"`).join(' ');

/** Hook groups for every event, labelled by form: through a shell, and as a program with an argument list. */
function hookGroups(host, log, label) {
  const node = process.execPath;
  return Object.fromEntries(EVENTS[host].map((event) => [event, [
    { hooks: [
      { type: 'command', command: quoted([node, RECORDER, log, 'hook', `${label}-shell`, event]), timeout: 5 },
      { type: 'command', command: node, args: [RECORDER, log, 'hook', `${label}-exec`, event], timeout: 5 },
    ] },
  ]]));
}

function claudePlugin(folder, log, label, name = 'mem0') {
  write(join(folder, '.claude-plugin', 'plugin.json'), { name, version: '0.0.1', description: 'Probe.' });
  write(join(folder, 'hooks', 'hooks.json'), { hooks: hookGroups('claude-code', log, label) });
  write(join(folder, '.mcp.json'), {
    mcpServers: { mem0: { command: process.execPath, args: [RECORDER, log, 'mcp', label], alwaysLoad: true } },
  });
  write(join(folder, 'skills', 'recall', 'SKILL.md'), skill('recall'));
}

const CASES = [
  {
    host: 'claude-code', name: 'a plugin folder in ~/.claude/skills/mem0',
    setup: (lab, log) => claudePlugin(join(lab.home, '.claude', 'skills', 'mem0'), log, 'skills-dir'),
  },
  {
    host: 'claude-code', name: 'the same behind a symbolic link', 
    setup(lab, log) {
      claudePlugin(join(lab.home, 'elsewhere', 'mem0'), log, 'skills-link');
      write(join(lab.home, '.claude', 'skills', '.keep'), '');
      symlinkSync(join(lab.home, 'elsewhere', 'mem0'), join(lab.home, '.claude', 'skills', 'mem0'));
    },
  },
  {
    host: 'claude-code', name: 'the same below CLAUDE_CONFIG_DIR',
    env: (lab) => ({ CLAUDE_CONFIG_DIR: join(lab.home, 'conf') }),
    setup: (lab, log) => claudePlugin(join(lab.home, 'conf', 'skills', 'mem0'), log, 'skills-conf'),
  },
  {
    host: 'claude-code', name: 'the same with ${CLAUDE_PLUGIN_ROOT} in commands',
    setup(lab, log) {
      const folder = join(lab.home, '.claude', 'skills', 'mem0');
      claudePlugin(folder, log, 'skills-root');
      write(join(folder, 'bin', 'rec'), `#!/bin/sh\nexec "${process.execPath}" "${RECORDER}" "${log}" "$@"\n`, 0o755);
      write(join(folder, 'hooks', 'hooks.json'), { hooks: Object.fromEntries(EVENTS['claude-code'].map((event) => [event, [{ hooks: [
        { type: 'command', command: `"\${CLAUDE_PLUGIN_ROOT}/bin/rec" hook root-shell ${event}`, timeout: 5 },
        { type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/bin/rec', args: ['hook', 'root-exec', event], timeout: 5 },
      ] }]])) });
      write(join(folder, '.mcp.json'), { mcpServers: { mem0: { command: '${CLAUDE_PLUGIN_ROOT}/bin/rec', args: ['mcp', 'root'], alwaysLoad: true } } });
    },
  },
  {
    host: 'claude-code', name: 'settings.json hooks, ~/.claude.json mcpServers, a plain skill in ~/.claude/skills',
    setup(lab, log) {
      write(join(lab.home, '.claude', 'settings.json'), { hooks: hookGroups('claude-code', log, 'settings') });
      write(join(lab.home, '.claude.json'), {
        mcpServers: { mem0: { type: 'stdio', command: process.execPath, args: [RECORDER, log, 'mcp', 'user'], alwaysLoad: true } },
      });
      write(join(lab.home, '.claude', 'skills', 'mem0-recall', 'SKILL.md'), skill('mem0-recall'));
    },
  },
  {
    host: 'claude-code', name: 'a plugin in skills-dir and the same name from a marketplace',
    async setup(lab, log, run) {
      claudePlugin(join(lab.home, '.claude', 'skills', 'mem0'), log, 'skills-dir');
      claudePlugin(join(lab.home, 'market', 'mem0'), log, 'market');
      write(join(lab.home, 'market', '.claude-plugin', 'marketplace.json'), {
        name: 'lab', owner: { name: 'lab' }, plugins: [{ name: 'mem0', source: './mem0', description: 'Probe.' }],
      });
      await run(['plugin', 'marketplace', 'add', join(lab.home, 'market')]);
      await run(['plugin', 'install', 'mem0@lab']);
    },
  },
  {
    host: 'claude-code', name: 'userConfig options that nobody set, named in .mcp.json and in an exec-form hook',
    setup(lab, log) {
      const folder = join(lab.home, '.claude', 'skills', 'mem0');
      claudePlugin(folder, log, 'options');
      write(join(folder, '.claude-plugin', 'plugin.json'), {
        name: 'mem0', version: '0.0.1', description: 'Probe.',
        userConfig: {
          api_key: { type: 'string', title: 'Key', description: 'A key.', sensitive: true },
          top_k: { type: 'number', title: 'Top', description: 'How many.', default: 3 },
        },
      });
      const env = { MEM0_PROBE_KEY: '${user_config.api_key}', MEM0_PROBE_TOP: '${user_config.top_k}', MEM0_PROBE_ENV: '${MEM0_UNSET:-}' };
      write(join(folder, '.mcp.json'), {
        mcpServers: { mem0: { command: process.execPath, args: [RECORDER, log, 'mcp', 'options'], env, alwaysLoad: true } },
      });
    },
  },
  {
    host: 'codex', name: '[mcp_servers.mem0] with env_vars, set and unset names',
    env: () => ({ MEM0_SET: 'yes' }),
    setup(lab, log) {
      const path = join(lab.codexHome, 'config.toml');
      const args = JSON.stringify([RECORDER, log, 'mcp', 'vars']);
      write(path, `${readFileSync(path, 'utf8')}\n[mcp_servers.mem0]\ncommand = "${process.execPath}"\nargs = ${args}\nenv_vars = ["MEM0_DIR", "MEM0_SET", "MEM0_UNSET", "CODEX_HOME"]\n`);
    },
  },
  {
    host: 'codex', name: 'a plugin from a local marketplace, .mcp.json with cwd "." and ./bin/rec',
    async setup(lab, log, run) {
      const plugin = join(lab.home, 'market', 'plugins', 'mem0');
      write(join(plugin, '.codex-plugin', 'plugin.json'), { name: 'mem0', version: '0.0.1', description: 'Probe.' });
      write(join(plugin, 'bin', 'rec'), `#!/bin/sh\nexec "${process.execPath}" "${RECORDER}" "${log}" "$@"\n`, 0o755);
      write(join(plugin, 'hooks', 'hooks.json'), { hooks: Object.fromEntries(EVENTS.codex.map((event) => [event, [{ hooks: [
        { type: 'command', command: `"\${PLUGIN_ROOT}/bin/rec" hook plugin ${event}`, timeout: 3 },
      ] }]])) });
      write(join(plugin, '.mcp.json'), { mcpServers: { mem0: { command: './bin/rec', args: ['mcp', 'plugin'], cwd: '.', env_vars: ['MEM0_DIR', 'MEM0_UNSET'] } } });
      write(join(plugin, 'skills', 'recall', 'SKILL.md'), skill('recall'));
      write(join(lab.home, 'market', '.agents', 'plugins', 'marketplace.json'), {
        name: 'lab', plugins: [{ name: 'mem0', source: { source: 'local', path: './plugins/mem0' }, policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' }, category: 'Productivity' }],
      });
      await run(['plugin', 'marketplace', 'add', join(lab.home, 'market'), '--json']);
      await run(['plugin', 'add', 'mem0@lab', '--json']);
    },
  },
  {
    host: 'codex', name: '$CODEX_HOME/hooks.json, [mcp_servers.mem0], skills in both places; trust bypassed',
    setup: codexHome,
  },
  { host: 'codex', name: 'the same, without trust', setup: codexHome, trust: false },
  {
    host: 'codex', name: '[hooks] in config.toml',
    setup(lab, log) {
      const path = join(lab.codexHome, 'config.toml');
      const command = quoted([process.execPath, RECORDER, log, 'hook', 'toml', 'UserPromptSubmit']);
      write(path, `${readFileSync(path, 'utf8')}\n[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "command"\ncommand = '${command}'\ntimeout = 5\n`);
    },
  },
];

function codexHome(lab, log) {
  write(join(lab.codexHome, 'hooks.json'), { hooks: hookGroups('codex', log, 'home') });
  const path = join(lab.codexHome, 'config.toml');
  const args = JSON.stringify([RECORDER, log, 'mcp', 'home']);
  write(path, `${readFileSync(path, 'utf8')}\n[mcp_servers.mem0]\ncommand = "${process.execPath}"\nargs = ${args}\n`);
  write(join(lab.codexHome, 'skills', 'mem0-a', 'SKILL.md'), skill('mem0-a'));
  write(join(lab.codexHome, 'skills', 'mem0', 'mem0-nested', 'SKILL.md'), skill('mem0-nested'));
  write(join(lab.home, '.agents', 'skills', 'mem0-b', 'SKILL.md'), skill('mem0-b'));
}

/** Runs every probe of the given hosts and prints what was seen; returns the observations. */
export async function probe(hostIds, { keep = false, only } = {}) {
  const seen = [];
  for (const each of CASES.filter((one) => hostIds.includes(one.host) && (!only || one.name.includes(only)))) {
    const installed = await installHost(HOSTS[each.host]);
    if (!installed.binary) {
      console.log(`SKIP ${each.host}: ${installed.reason}`);
      continue;
    }
    const host = { ...HOSTS[each.host], installed: installed.binary };
    const lab = await makeLab({ keep, hosts: [host] });
    try {
      const observation = await observe(lab, host, each);
      seen.push(observation);
      console.log(JSON.stringify(observation, null, 2));
    } finally {
      await lab.close();
    }
  }
  return seen;
}

async function observe(lab, host, each) {
  const log = join(lab.root, 'events.jsonl');
  const cwd = await lab.project('probe', 'git@example.invalid:dev/probe.git');
  const env = each.env?.(lab) ?? {};
  const run = (args) => lab.run([host.installed, ...args], { env: { ...host.env(lab), ...env } });
  await each.setup(lab, log, run);
  const session = await lab.session(host, { name: 'probe', cwd, steps: SCRIPT, prompt: 'Run the probe, please, now.', trust: each.trust, env });
  const events = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : [];
  const hooks = {};
  for (const { role, label, event } of events) if (role === 'hook') (hooks[label] ??= []).push(event);
  const started = events.filter((entry) => entry.started);
  const text = JSON.stringify(session.requests.map((request) => request.body));
  const lastTools = session.requests.at(-1)?.body.tools ?? [];
  return {
    host: host.id, case: each.name, exit: session.code, seconds: session.seconds, requests: session.requests.length, stepsLeft: session.stepsLeft,
    hooks,
    hookEnv: events.find((entry) => entry.role === 'hook')?.env,
    hookCwd: events.find((entry) => entry.role === 'hook')?.cwd,
    mcp: started.map(({ label, cwd: at, env: with_ }) => ({ label, cwd: at, env: with_ })),
    mcpMethods: events.filter((entry) => entry.role === 'mcp' && entry.method).map((entry) => entry.method),
    tools: lastTools.flatMap((tool) => (tool.tools ?? [tool]).map((inner) => (tool.tools ? `${tool.name} / ${inner.name}` : inner.name))).filter((name) => /mem0/.test(name)),
    contexts: [...new Set(text.match(/probe-context-[a-z-]+/g) ?? [])],
    results: [...new Set(text.match(/probe-result-[a-z-]+/g) ?? [])],
    skills: [...new Set(text.match(/[A-Za-z0-9:_-]*(?=:? ?Probe skill)|- [A-Za-z0-9:_-]+: Probe skill [a-z0-9-]+/g) ?? [])].filter(Boolean),
    stderr: session.stderr.slice(-600),
  };
}
