import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { capstan, ground } from '../commands/capstan-process.ts';
import { problemsOfCompose, problemsOfManifests } from './schemas.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

const hasSystemd = await run('systemd-analyze', ['--version']).then(
  () => true,
  () => false,
);

describe('the systemd unit', () => {
  it.skipIf(!hasSystemd)('scores below 4 in systemd-analyze security', async () => {
    const { stdout } = await run('systemd-analyze', [
      ...['security', '--offline=true', '--no-pager'],
      join(ROOT, 'systemd/capstan.service'),
    ]);
    const [, level] = /Overall exposure level for capstan\.service: ([\d.]+)/.exec(stdout) ?? [];
    expect(Number(level)).toBeLessThan(4);
  });
});

describe('the manifests', () => {
  /** Returns the arguments of each container that starts the service, and the variables of the file. */
  async function startsIn(path: string) {
    const text = await readFile(join(ROOT, path), 'utf8');
    const lists = [...text.matchAll(/^ *(?:args|command): \[(serve, .*)\]$/gm)].map(([, list = '']) => list);
    const variables = [...text.matchAll(/\b(CAPSTAN_\w+)(?:, value)?: '?([^'\s}]*)'?/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    );
    return { starts: lists.map((list) => list.split(', ').map(unquoted)), env: Object.fromEntries(variables) };
  }
  const unquoted = (text: string) => text.replace(/^'(.*)'$/, '$1');

  it.each([
    ['compose.yaml', { mongoUrl: 'mongodb://mongo:27017/capstan', dbPath: null }],
    ['kubernetes/capstan.yaml', { retainBytes: 15 * 1024 ** 3, sandbox: 'on' }],
    ['kubernetes/cluster.yaml', { role: 'api', artifacts: 'gridfs', dbPath: null }],
    ['kubernetes/keda-workers.yaml', { role: 'worker', artifacts: 'gridfs', graceMs: 45_000 }],
  ])('start the service with options that it takes: %s', async (path, expected) => {
    const place = await ground();
    const keys = join(place.path, 'keys');
    await writeFile(keys, 'a-key\n', { mode: 0o600 });
    const { starts, env } = await startsIn(path);
    expect(starts).toHaveLength(1);
    for (const args of starts) {
      const given = args.map((arg) => (/^\/.*\/keys$/.test(arg) ? keys : arg));
      const { code, stdout, stderr } = await capstan([...given, '--print-config'], { ...place.options, env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject(expected);
    }
  });
});

describe('the schemas of the manifests', () => {
  const read = (path: string) => readFile(join(ROOT, path), 'utf8');

  it.each(['capstan.yaml', 'cluster.yaml', 'keda-workers.yaml'])('accept kubernetes/%s', async (file) => {
    expect(problemsOfManifests(await read(`kubernetes/${file}`))).toEqual([]);
  });

  it('accept compose.yaml', async () => {
    expect(problemsOfCompose(await read('compose.yaml'))).toEqual([]);
  });

  it('reject a wrong value, and a service of Compose with an unknown key', async () => {
    const workers = await read('kubernetes/keda-workers.yaml');
    const kedaProblems = problemsOfManifests(workers.replace('maxReplicaCount: 20', 'maxReplicaCount: many'));
    expect(kedaProblems).toEqual([expect.stringMatching(/^ScaledObject: .*maxReplicaCount must be integer/)]);
    const cluster = await read('kubernetes/cluster.yaml');
    const apiProblems = problemsOfManifests(cluster.replace('replicas: 2', 'replicas: two'));
    expect(apiProblems).toEqual([expect.stringMatching(/^Deployment: .*replicas must be integer/)]);
    const compose = await read('compose.yaml');
    expect(problemsOfCompose(compose.replace('mem_limit:', 'memory:'))).toEqual([
      expect.stringContaining('/services/capstan must NOT have additional properties'),
    ]);
  });
});

describe('the seccomp profile', () => {
  it('allows what the sandbox of Chromium needs, and nothing that changes the machine', async () => {
    const profile: { defaultAction: string; syscalls: { names: string[]; action: string; args?: object[] }[] } =
      JSON.parse(await readFile(join(ROOT, 'container/seccomp.json'), 'utf8'));
    const allowed = profile.syscalls
      .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args === undefined)
      .flatMap(({ names }) => names);
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(allowed).toEqual(expect.arrayContaining(['clone', 'unshare', 'setns', 'chroot', 'seccomp', 'prctl']));
    const forbidden = ['mount', 'umount2', 'bpf', 'ptrace', 'kexec_load', 'init_module', 'keyctl', 'io_uring_setup'];
    expect(allowed.filter((name) => forbidden.includes(name))).toEqual([]);
  });
});
