import { readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEVER } from 'rxjs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import { NOTHING_IGNORED } from '../../src/capture/comparison/comparison.ts';
import { createComparisons } from '../../src/imaging/comparisons.ts';
import { captureDirectory, capturesDirectory } from '../../src/storage/files/layout.ts';
import { findChanges } from '../../src/watches/find-changes.ts';
import { openParts, type Parts } from '../storage/parts.ts';
import { putCapture } from '../storage/put-capture.ts';
import { resultOf } from '../storage/result-of.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ELEMENTS = JSON.stringify({
  styles: [{ color: 'red' }],
  entries: [{ parent: -1, tag: 'body', box: [0, 0, 80, 60], style: 0 }],
  partial: false,
});
const STORED = { store: 'files', kinds: ['image', 'html', 'elements'] } as const;

async function put({ artifacts }: Parts, id: number, background: string): Promise<ScreenshotInfo> {
  const image = await sharp({ create: { width: 80, height: 60, channels: 3, background } })
    .png()
    .toBuffer();
  return putCapture(artifacts, resultOf(id, { artifacts: STORED }), { image, html: '', elements: ELEMENTS });
}

/** Returns the files in a directory that this process has open. */
async function openFiles(directory: string): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(directory));
}

describe('a comparison of captures of which one cannot be opened', () => {
  it.runIf(process.platform === 'linux').each([1, 2])('leaves no file of the other one open: %s', async (broken) => {
    const parts = await openParts(await makeDirectory(), { database: false });
    const [a, b] = [await put(parts, 1, 'red'), await put(parts, 2, 'blue')];
    const directory = captureDirectory(parts.data.path, broken);
    const image = (await readdir(directory)).find((name) => name.startsWith('image')) ?? '';
    await rm(join(directory, image));
    // A link that leads to itself.
    await symlink(image, join(directory, image));
    const comparisons = createComparisons(parts.artifacts, async () => tmpdir());
    await expect(comparisons.of(a, b, NEVER, null)).rejects.toThrow('ELOOP');
    expect(await openFiles(capturesDirectory(parts.data.path))).toEqual([]);
    await parts.close();
  });
});

describe('a comparison whose elements take too long', () => {
  let parts: Parts;
  let infos: readonly ScreenshotInfo[];

  beforeAll(async () => {
    parts = await openParts(await makeDirectory(), { database: false });
    infos = [await put(parts, 1, 'red'), await put(parts, 2, 'blue')];
  });
  afterAll(() => parts.close());

  const comparisons = () => createComparisons(parts.artifacts, async () => tmpdir(), { mapsTimeoutMs: 0 });
  const ignore = { ...NOTHING_IGNORED, selectors: ['body'] };

  it('is made without them, also with selectors', async () => {
    const [a, b] = infos;
    if (a === undefined || b === undefined) throw new Error('there are two');
    const answer = await comparisons().of(a, b, NEVER, null, { ignore, onlyElements: ['body'] });
    expect(answer?.difference).toMatchObject({ elements: null, share: 1, regions: [{ kind: 'edited' }] });
  });

  it('is a change for a watch of elements', async () => {
    const others = { text: false, links: false, status: false, title: false, verdict: false } as const;
    const rules = { compare: { ...others, visual: false, elements: ['body'] }, ignore } as const;
    const found = await findChanges({ artifacts: parts.artifacts, comparisons: comparisons() }, rules, [1, 2], null);
    expect(found?.changed).toEqual(['elements']);
  });
});
