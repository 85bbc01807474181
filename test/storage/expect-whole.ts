import { createHash } from 'node:crypto';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { HTML } from './parts.ts';
import { EVIDENCE } from './result-of.ts';

/** Expects a capture with its record, its evidence, its image and its HTML snapshot. */
export async function expectWhole(
  { artifacts, results }: Pick<Storage, 'artifacts' | 'results'>,
  id: number,
): Promise<void> {
  expect((await results.get(id))?.evidence).toEqual(EVIDENCE);
  const image = await artifacts.open(id, 'image');
  if (image === undefined) throw new Error(`${id} has a record and no image`);
  const bytes = await buffer(image.stream());
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(image.info.sha256);
  const html = await artifacts.open(id, 'html');
  expect(html && (await text(html.stream()))).toBe(HTML);
}
