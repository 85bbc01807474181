import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FamilyMember, familyOf } from '../support/process-family.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/**
 * Returns the reason why no container can be built and run here, or undefined when one can. Required are podman,
 * buildah, runc and the image `debian:bookworm-slim`. With CI=true a missing one is a failure, unless the machine has
 * no user namespaces.
 */
export async function whyNoContainers(): Promise<string | undefined> {
  const hasNamespaces = await run('unshare', ['--user', 'true']).then(
    () => true,
    () => false,
  );
  if (!hasNamespaces) return 'this machine has no user namespaces';
  try {
    await run('buildah', ['--version']);
    await run('runc', ['--version']);
    await run('podman', ['image', 'exists', 'debian:bookworm-slim']);
    return undefined;
  } catch (error) {
    if (process.env.CI === 'true') throw new Error('no containers for the tests', { cause: error });
    return 'podman, buildah or runc is missing, or the image debian:bookworm-slim';
  }
}

/** Builds the image of the Containerfile. */
export async function buildImage(tag: string): Promise<void> {
  // The machine may be behind a proxy with its own certificate authority, which the build must trust.
  const bundle = process.env.NODE_EXTRA_CA_CERTS ?? '';
  const trust = existsSync(bundle)
    ? ['--volume', `${bundle}:/run/ca.crt:ro`, '--build-arg', 'CA_BUNDLE=/run/ca.crt']
    : [];
  // The other format of images has no health check.
  await run(
    'buildah',
    [
      'bud',
      '--jobs',
      '2',
      '--format',
      'docker',
      '--isolation',
      'chroot',
      ...trust,
      '--tag',
      tag,
      '--file',
      'Containerfile',
      '.',
    ],
    {
      cwd: ROOT,
      maxBuffer: 64 * 1024 * 1024,
    },
  );
}

export async function podman(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('podman', [...args], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** Runs a container until it ends. runc and the limits of this process also work inside another container. */
export function runContainer(args: readonly string[]): ChildProcess {
  return spawn('podman', ['--runtime', 'runc', 'run', '--ulimit', 'host', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** A process of a container, as the host sees it. */
export interface ContainerProcess extends FamilyMember {
  readonly command: string;
  /** Fields of /proc/<pid>/status, such as `Seccomp` and `CapEff`. */
  readonly status: Readonly<Record<string, string>>;
  /** Namespace of the process for each kind. */
  readonly namespaces: Readonly<Record<'user' | 'pid' | 'net', string>>;
}

/** Returns a process and all of its descendants. */
export function processesOf(pid: number): Promise<readonly ContainerProcess[]> {
  return familyOf(pid, readProcess);
}

async function readProcess(pid: number): Promise<ContainerProcess | undefined> {
  try {
    const [command, text, user, ofPids, net] = await Promise.all([
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
      readFile(`/proc/${pid}/status`, 'utf8'),
      ...(['user', 'pid', 'net'] as const).map((name) => readlink(`/proc/${pid}/ns/${name}`)),
    ]);
    const status = Object.fromEntries(text.split('\n').map((line) => line.split(/:\s+/, 2)));
    return {
      pid,
      parent: Number(status.PPid),
      command: command.replaceAll('\0', ' '),
      status,
      namespaces: { user: user ?? '', pid: ofPids ?? '', net: net ?? '' },
    };
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}
