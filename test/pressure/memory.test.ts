import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readMemory } from '../../src/pressure/memory.ts';

/** A version 1 control group for the test, where the machine has such groups and permits creating one. */
const GROUP = `/sys/fs/cgroup/memory/capstan-test-${process.pid}`;
const canMakeGroup = isWritable('/sys/fs/cgroup/memory/memory.limit_in_bytes');

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const MACHINE = { availableBytes: 8000, totalBytes: 16_000 };

function withFiles(files: Readonly<Record<string, string>>) {
  return readMemory(
    (path) => files[path],
    () => MACHINE,
  );
}

describe('readMemory', () => {
  it("returns the machine's memory when no control group has a limit", () => {
    expect(withFiles({})).toEqual(MACHINE);
    expect(withFiles({ '/sys/fs/cgroup/memory.max': 'max\n', '/sys/fs/cgroup/memory.current': '9000\n' })).toEqual(
      MACHINE,
    );
  });

  it("returns the control group's memory, counting reclaimable memory as available but not shared memory", () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': '1000\n',
      '/sys/fs/cgroup/memory.current': '900\n',
      '/sys/fs/cgroup/memory.stat':
        'anon 500\nfile 350\nshmem 50\ninactive_file 200\nactive_file 100\nslab_reclaimable 30\n',
    };
    expect(withFiles(files)).toEqual({ availableBytes: 430, totalBytes: 1000 });
  });

  it('returns the memory of the tightest control group around the process', () => {
    const files = {
      '/proc/self/cgroup': '1:name=systemd:/\n0::/system.slice/capstan.service\n',
      '/sys/fs/cgroup/system.slice/memory.max': '500\n',
      '/sys/fs/cgroup/system.slice/memory.current': '450\n',
      '/sys/fs/cgroup/system.slice/capstan.service/memory.max': '400\n',
      '/sys/fs/cgroup/system.slice/capstan.service/memory.current': '100\n',
    };
    expect(withFiles(files)).toEqual({ availableBytes: 50, totalBytes: 500 });
  });

  it("returns the machine's memory when the group's limit exceeds it", () => {
    const files = { '/sys/fs/cgroup/memory.max': '100000', '/sys/fs/cgroup/memory.current': '100' };
    expect(withFiles(files)).toEqual(MACHINE);
  });

  it('returns the memory of a version 1 group, counting the page cache of its children as available', () => {
    const files = {
      '/proc/self/cgroup': '9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n',
      // A container sees its own group as the root. The group of the machine has no limit.
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '1000\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '900\n',
      '/sys/fs/cgroup/memory/memory.stat':
        'cache 350\nshmem 50\ninactive_file 1\nactive_file 2\ntotal_inactive_file 200\ntotal_active_file 100\n',
    };
    expect(withFiles(files)).toEqual({ availableBytes: 400, totalBytes: 1000 });
  });

  it("returns the machine's memory when a version 1 group has no limit", () => {
    const files = {
      '/proc/self/cgroup': '4:memory:/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '6870294528\n',
    };
    expect(withFiles(files)).toEqual(MACHINE);
  });

  it.runIf(canMakeGroup)('returns the memory of a real control group that the process is moved into', async () => {
    const limit = 512 * 1024 * 1024;
    const program = `
      import { readMemory } from ${JSON.stringify(join(import.meta.dirname, '../../src/pressure/memory.ts'))};
      process.stdout.write(JSON.stringify(readMemory()));
    `;
    const enter = `echo $$ > ${GROUP}/cgroup.procs; exec "$0" "$@"`;
    const args = ['-c', enter, process.execPath, '--input-type=module', '-e', program];
    mkdirSync(GROUP);
    try {
      writeFileSync(`${GROUP}/memory.limit_in_bytes`, String(limit));
      const { stdout } = await promisify(execFile)('sh', args);
      const { availableBytes, totalBytes } = JSON.parse(stdout);
      expect(totalBytes).toBe(limit);
      expect(availableBytes).toBeGreaterThan(0);
      expect(availableBytes).toBeLessThan(limit);
    } finally {
      rmdirSync(GROUP);
    }
  });

  it('returns the memory of this machine', () => {
    const memory = readMemory();
    expect(memory?.totalBytes).toBeLessThanOrEqual(totalmem());
    expect(memory?.availableBytes).toBeGreaterThan(0);
    expect(memory?.availableBytes).toBeLessThan(memory?.totalBytes ?? 0);
  });
});
