// Hosts a session can be resumed in natively, beside those of hosts.mjs: how each is pinned, configured and started. They
// run under a pinned Node of their own, because some of them need a newer one than this suite does.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { HOSTS, installHost } from './hosts.mjs';
import { write } from './lab.mjs';

/** The Node that the TypeScript hosts run under. */
export const NODE = {
  id: 'node',
  package: 'node',
  version: '24.22.3',
  binary: (root) => found(join(root, 'node_modules', `node-bin-${process.platform}-${process.arch}`, 'bin', 'node'))
    ?? found(join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')),
};

const found = (path) => (existsSync(path) ? path : undefined);

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
  argv: (binary, { prompt, session }) => [...binary, '-p', ...(session ? ['--session', session] : []), prompt],
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
  argv: (binary, { prompt, session }) => [...binary, ...(session ? ['--session', session] : []), '-p', prompt],
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
  argv: (binary, { prompt, session }) => [...binary, 'run', ...(session ? ['--session', session] : []), prompt],
};

const claude = {
  ...HOSTS['claude-code'],
  source: 'claude-code',
  argv: (binary, { prompt, session }) => [...binary, '-p', prompt, '--dangerously-skip-permissions', ...(session ? ['--resume', session] : [])],
};

const codex = {
  ...HOSTS.codex,
  source: 'codex',
  argv: (binary, { prompt, session }) => {
    const base = [...binary, 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
    return session ? [...base, 'resume', session, prompt] : [...base, prompt];
  },
};

/** Hosts by the id that `--into` takes. */
export const RESUMABLE = { 'claude-code': claude, codex, pi, kimi, opencode };

/** Installs a host and what it runs under. `installed` is the beginning of its command line. */
export async function installResumable(host) {
  const { binary, reason } = await installHost(host);
  if (!binary) return { reason };
  if (!host.needsNode) return { installed: [binary] };
  const node = await installHost(NODE);
  return node.binary ? { installed: [node.binary, binary] } : { reason: node.reason };
}
