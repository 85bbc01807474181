import { describe, expect, it } from 'vitest';
import { serviceForSuite } from '../support/for-suite.ts';
import { NO_BROWSER } from '../support/service.ts';
import { keepCapture } from './stored-capture.ts';
import { describeStoredImages } from './stored-images.ts';

describe('files of captures in the data directory', () => {
  describeStoredImages((name) => ({ ...NO_BROWSER, ...(name === 'lists' && { dbPath: null }) }));

  const without = serviceForSuite({ ...NO_BROWSER, dbPath: null });

  it('lists and reads captures without a database', async () => {
    await keepCapture(without.service, 1);
    expect(without.service.results.kind).toBe('none');
    expect((await without.call('/screenshots')).status).toBe(200);
    expect((await without.call('/screenshot/1')).status).toBe(200);
  });
});
