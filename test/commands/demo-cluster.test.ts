import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { whyNoCluster } from '../cluster/cluster-of-processes.ts';
import { ground } from './capstan-process.ts';

const DEMO = join(import.meta.dirname, '../../scripts/demo.ts');

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`npm run demo -- --cluster${reason}`, () => {
  it('kills a worker, shows that every capture arrived, and leaves nothing behind', async () => {
    const place = await ground();
    const { error, stdout } = await new Promise<{ error: Error | null; stdout: string }>((resolve) => {
      const env = { ...process.env, ...place.options.env };
      execFile(process.execPath, [DEMO, '--cluster', join(place.path, 'demo')], { env }, (failure, output) =>
        resolve({ error: failure, stdout: output }),
      );
    });
    expect({ error, stdout }).toMatchObject({ error: null });
    expect(stdout.match(/^The (?:api node|worker) \d listens on http/gm)).toHaveLength(5);
    expect(stdout).toMatch(/Worker \d was killed while it ran [1-9] captures?/);
    expect(stdout).toContain('30 of 30 captures were answered, with 30 different ids.');
    expect(stdout).toContain('30 of 30 images were read');
    // MongoDB may leave files of its own.
    expect((await readdir(place.path)).filter((name) => /demo|capstan/.test(name))).toEqual([]);
    await expect.poll(() => place.browsers()).toEqual([]);
  });
});
