import { expect, it } from 'vitest';
import { ANY_CLIENT } from '../../src/capture/client.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../src/capture/request.ts';
import { packWatch, requestOf, unpackSummary } from '../../src/watches/stored-form.ts';

const ABOUT = { by: ANY_CLIENT, createdAt: '2026-01-01T00:00:00.000Z', isPaused: false };
const { watch } = requestSchemas({ ...DEFAULT_LIMITS, callbacks: true });

it('holds the body of a watch once, and reads the same request from it', () => {
  const secret = 'a secret of the body '.repeat(1000);
  const written = {
    ...{ url: 'http://a.test/', every: '1h', callback: 'https://b.test/', headers: { 'X-One': 'value' } },
    compare: { text: true },
    actions: [{ type: 'type', selector: 'input', text: secret.slice(0, 9_999) }],
    javascript: { after: secret },
  };
  const wanted = watch.parse(written);
  const { summary, definition } = packWatch(written, wanted, ABOUT);
  expect(requestOf(definition, unpackSummary(summary))).toEqual(wanted.request);
  expect(definition.split(secret)).toHaveLength(2);
  expect(summary).not.toContain('secret');
});

it('keeps the deadline that a watch was written with', () => {
  const { watch: slow } = requestSchemas({ ...DEFAULT_LIMITS, timeoutMs: 70_000 });
  for (const written of [
    { url: 'http://a.test/', every: '1h' },
    { url: 'http://a.test/', every: '1h', timeoutMs: 10_000 },
  ]) {
    const wanted = slow.parse(written);
    const { summary, definition } = packWatch(written, wanted, ABOUT);
    expect(requestOf(definition, unpackSummary(summary)).timeoutMs).toBe(wanted.request.timeoutMs);
  }
});

it('refuses a stored body that is not accepted any more, and says why', () => {
  const written = { url: 'http://a.test/', every: '1h' };
  const { summary } = packWatch(written, watch.parse(written), ABOUT);
  const definition = JSON.stringify({ ...written, option: 1 });
  expect(() => requestOf(definition, unpackSummary(summary))).toThrow(/option/);
});
