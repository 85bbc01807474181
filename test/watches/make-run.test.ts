import { describe, expect, it } from 'vitest';
import { ANY_CLIENT } from '../../src/capture/client.ts';
import { failure } from '../../src/capture/errors.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../src/capture/request.ts';
import { CAPTURE_FAILURES } from '../../src/http/routes/capture/post-screenshot.ts';
import { makeRun } from '../../src/watches/make-run.ts';
import { NO_PROGRESS, packWatch, unpackSummary } from '../../src/watches/stored-form.ts';

const OF_THE_SERVICE: ReadonlySet<string> = new Set([
  'queue_full',
  'browser_unavailable',
  'cluster_unavailable',
  'database_unavailable',
  'artifacts_unavailable',
  'shutting_down',
  'storage_full',
  'storage_unavailable',
]);

describe('a run whose capture fails', () => {
  it.each(CAPTURE_FAILURES)('is made later when the service was the cause, else it has failed: %s', async (code) => {
    const run = await runThatFailsWith(code);
    expect(run).toEqual(OF_THE_SERVICE.has(code) ? undefined : expect.objectContaining({ state: 'failed', code }));
  });
});

async function runThatFailsWith(code: (typeof CAPTURE_FAILURES)[number]) {
  const written = { url: 'https://shop.example/', every: '1h' };
  const wanted = requestSchemas(DEFAULT_LIMITS).watch.parse(written);
  const { summary } = packWatch(written, wanted, { by: ANY_CLIENT, createdAt: '', isPaused: false });
  const { run } = await makeRun(unpackSummary(summary), NO_PROGRESS, {
    // Nothing is read of a page that was not captured.
    artifacts: Object.create(null),
    comparisons: Object.create(null),
    capture: () => Promise.resolve({ state: 'rejected', failure: failure(code) }),
    report: () => expect.unreachable(),
  });
  return run;
}
