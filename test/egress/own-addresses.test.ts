import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createOwnAddresses } from '../../src/egress/own-addresses.ts';
import { ground, serve } from '../commands/capstan-process.ts';

const PUBLIC = '93.184.215.14';
/** Gives a network namespace of its own a public address, then runs the command that is appended. */
const WITH_PUBLIC_ADDRESS = [
  'unshare',
  '--net',
  'sh',
  '-c',
  `ip link set lo up && ip addr add ${PUBLIC}/32 dev lo && exec "$@"`,
  'sh',
];

describe.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
  'capstan serve on a public address (needs root)',
  () => {
    it("refuses to capture the service's own public address", async () => {
      const place = await ground();
      const args = ['--host', '0.0.0.0', '--browser-path', '/nonexistent', '--data-dir', 'data', '--db-path', 'r.db'];
      const served = await serve(args, { ...place.options, through: WITH_PUBLIC_ADDRESS });
      const { port } = new URL(served.url);
      const program = `
      const body = JSON.stringify({ url: 'http://${PUBLIC}:${port}/livez' });
      const headers = { 'Content-Type': 'application/json' };
      fetch('http://${PUBLIC}:${port}/screenshot', { method: 'POST', headers, body })
        .then((answer) => answer.text())
        .then(console.log);
    `;
      const inside = ['--net', '--target', String(served.child.pid), process.execPath, '-e', program];
      const { stdout } = await promisify(execFile)('nsenter', inside);
      expect(JSON.parse(stdout)).toMatchObject({
        code: 'target_forbidden',
        error: expect.stringContaining("not public (this machine's own)"),
      });
      served.child.kill('SIGTERM');
      expect(await served.ended).toMatchObject({ code: 0 });
    });
  },
);

describe('createOwnAddresses', () => {
  it("recognises every address of the machine's interfaces, in any spelling", () => {
    const isOwn = createOwnAddresses();
    const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
    expect(addresses.length).toBeGreaterThan(0);
    for (const { address } of addresses) expect(isOwn(address)).toBe(true);
    expect(isOwn('::ffff:127.0.0.1')).toBe(true);
    expect(isOwn('8.8.8.8')).toBe(false);
  });

  it('reads the interfaces again after a second, and keeps the last list when they cannot be read', () => {
    let at = 0;
    let answer = (): readonly string[] => ['192.0.2.1'];
    const isOwn = createOwnAddresses({ read: () => answer(), now: () => at });
    expect(isOwn('192.0.2.1')).toBe(true);

    answer = () => ['192.0.2.2'];
    at = 999;
    expect(isOwn('192.0.2.2')).toBe(false);
    at = 1000;
    expect(isOwn('192.0.2.2')).toBe(true);
    expect(isOwn('192.0.2.1')).toBe(false);

    answer = () => {
      throw new Error('EMFILE');
    };
    at = 2000;
    expect(isOwn('192.0.2.2')).toBe(true);
  });
});
