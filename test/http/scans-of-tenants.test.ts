import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JobSchema, ScanSchema } from '../../src/http/answer/schemas.ts';
import { startHosts, titledPage } from '../scans/hosts.ts';
import { describeWithTenantsOfEachDatabase, TENANTS, tenantsForSuite } from './tenants.ts';

const Scan = z.object({ data: ScanSchema });
const Job = z.object({ data: JobSchema });
const Urls = z.object({ data: z.array(z.object({ url: z.string() })) });
const [flood, shop] = TENANTS;
const by = ({ key }: (typeof TENANTS)[number]) => ({ Authorization: `Bearer ${key}` });

describe('a scan of one of two isolated keys', () => {
  describeWithTenantsOfEachDatabase((start) => {
    const tenants = tenantsForSuite(() => start({ allowTargets: ['127.0.0.0/8'] }));

    it('is seen by its key alone, and captures each target of a list of many', async () => {
      await using hosts = await startHosts(titledPage);
      const { apps } = await tenants();
      const [first] = apps;
      const other = apps.at(-1);
      const list = `127.0.0.2/31\nhttp://127.0.0.4:${hosts.port}/x`;
      const response = await first?.call(`/scans?ports=${hosts.port},${hosts.closedPort}`, {
        method: 'POST',
        headers: { ...by(shop), 'Content-Type': 'application/octet-stream' },
        body: list,
      });
      expect(response?.status).toBe(202);
      const { id } = Scan.parse(await response?.json()).data;
      const job = async () => Job.parse(await (await other?.call(`/jobs/${id}`, { headers: by(shop) }))?.json()).data;
      await expect.poll(async () => (await job()).state).toBe('completed');
      const { results, progress } = await job();
      expect(progress).toMatchObject({ done: 5, failed: 2, failed_by: { target_unreachable: 2 } });
      expect(results?.map(({ url, code }) => [url, code])).toEqual([
        [`https://127.0.0.2:${hosts.port}/`, null],
        [`https://127.0.0.2:${hosts.closedPort}/`, 'target_unreachable'],
        [`https://127.0.0.3:${hosts.port}/`, null],
        [`https://127.0.0.3:${hosts.closedPort}/`, 'target_unreachable'],
        [`http://127.0.0.4:${hosts.port}/x`, null],
      ]);
      const listed = async (tenant: (typeof TENANTS)[number]) =>
        Urls.parse(await (await other?.call(`/results?scan=${id}`, { headers: by(tenant) }))?.json()).data;
      expect(await listed(shop)).toHaveLength(5);
      expect(await listed(flood)).toEqual([]);
      expect((await first?.call(`/jobs/${id}`, { headers: by(flood) }))?.status).toBe(404);
      expect((await first?.call(`/jobs/${id}`, { method: 'DELETE', headers: by(flood) }))?.status).toBe(404);
    });
  });
});
