// The MCP server of each package, started as its host starts it, and asked what hosts ask.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { until } from './lab.mjs';
import { Skip, expect } from './suite.mjs';

const PLUGINS = fileURLToPath(new URL('../plugins', import.meta.url));
const ANSWER_LIMIT_MS = 10_000;

/**
 * How a host starts the server of a package: which file has the entry, what it fills in, where it works and what it
 * leaves of the environment. Seen in runs of the hosts; for Cursor and Antigravity as documented.
 */
const PACKAGES = {
  'claude-code': { file: '.mcp.json', fills: ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA', 'CLAUDE_PROJECT_DIR'], cwd: 'project' },
  codex: { file: '.mcp.json', cwd: 'package', scrubs: true },
  cursor: { file: 'mcp.json', fills: ['CURSOR_PLUGIN_ROOT'], cwd: 'project' },
  kimi: { file: 'kimi.plugin.json', cwd: 'package', env: ['KIMI_PLUGIN_ROOT'] },
  antigravity: { file: 'mcp_config.json', cwd: 'package' },
  portable: { folder: 'mem0-agent-plugin', file: 'mcp.json', fills: ['PLUGIN_ROOT', 'PLUGIN_DATA'], cwd: 'package' },
};

/** Two checks a package: the server answers, and without the program it explains itself. */
export async function servers({ suite, lab, only }) {
  const project = await lab.project('harbor', 'https://git.example.com/team/harbor.git');
  for (const [host, how] of Object.entries(PACKAGES).filter(([id]) => !only || only.includes(id))) {
    const source = [how.folder, host].filter(Boolean).map((name) => join(PLUGINS, name)).find((folder) => existsSync(folder));
    const start = (home) => {
      if (!source) throw new Skip(`the repository has no package of ${host}`);
      const root = join(lab.root, 'packages', host);
      rmSync(root, { recursive: true, force: true });
      mkdirSync(root, { recursive: true });
      cpSync(source, root, { recursive: true, verbatimSymlinks: true });
      return new Client(entry(lab, root, project, how, home));
    };
    await suite.check('mcp', `${host}-server`, { about: { host } }, async () => {
      const client = start(lab.home);
      try {
        await answers(client);
      } finally {
        await client.close();
      }
    });
    await suite.check('mcp', `${host}-server-without-program`, { about: { host } }, async () => {
      const client = start(join(lab.root, 'empty-home'));
      try {
        const reply = await client.ask('initialize', greeting());
        const text = JSON.stringify(reply ?? {}) + client.errors;
        expect(/mem0-code/.test(text) && /install|PATH|not found/i.test(text), 'the server does not say what is missing', text);
      } finally {
        await client.close();
      }
    });
  }
}

function entry(lab, root, project, how, home) {
  const server = JSON.parse(readFileSync(join(root, how.file), 'utf8')).mcpServers.mem0;
  const values = { CLAUDE_PLUGIN_DATA: join(lab.root, 'data'), PLUGIN_DATA: join(lab.root, 'data'), CLAUDE_PROJECT_DIR: project };
  const value = (name) => values[name] ?? root;
  // What a host does not fill in stays as it is spelled.
  const filled = (text) => text.replace(/\$\{([A-Z_]+)\}/g, (whole, name) => (how.fills?.includes(name) ? value(name) : whole));
  const given = Object.fromEntries(Object.entries(server.env ?? {}).map(([name, text]) => [name, filled(text)]));
  const told = Object.fromEntries((how.env ?? []).map((name) => [name, root]));
  const all = { ...lab.env(), HOME: home, MEM0_DIR: join(home, '.mem0'), ...told, ...given };
  const env = how.scrubs ? Object.fromEntries(['HOME', 'PATH', 'LANG', 'SHELL', 'TERM', 'TMPDIR', 'USER', ...Object.keys(given)].map((name) => [name, all[name]])) : all;
  const cwd = server.cwd ? join(root, filled(server.cwd).replace(root, '.')) : how.cwd === 'package' ? root : project;
  return { argv: [server.command, ...(server.args ?? [])].map(filled), cwd, env };
}

const greeting = () => ({ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'conformance', version: '0' } });

/** The exchange hosts have: a probe some send first, the greeting, the list, a call, and what must be survived. */
async function answers(client) {
  const probe = await client.ask('server/discover', {});
  expect(probe?.error || probe?.result, 'a request before the greeting is not answered', client.errors);
  const hello = await client.ask('initialize', greeting());
  expect(hello?.result?.protocolVersion === '2025-11-25', 'the greeting is not answered', () => JSON.stringify(hello) + client.errors);
  client.tell('notifications/initialized');
  const list = await client.ask('tools/list', {});
  const tools = list?.result?.tools ?? [];
  expect(tools.some((tool) => tool.name === 'search_memories' && tool.inputSchema?.type === 'object'), 'search_memories is not listed', list);
  client.tell('notifications/cancelled', { requestId: 4711, reason: 'AbortError' });
  const call = await client.ask('tools/call', { name: 'search_memories', arguments: { query: 'anything at all' } });
  expect(call?.result?.content?.[0]?.type === 'text' && !call.result.isError, 'the call is not answered', call);
  const unknown = await client.ask('tools/call', { name: 'no_such_tool', arguments: {} });
  expect(unknown?.error || unknown?.result?.isError, 'an unknown tool is not refused', unknown);
  const ping = await client.ask('ping', {});
  expect(ping?.result, 'a ping is not answered', ping);
  client.end();
  expect(await until(() => client.code !== undefined, 3_000, 20), 'the server does not end with its input');
  expect(client.code === 0, `the server ends with ${client.code}`, client.errors);
}

/** A client of one stdio server. */
class Client {
  errors = '';
  code;
  #child;
  #waiting = new Map();
  #next = 0;

  constructor({ argv, cwd, env }) {
    this.#child = spawn(argv[0], argv.slice(1), { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk) => (this.errors += chunk));
    this.#child.once('error', (error) => { this.errors += error.message; this.#ended(null); });
    this.#child.once('exit', (code) => this.#ended(code));
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
    });
  }

  #ended(code) {
    this.code = code;
    for (const done of this.#waiting.values()) done(undefined);
  }

  /** Sends a request; gives the answer, or undefined when none comes. */
  ask(method, params) {
    if (this.code !== undefined) return undefined;
    const id = ++this.#next;
    const answer = new Promise((done) => {
      this.#waiting.set(id, done);
      setTimeout(() => done(undefined), ANSWER_LIMIT_MS).unref();
    });
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  tell(method, params) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  end() {
    this.#child.stdin.end();
  }

  async close() {
    this.end();
    if (!(await until(() => this.code !== undefined, 2_000, 20))) this.#child.kill('SIGKILL');
  }
}
