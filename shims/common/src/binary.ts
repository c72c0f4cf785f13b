// Where the native mem0-code is. The first that exists is used; with none, a package does nothing.

import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = process.platform === "win32" ? "mem0-code.exe" : "mem0-code";

/** A file in the package whose one line is the binary's absolute path; `mem0-code install` writes it. */
export const PATH_FILE = "mem0-code.path";

export interface Place {
  /** `import.meta.url` of the package's entry, `dist/index.js`. */
  from: string;
  env: NodeJS.ProcessEnv;
  /** A path the person set in the host's own settings. */
  setting?: string | undefined;
}

/** Returns the binary: named by the person, named by the installer, in a package, in the home, on PATH. */
export function findBinary({ from, env, setting }: Place): string | undefined {
  const root = packageRoot(from);
  const home = env["HOME"] || homedir();
  const candidates = [
    env["MEM0_CODE_BIN"],
    setting,
    root && named(join(root, PATH_FILE)),
    platformPackage(from),
    ...(root ? targets().map((target) => join(root, "bin", target, NAME)).concat(join(root, "bin", NAME)) : []),
    env["MEM0_DIR"] && join(env["MEM0_DIR"], "bin", NAME),
    join(home, ".mem0", "bin", NAME),
    ...(env["PATH"] ?? "").split(delimiter).filter(isAbsolute).map((folder) => join(folder, NAME)),
  ];
  return candidates.find((path): path is string => Boolean(path) && isProgram(path as string));
}

/** The npm package that carries the binary for this machine. */
export function platformPackageName(platform: string = process.platform, arch: string = process.arch): string {
  return `@mem0-code/cli-${platform}-${arch}`;
}

function packageRoot(from: string): string | undefined {
  try {
    return dirname(dirname(realpathSync(fileURLToPath(from))));
  } catch {
    return undefined;
  }
}

function platformPackage(from: string): string | undefined {
  try {
    return createRequire(from).resolve(`${platformPackageName()}/bin/${NAME}`);
  } catch {
    return undefined;
  }
}

function targets(): string[] {
  const cpu = process.arch === "arm64" ? "aarch64" : "x86_64";
  const systems: Record<string, string[]> = {
    darwin: ["apple-darwin"],
    win32: ["pc-windows-msvc"],
  };
  return (systems[process.platform] ?? ["unknown-linux-musl", "unknown-linux-gnu"]).map((system) => `${cpu}-${system}`);
}

function named(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
