import { freemem, totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { readMemory } from '../../src/pressure/memory.ts';

const MACHINE = { availableBytes: 8000, totalBytes: 16_000 };

function withFiles(files: Readonly<Record<string, string>>) {
  return readMemory(
    (path) => files[path],
    () => MACHINE,
  );
}

describe('the memory that is left', () => {
  it("is the machine's where no control group has a limit", () => {
    expect(withFiles({})).toEqual(MACHINE);
    expect(withFiles({ '/sys/fs/cgroup/memory.max': 'max\n', '/sys/fs/cgroup/memory.current': '9000\n' })).toEqual(
      MACHINE,
    );
  });

  it("is the control group's, what the system would give back counted as left, and shared memory not", () => {
    const files = {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': '1000\n',
      '/sys/fs/cgroup/memory.current': '900\n',
      '/sys/fs/cgroup/memory.stat':
        'anon 500\nfile 350\nshmem 50\ninactive_file 200\nactive_file 100\nslab_reclaimable 30\n',
    };
    expect(withFiles(files)).toEqual({ availableBytes: 430, totalBytes: 1000 });
  });

  it('is that of the tightest group of those around the process', () => {
    const files = {
      '/proc/self/cgroup': '1:name=systemd:/\n0::/system.slice/capstan.service\n',
      '/sys/fs/cgroup/system.slice/memory.max': '500\n',
      '/sys/fs/cgroup/system.slice/memory.current': '450\n',
      '/sys/fs/cgroup/system.slice/capstan.service/memory.max': '400\n',
      '/sys/fs/cgroup/system.slice/capstan.service/memory.current': '100\n',
    };
    expect(withFiles(files)).toEqual({ availableBytes: 50, totalBytes: 500 });
  });

  it("is the machine's when its group may use more than that", () => {
    const files = { '/sys/fs/cgroup/memory.max': '100000', '/sys/fs/cgroup/memory.current': '100' };
    expect(withFiles(files)).toEqual(MACHINE);
  });

  it('is there to be read on this machine', () => {
    const memory = readMemory();
    expect(memory?.availableBytes).toBeGreaterThan(0);
    expect(memory?.availableBytes).toBeLessThan(memory?.totalBytes ?? 0);
    expect(memory?.totalBytes).toBeLessThanOrEqual(totalmem());
    expect(freemem()).toBeGreaterThan(0);
  });
});
