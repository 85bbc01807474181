import { tmpdir } from 'node:os';
import { NEVER } from 'rxjs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScreenshotInfo } from '../../src/capture/artifacts/screenshot-info.ts';
import { NOTHING_IGNORED } from '../../src/capture/comparison/comparison.ts';
import { createComparisons } from '../../src/imaging/comparisons.ts';
import { putCapture } from '../../src/storage/ports/artifact-store.ts';
import { findChanges } from '../../src/watches/find-changes.ts';
import { openParts, type Parts } from '../storage/parts.ts';
import { resultOf } from '../storage/result-of.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ELEMENTS = JSON.stringify({
  styles: [{ color: 'red' }],
  entries: [{ parent: -1, tag: 'body', box: [0, 0, 80, 60], style: 0 }],
  partial: false,
});
const STORED = { store: 'files', kinds: ['image', 'html', 'elements'] } as const;

describe('a comparison whose elements take too long', () => {
  let parts: Parts;
  let infos: readonly ScreenshotInfo[];

  beforeAll(async () => {
    parts = await openParts(await makeDirectory(), { database: false });
    const put = async (id: number, background: string) => {
      const image = await sharp({ create: { width: 80, height: 60, channels: 3, background } })
        .png()
        .toBuffer();
      return putCapture(parts.artifacts, resultOf(id, { artifacts: STORED }), { image, html: '', elements: ELEMENTS });
    };
    infos = [await put(1, 'red'), await put(2, 'blue')];
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
