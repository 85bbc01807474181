import { describe, expect, it } from 'vitest';
import { hostKeys, hostRanges, matchesHost } from '../../src/storage/records/hosts.ts';
import { BY_HOST_TABLE } from './by-host-table.ts';

describe('by host', () => {
  for (const { value, hosts, others } of BY_HOST_TABLE) {
    it(`"${value}" finds ${hosts.join(', ') || 'nothing'}, and not ${others.join(', ') || 'anything else'}`, () => {
      const found = [...hosts, ...others].filter((host) => matchesHost(hostKeys(host), hostRanges(value)));
      expect(found).toEqual(hosts);
    });
  }
});
