import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ground, serve } from '../commands/capstan-process.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { captureMany, expectAllWritten } from './away.ts';
import { allResults, capture, captureBatch, readiness } from './client.ts';
import { linesAboutStoring } from './lines-about-storing.ts';
import { mountSmallDisk, whyNoTmpfs } from './tmpfs.ts';

const reason = whyNoTmpfs === undefined ? '' : ` (skipped: ${whyNoTmpfs})`;

describe.skipIf(whyNoTmpfs !== undefined)(`a service whose data directory is full${reason}`, () => {
  const site = siteForSuite();

  it.each([
    ['while it runs', false],
    ['before it starts', true],
  ])(
    'answers 507 and is not ready when the directory fills %s, leaves no partial files, and continues when there is room',
    async (_, fullAtStart) => {
      const place = await ground();
      const dataDir = join(place.path, 'data');
      await mkdir(dataDir);
      await using disk = await mountSmallDisk(dataDir, 2048);
      if (fullAtStart) await disk.fill();
      const service = await serve(
        ['--allow-targets', '127.0.0.1', '--max-concurrent', '2', '--db-path', 'results.db', '--data-dir', dataDir],
        place.options,
      );
      const url = site.url('/title?t=kept');
      const before = fullAtStart ? [] : await captureMany(service, url, 1);
      if (!fullAtStart) await disk.fill();

      expect(await capture(service.url, { url })).toEqual({ status: 507, code: 'storage_full', result: null });
      expect(await readiness(service.url)).toEqual({ status: 503, code: 'storage_unavailable', degraded: [] });
      // The pauses between attempts double: 6 s leave the last attempt about 2 s, which a busy machine may exceed.
      const items = await captureBatch(service.url, [url, site.url('/404')], 2, 6000);
      for (const { code } of items) expect(code).toMatch(/^(storage_full|capture_timeout)$/);
      // A failed target has no files: its record goes to the database, which has room.
      const failed = await capture(service.url, { url: site.url('/empty-response') });
      expect(failed).toMatchObject({ status: 502, code: 'target_unreachable', result: { failed: true } });
      const kept = [...before, ...[...items, failed].flatMap(({ result }) => (result === null ? [] : [result]))];
      expect((await allResults(service.url)).map(({ id }) => id).sort()).toEqual(kept.map(({ id }) => id).sort());
      // A probe of the directory may be there for a moment.
      await expect
        .poll(async () =>
          (await readdir(dataDir, { recursive: true })).filter((name) => /staging\/|outbox\//.test(name)),
        )
        .toEqual([]);

      await disk.free();
      const after = await captureMany(service, url, 2);
      await expectAllWritten(service, dataDir, [...kept, ...after]);
      expect(await readiness(service.url)).toEqual({ status: 200, code: '', degraded: [] });
      service.child.kill('SIGTERM');
      const ended = await service.ended;
      expect(ended.code).toBe(0);
      expect(linesAboutStoring(ended)).toMatchObject([
        { level: 'error', code: 'storage_full', cause: 'ENOSPC' },
        { level: 'info', msg: 'captures can be stored again' },
      ]);
    },
  );
});
