import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

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
