import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createOwnAddresses } from '../../src/egress/own-addresses.ts';

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
