// The real hosts: which version, how it is installed, how a session of it is started.
//
// Installs go to a cache folder outside the repository and are reused: `MEM0_CODE_HOST_CACHE`, else
// `~/.cache/mem0-code/hosts`. Versions are pinned; a new one is a change here, with a run that shows it.
// npm runs with --ignore-scripts: no host here needs its install script. Two are a native binary in an optional
// platform package, which is started directly; those that are JavaScript get a pinned Node when this one is too
// old for them. A host that cannot be installed here is reported as skipped, with the reason.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const INSTALL_LIMIT_MS = 300_000;

/** Where pinned hosts are kept between runs. */
export function hostCache(env = process.env) {
  return env.MEM0_CODE_HOST_CACHE || join(homedir(), '.cache', 'mem0-code', 'hosts');
}

/** The Node that JavaScript hosts run on when this one is too old. */
const NODE = {
  id: 'node',
  package: `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
  version: '24.22.3',
  binary(root) {
    return firstThatExists([join(root, 'node_modules', this.package, 'bin', 'node')]);
  },
};

/** Every host this suite can run, by its id. */
export const HOSTS = {
  'claude-code': {
    id: 'claude-code',
    command: 'claude',
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    binary(root) {
      const names = [`claude-code-${process.platform}-${process.arch}`, `claude-code-${process.platform}-${process.arch}-musl`];
      return firstThatExists(names.map((name) => join(root, 'node_modules', '@anthropic-ai', name, 'claude')));
    },
    env(lab) {
      return {
        ANTHROPIC_BASE_URL: lab.model.url,
        ANTHROPIC_API_KEY: 'scripted',
        IS_SANDBOX: '1', // lets the permission bypass below work for root, as in a container
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      };
    },
    configure() {},
    argv(binary, { prompt, resume, args = [] }) {
      return [binary, '-p', prompt, '--dangerously-skip-permissions', ...(resume ? ['--continue'] : []), ...args];
    },
  },

  codex: {
    id: 'codex',
    package: '@openai/codex',
    version: '0.171.0',
    binary(root) {
      const vendor = join(root, 'node_modules', '@openai', `codex-${process.platform}-${process.arch}`, 'vendor');
      const triples = existsSync(vendor) ? readdirSync(vendor) : [];
      return firstThatExists(triples.map((triple) => join(vendor, triple, 'bin', 'codex')));
    },
    env(lab) {
      return { CODEX_HOME: lab.codexHome, SCRIPTED_KEY: 'scripted' };
    },
    // Written once: the host itself keeps marketplaces, plugins and hook trust in this file afterwards.
    configure(lab) {
      mkdirSync(lab.codexHome, { recursive: true });
      writeFileSync(
        join(lab.codexHome, 'config.toml'),
        `# A scripted model answers every request.
model = "gpt-5.4"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[model_providers.scripted]
name = "scripted"
base_url = "${lab.model.url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
      );
    },
    argv(binary, { prompt, resume, args = [], trust = true }) {
      const common = [
        binary, 'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox',
        ...(trust ? ['--dangerously-bypass-hook-trust'] : []), ...args,
      ];
      return resume ? [...common, 'resume', '--last', prompt] : [...common, prompt];
    },
  },

  kimi: {
    id: 'kimi',
    command: 'kimi',
    package: '@moonshot-ai/kimi-code',
    version: '2.1.0',
    node: '22.19.0',
    binary(root) {
      return firstThatExists([join(root, 'node_modules', '@moonshot-ai', 'kimi-code', 'dist', 'main.mjs')]);
    },
    env(lab) {
      return { KIMI_CODE_HOME: kimiHome(lab), KIMI_DISABLE_TELEMETRY: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' };
    },
    configure(lab) {
      mkdirSync(kimiHome(lab), { recursive: true });
      writeFileSync(
        join(kimiHome(lab), 'config.toml'),
        `# A scripted model answers every request.
default_model = "scripted"
default_permission_mode = "auto"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "${lab.model.url}/v1"
api_key = "scripted"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
capabilities = ["tool_use"]
`,
      );
      writeFileSync(join(kimiHome(lab), 'tui.toml'), '[upgrade]\nauto_install = false\n');
    },
    argv(binary, { prompt, resume, args = [] }) {
      return [binary, '-p', prompt, ...(resume ? ['--continue'] : []), ...args];
    },
  },
};

/** Where Kimi Code keeps everything in a lab. */
export function kimiHome(lab) {
  return join(lab.home, '.kimi-code');
}

/** The name a host's command has on a PATH. */
export function commandOf(host) {
  return host.command ?? host.id;
}

/**
 * Installs a host, unless the cache has it.
 * @returns {Promise<{binary?: string, reason?: string, seconds: number}>} the native binary, or why there is none.
 */
export async function installHost(host, cache = hostCache()) {
  if (!host.node) return installPackage(host, cache);
  const node = isNewer(process.versions.node, host.node) ? { binary: process.execPath, seconds: 0 } : await installPackage(NODE, cache);
  if (!node.binary) return { reason: `needs Node ${host.node} or newer: ${node.reason}`, seconds: node.seconds };
  const found = await installPackage(host, cache);
  if (!found.binary) return found;
  // One program to start, like the hosts that are one.
  const program = join(cache, `${host.id}-${host.version}`, commandOf(host));
  writeFileSync(program, `#!/bin/sh\nexec '${node.binary}' '${found.binary}' "$@"\n`);
  chmodSync(program, 0o755);
  return { binary: program, seconds: node.seconds + found.seconds };
}

function isNewer(version, wanted) {
  const [one, other] = [version, wanted].map((text) => text.split('.').map(Number));
  const at = one.findIndex((number, index) => number !== other[index]);
  return at < 0 || one[at] > other[at];
}

/** Installs one package of the registry into a folder of its own. */
async function installPackage(host, cache) {
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  const folder = join(cache, `${host.id}-${host.version}`);
  const found = host.binary(folder);
  if (found) return { binary: found, seconds: seconds() };
  // Installed beside its final name and moved there when whole, so that an interrupted run leaves no half host.
  const staging = `${folder}.${process.pid}.part`;
  try {
    mkdirSync(staging, { recursive: true });
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify({ name: `host-${host.id}`, private: true })}\n`);
    const failure = await npmInstall(staging, `${host.package}@${host.version}`);
    if (failure) return { reason: failure, seconds: seconds() };
    if (!host.binary(staging)) {
      return { reason: `${host.package}@${host.version} has no binary for ${process.platform}-${process.arch}`, seconds: seconds() };
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(staging, folder);
    return { binary: host.binary(folder), seconds: seconds() };
  } catch (error) {
    return { reason: String(error.message ?? error), seconds: seconds() };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function npmInstall(cwd, spec) {
  const args = ['install', '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', spec];
  return new Promise((done) => {
    const npm = spawn('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: INSTALL_LIMIT_MS });
    let text = '';
    npm.stdout.on('data', (chunk) => (text += chunk));
    npm.stderr.on('data', (chunk) => (text += chunk));
    npm.on('error', (error) => done(`npm cannot be started: ${error.message}`));
    npm.on('close', (code, signal) => done(code === 0 ? undefined : `npm install ${spec}: ${signal ?? `exit ${code}`}: ${text.trim().slice(-500)}`));
  });
}

function firstThatExists(paths) {
  return paths.find((path) => existsSync(path));
}
