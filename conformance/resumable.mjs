// Hosts a session can be resumed in natively, those of hosts.mjs among them: how each is pinned, configured, started, where
// it keeps a session, and how the command that mem0-code prints is run without a terminal. The TypeScript hosts run under a
// pinned Node of their own, because some need a newer one than this suite does.
//
// `argv(installed, {prompt, rest})`: `rest` is the printed command after its first word; without it a new session begins.
// `transcript(lab, options)`: the newest session as `handoff save --session` takes it.

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { HOSTS, installHost } from './hosts.mjs';
import { write } from './lab.mjs';

/** The Node that the TypeScript hosts run under. */
export const NODE = {
  id: 'node',
  package: 'node',
  version: '24.22.3',
  binary: (root) => found(join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')),
};

const found = (path) => (existsSync(path) ? path : undefined);

function newest(folder, pattern) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => pattern.test(name));
  const paths = names.map((name) => join(folder, name));
  return paths.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];
}

const pi = {
  id: 'pi',
  source: 'pi-agent',
  package: '@earendil-works/pi-coding-agent',
  version: '1.6.0',
  needsNode: true,
  binary: (root) => found(join(root, 'node_modules', '@earendil-works', 'pi-coding-agent', 'dist', 'bundle', 'cli.js')),
  env: () => ({ PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' }),
  configure(lab) {
    const agent = join(lab.home, '.pi', 'agent');
    const models = [{ id: 'scripted', contextWindow: 128000, maxTokens: 4096 }];
    write(join(agent, 'models.json'), {
      providers: { lab: { baseUrl: `${lab.model.url}/v1`, api: 'openai-completions', apiKey: 'scripted', models } },
    });
    write(join(agent, 'settings.json'), {
      defaultProvider: 'lab', defaultModel: 'scripted', quietStartup: true, enableInstallTelemetry: false,
    });
  },
  argv: (installed, { prompt, rest = [] }) => [...installed, '-p', ...rest, prompt],
  transcript: (lab) => newest(join(lab.home, '.pi', 'agent', 'sessions'), /\.jsonl$/),
};

const kimi = {
  id: 'kimi',
  source: 'kimi',
  package: '@moonshot-ai/kimi-code',
  version: '2.1.0',
  needsNode: true,
  binary: (root) => found(join(root, 'node_modules', '@moonshot-ai', 'kimi-code', 'dist', 'main.mjs')),
  env: (lab) => ({ KIMI_CODE_HOME: join(lab.home, '.kimi-code'), KIMI_DISABLE_TELEMETRY: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' }),
  configure(lab) {
    write(
      join(lab.home, '.kimi-code', 'config.toml'),
      `default_model = "lab"
default_permission_mode = "auto"
telemetry = false
[providers.lab]
type = "openai"
base_url = "${lab.model.url}/v1"
api_key = "scripted"
[models.lab]
provider = "lab"
model = "scripted"
max_context_size = 128000
capabilities = ["tool_use"]
`,
    );
    write(join(lab.home, '.kimi-code', 'tui.toml'), '[upgrade]\nauto_install = false\n');
  },
  argv: (installed, { prompt, rest = [] }) => [...installed, ...rest, '-p', prompt],
  transcript: (lab) => newest(join(lab.home, '.kimi-code', 'sessions'), /main\/wire\.jsonl$/),
};

const opencode = {
  id: 'opencode',
  source: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  binary: (root) => found(join(root, 'node_modules', `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode')),
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_SHARE: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1', LAB_KEY: 'scripted',
  }),
  configure(lab) {
    const models = { scripted: { name: 'Scripted', limit: { context: 128000, output: 4096 } } };
    const options = { baseURL: `${lab.model.url}/v1`, apiKey: '{env:LAB_KEY}' };
    write(join(lab.home, '.config', 'opencode', 'opencode.json'), {
      $schema: 'https://opencode.ai/config.json', model: 'lab/scripted', small_model: 'lab/scripted', share: 'disabled',
      autoupdate: false, permission: { '*': 'allow' },
      provider: { lab: { npm: '@ai-sdk/openai-compatible', name: 'Lab', options, models } },
    });
  },
  argv: (installed, { prompt, rest = [] }) => [...installed, 'run', ...rest, prompt],
  async transcript(lab, { host, cwd }) {
    const run = (...args) => lab.run([...host.installed, ...args], { cwd, env: host.env(lab) });
    const sessions = JSON.parse((await run('session', 'list', '--format', 'json')).stdout);
    const id = sessions.sort((one, other) => (other.updated ?? 0) - (one.updated ?? 0))[0].id;
    const path = join(lab.root, `${id}.json`);
    writeFileSync(path, (await run('export', id)).stdout);
    return path;
  },
};

const claude = {
  ...HOSTS['claude-code'],
  source: 'claude-code',
  argv: (installed, { prompt, rest = [] }) => [...installed, '-p', prompt, '--dangerously-skip-permissions', ...rest],
  transcript: (lab) => newest(join(lab.home, '.claude', 'projects'), /^[^/]*\/[^/]*\.jsonl$/),
};

const codex = {
  ...HOSTS.codex,
  source: 'codex',
  argv: (installed, { prompt, rest = [] }) => [
    ...installed, 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...rest, prompt,
  ],
  transcript: (lab) => newest(join(lab.codexHome, 'sessions'), /\.jsonl$/),
};

/** Hosts by their short name; `source` is the id that `--source` and `--into` take. */
export const RESUMABLE = { 'claude-code': claude, codex, pi, kimi, opencode };

/** Installs a host and what it runs under. `installed` is the beginning of its command line. */
export async function installResumable(host) {
  const { binary, reason } = await installHost(host);
  if (!binary) return { reason };
  if (!host.needsNode) return { installed: [binary] };
  const node = await installHost(NODE);
  return node.binary ? { installed: [node.binary, binary] } : { reason: node.reason };
}
