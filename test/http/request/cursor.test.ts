import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idCursor, keysetCursor, readIdCursor, readKeysetCursor } from '../../../src/http/request/cursor.ts';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const instant = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

describe('a list cursor', () => {
  it('decodes to the position it was made from, and needs no escaping in a URL', () => {
    fc.assert(
      fc.property(instant, id, (probedAt, captureId) => {
        const cursor = keysetCursor({ probedAt, id: captureId });
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(readKeysetCursor(cursor)).toEqual({ probedAt, id: captureId });
        expect(readIdCursor(idCursor(captureId))).toBe(captureId);
      }),
    );
  });

  it.each([
    '',
    'x',
    'null',
    '!!!',
    Buffer.from('null').toString('base64url'),
    Buffer.from('["yesterday",1]').toString('base64url'),
    Buffer.from('["2026-01-01T00:00:00.000Z",0]').toString('base64url'),
    Buffer.from('["2026-01-01T00:00:00.000Z",1.5]').toString('base64url'),
    Buffer.from('["2026-01-01T00:00:00.000Z",{"$gt":0}]').toString('base64url'),
    Buffer.from('[{"$gt":""},1]').toString('base64url'),
  ])('refuses a cursor that the service did not make: %s', (cursor) => {
    expect(readKeysetCursor(cursor)).toBeUndefined();
    expect(readIdCursor(cursor)).toBeUndefined();
  });

  it('rejects the cursor of another kind of list', () => {
    expect(readKeysetCursor(idCursor(5))).toBeUndefined();
    expect(readIdCursor(keysetCursor({ probedAt: '2026-01-01T00:00:00.000Z', id: 5 }))).toBeUndefined();
  });
});
