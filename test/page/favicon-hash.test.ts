import { describe, expect, it } from 'vitest';
import { faviconHash } from '../../src/page/evidence/favicon-hash.ts';

/** Of icons with the bytes 0, 1, 2 and so on: computed with `mmh3.hash(base64.encodebytes(icon))` in Python. */
const HASHES = [
  [0, 0],
  [1, -1_253_000_196],
  [57, 459_585_070],
  [58, -280_317_500],
  [1280, 1_907_799_943],
] as const;

describe('the hash of a favicon', () => {
  it.each(HASHES)('is that of Python for an icon of %i bytes', (bytes, hash) => {
    expect(faviconHash(Uint8Array.from({ length: bytes }, (_, at) => at % 256))).toBe(hash);
  });
});
