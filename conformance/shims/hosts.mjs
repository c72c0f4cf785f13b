// The hosts that load JavaScript: pinned versions, how each is installed, configured, given a package, and started.
//
// Installs go to the cache of `../hosts.mjs` and are reused. All but OpenCode run on a Node that is newer than the one the
// suite may be started with, so one is installed beside them.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { hostCache } from '../hosts.mjs';
import { write } from '../lab.mjs';

const INSTALL_LIMIT_MS = 600_000;
const PACKAGE_ID = 'mem0';

const node = {
  id: 'node', version: '24.22.3', packages: [`node-${process.platform}-${process.arch}@24.22.3`],
  binary: (root) => join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node'),
};

/** A model the hosts with OpenAI-compatible providers are configured with. */
const WINDOW = 128_000;

/** Every host of this suite, by its id. `installed` (set by `installShimHost`) is its command as a list. */
export const SHIM_HOSTS = {
  pi: {
    id: 'pi', version: '1.6.0', packages: ['@earendil-works/pi-coding-agent@1.6.0'],
    entry: (root) => packageBin(join(root, 'node_modules', '@earendil-works', 'pi-coding-agent'), 'pi'),
    env: () => ({ PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' }),
    configure(lab) {
      const agent = join(lab.home, '.pi', 'agent');
      write(join(agent, 'models.json'), {
        providers: {
          scripted: {
            baseUrl: `${lab.model.url}/v1`, api: 'openai-completions', apiKey: 'scripted',
            models: [{ id: 'scripted', contextWindow: WINDOW, maxTokens: 4096 }],
          },
        },
      });
      write(join(agent, 'settings.json'), { defaultProvider: 'scripted', defaultModel: 'scripted' });
    },
    async put(lab, host, folder) {
      await hostCommand(lab, host, ['install', folder]);
    },
    argv(command, { prompt, resume, args = [] }) {
      return [...command, '-p', ...(resume ? ['--continue'] : []), ...args, prompt];
    },
  },

  opencode: {
    id: 'opencode', version: '1.18.33', packages: ['opencode-ai@1.18.33'],
    entry: (root) => [join(root, 'node_modules', `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode')],
    isNative: true,
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
    configure(lab) {
      write(join(lab.home, '.config', 'opencode', 'opencode.json'), {
        $schema: 'https://opencode.ai/config.json', model: 'scripted/scripted', small_model: 'scripted/scripted',
        share: 'disabled', autoupdate: false, permission: { '*': 'allow' },
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible', name: 'Scripted',
            options: { baseURL: `${lab.model.url}/v1`, apiKey: 'scripted' },
            models: { scripted: { name: 'Scripted', limit: { context: WINDOW, output: 4096 } } },
          },
        },
      });
    },
    async put(lab, _host, folder) {
      const path = join(lab.home, '.config', 'opencode', 'opencode.json');
      const config = JSON.parse(readFileSync(path, 'utf8'));
      write(path, { ...config, plugin: [`file://${join(folder, 'dist', 'index.js')}`] });
    },
    argv(command, { prompt, resume, args = [] }) {
      return [...command, 'run', ...(resume ? ['--continue'] : []), ...args, prompt];
    },
  },

  deepseek: {
    id: 'deepseek', version: '0.1.0-rc.8', flags: ['--legacy-peer-deps'],
    // Its peers by name, and the cordis packages of its own day: npm's own resolution of them does not end.
    packages: [
      '@deepseek-ai/dsh@0.1.0-rc.8', 'pnpm@12.21.0',
      ...['cordis@4.0.1', 'cosmokit@1.8.2', 'schemastery@3.18.1', 'cordis-plugin-hmr@1.0.16', 'cordis-plugin-loader@1.0.2',
        'cordis-plugin-include@1.0.6', 'cordis-plugin-timer@1.1.3', 'cordis-plugin-group@1.0.1'].map((name) => `@deepseek-ai/${name}`),
      ...['invariants', 'timeout', 'subagent-in-process-driver', 'session-telemetry', 'anonymous-user-id', 'workflow', 'scope',
        'compaction', 'sandbox', 'fs', 'session-title-llm', 'output-retention', 'atomic-write', 'shell', 'spill', 'bash-local',
        'code-runtime'].map((name) => `@deepseek-ai/dsh-${name}@0.1.0-rc.8`),
    ],
    entry: (root) => [join(root, 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js')],
    env: (lab) => ({
      DSH_HOME: join(lab.home, '.dsh'), DEEPSEEK_BASE_URL: lab.model.url, DEEPSEEK_API_KEY: 'scripted',
      DSH_TELEMETRY_MODE: 'DISABLED', DSH_PERMISSION_MODE: 'danger-full-access',
    }),
    configure() {},
    async put(lab, _host, folder) {
      write(join(lab.root, 'dsh-patch.yml'), `- insert:\n    - id: ${PACKAGE_ID}\n      name: '${join(folder, 'dist', 'index.js')}'\n`);
    },
    argv(command, { prompt, lab, args = [] }) {
      return [...command, '--profile', 'headless', '--patch', join(lab.root, 'dsh-patch.yml'), ...args, prompt];
    },
    alwaysNew: true,
  },

  openclaw: {
    id: 'openclaw', version: '2026.9.6', packages: ['openclaw@2026.9.6'],
    entry: (root) => [join(root, 'node_modules', 'openclaw', 'openclaw.mjs')],
    env: (lab) => ({ OPENCLAW_STATE_DIR: join(lab.home, '.openclaw'), OPENCLAW_DISABLE_UPDATE_CHECK: '1', DO_NOT_TRACK: '1' }),
    configure(lab) {
      writeOpenClaw(lab, {
        models: {
          mode: 'replace',
          providers: {
            scripted: {
              baseUrl: `${lab.model.url}/v1`, apiKey: 'scripted', api: 'openai-completions',
              models: [{
                id: 'scripted', name: 'Scripted', reasoning: false, input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: WINDOW, maxTokens: 4096,
              }],
            },
          },
        },
        tools: { exec: { security: 'full', ask: 'off' } }, update: { checkOnStart: false },
      });
    },
    async put(lab, host, folder) {
      await hostCommand(lab, host, ['plugins', 'install', '--link', folder, '--force', '--accept-capabilities']);
      const config = readOpenClaw(lab);
      const plugins = config.plugins ?? {};
      const entry = { ...plugins.entries?.[PACKAGE_ID], enabled: true, hooks: { allowConversationAccess: true } };
      writeOpenClaw(lab, {
        ...config,
        plugins: { ...plugins, entries: { ...plugins.entries, [PACKAGE_ID]: entry }, slots: { ...plugins.slots, memory: PACKAGE_ID } },
      });
    },
    // The workspace is the agent's, not the caller's folder: it is set for each session.
    argv(command, { prompt, resume, lab, cwd, limitS = 300, args = [] }) {
      const config = readOpenClaw(lab);
      writeOpenClaw(lab, { ...config, agents: { defaults: { workspace: cwd, model: { primary: 'scripted/scripted' }, skipBootstrap: true } } });
      lab.openclawKey = resume ? lab.openclawKey : `agent:main:lab${(lab.openclawCount = (lab.openclawCount ?? 0) + 1)}`;
      return [...command, 'agent', '--local', '--agent', 'main', '--session-key', lab.openclawKey, '--message', prompt, '--timeout', String(limitS), ...args];
    },
    limitMs: 400_000,
  },
};

function readOpenClaw(lab) {
  const path = join(lab.home, '.openclaw', 'openclaw.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

function writeOpenClaw(lab, config) {
  write(join(lab.home, '.openclaw', 'openclaw.json'), config);
}

/** Runs one of the host's own management commands; throws when it refuses. */
export async function hostCommand(lab, host, args) {
  const done = await lab.run([...host.installed, ...args], { env: host.env(lab), limitMs: 180_000 });
  if (done.code !== 0) throw new Error(`${host.id} ${args.join(' ')} exits with ${done.code}\n${done.stdout}${done.stderr}`);
  return done;
}

/**
 * Installs a host unless the cache has it.
 * @returns {{installed?: string[], nodeBin?: string, reason?: string}} its command, or why there is none.
 */
export function installShimHost(host, cache = hostCache()) {
  const runtime = installed(node, cache);
  if (runtime.reason) return runtime;
  const nodePath = node.binary(runtime.root);
  const found = installed(host, cache, dirname(nodePath));
  if (found.reason) return found;
  const entry = host.entry(found.root);
  if (!existsSync(entry[0])) return { reason: `${host.packages[0]} has no ${entry[0]}` };
  return { installed: host.isNative ? entry : [nodePath, ...entry], nodeBin: dirname(nodePath), bin: join(found.root, 'node_modules', '.bin') };
}

function installed(what, cache, nodeBin) {
  const root = join(cache, `${what.id}-${what.version}`);
  if (existsSync(root)) return { root };
  const staging = `${root}.${process.pid}.part`;
  try {
    mkdirSync(staging, { recursive: true });
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify({ name: `host-${what.id}`, private: true })}\n`);
    const args = ['install', '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', ...(what.flags ?? []), ...what.packages];
    const env = nodeBin ? { ...process.env, PATH: `${nodeBin}:${process.env.PATH}` } : process.env;
    const npm = spawnSync('npm', args, { cwd: staging, env, encoding: 'utf8', timeout: INSTALL_LIMIT_MS });
    if (npm.status !== 0) return { reason: `npm install ${what.packages[0]}: ${(npm.stderr || String(npm.error ?? npm.signal)).trim().slice(-500)}` };
    renameSync(staging, root);
    return { root };
  } catch (error) {
    return { reason: String(error.message ?? error) };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function packageBin(folder, name) {
  const about = existsSync(join(folder, 'package.json')) ? JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) : {};
  const bin = typeof about.bin === 'string' ? about.bin : about.bin?.[name];
  return [join(folder, bin ?? 'missing')];
}
