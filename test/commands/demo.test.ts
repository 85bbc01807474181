import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAMPLE_PAGES } from '../fixtures/site.ts';
import { ground } from './capstan-process.ts';

const DEMO = join(import.meta.dirname, '../../scripts/demo.ts');

describe('npm run demo', () => {
  it('captures the sample site, finds it again by URL and by host, and prints where the screenshots are', async () => {
    const place = await ground();
    const { error, stdout } = await new Promise<{ error: Error | null; stdout: string }>((resolve) => {
      const env = { ...process.env, ...place.options.env };
      execFile(process.execPath, [DEMO, join(place.path, 'demo')], { env }, (failure, output) =>
        resolve({ error: failure, stdout: output }),
      );
    });
    expect(error).toBeNull();
    expect(stdout.match(/^ {2}captured {2}/gm)).toHaveLength(SAMPLE_PAGES.length);
    expect(stdout).toMatch(/GET \/results\/by-url\?url=\S+ {2}-> {2}[1-9]\d* found/);
    expect(stdout).toMatch(/GET \/results\/by-host\?host=127\.0\.0\.1 {2}-> {2}[1-9]\d* found/);
    expect(stdout).toContain(`The images are in ${relative(process.cwd(), join(place.path, 'demo'))}, `);
    expect(await readdir(place.path)).toEqual(['demo']);
    await expect.poll(() => place.browsers()).toEqual([]);
  });
});
