import { describe, expect, it, onTestFinished } from 'vitest';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';

/** More than the 10 listeners of one event above which Node warns of a leak. */
const CAPTURES = 12;

describe('concurrent captures', () => {
  const site = siteForSuite();
  const running = actorForSuite({ maxConcurrent: CAPTURES });

  it('print no warning when more than ten of them share a browser', async () => {
    const warnings: Error[] = [];
    const collect = (warning: Error) => warnings.push(warning);
    process.on('warning', collect);
    onTestFinished(() => void process.off('warning', collect));
    const all = Array.from({ length: CAPTURES }, (_, number) =>
      running.actor.capture(
        captureRequest(site.url(`/slow?ms=3000&n=${number}`), { evidence: ['console', 'network'] }),
        patience,
      ),
    );
    expect((await Promise.all(all)).map(({ title }) => title)).toEqual(Array(CAPTURES).fill('A slow page'));
    expect(warnings).toEqual([]);
  });
});
