import { z } from 'zod';
import { ANY_CLIENT } from '../../../src/capture/client.ts';
import { DEFAULT_LIMITS, requestSchemas } from '../../../src/capture/request.ts';
import type { Result } from '../../../src/capture/result/result.ts';
import { valuesField } from '../../../src/capture/work/watch-values.ts';
import { makeRun, type RunParts } from '../../../src/watches/make-run.ts';
import {
  NO_PROGRESS,
  type Progress,
  packWatch,
  type Summary,
  unpackSummary,
} from '../../../src/watches/stored-form.ts';
import { eventsOf, progressAfter } from '../../../src/watches/watch-events.ts';
import { patience } from '../../support/actor.ts';
import { captureRequest } from '../../support/capture-request.ts';
import { exampleResult } from '../../support/example-result.ts';
import type { SiteAndActor } from '../../support/site-and-actor.ts';
import type { ShopPage } from './shop-pages.ts';
import { STATES, type State } from './theme.ts';

const MONEY = z.object({
  value: z.object({ amount: z.number(), to: z.number().nullable() }).nullable(),
  text: z.string().nullable(),
});

type Captured = Pick<Result, 'verdict' | 'verdict_reasons' | 'extract'>;

/**
 * Captures a page as a watch does, with a small picture. Repeats that when the machine was too slow to read the whole
 * page, because a watch treats the values of a cut page as unknown. The states share a page of the browser, which takes
 * a third less CPU time.
 */
async function captured(ground: SiteAndActor, page: ShopPage, state?: State): Promise<Captured> {
  const part = new URLSearchParams({ type: 'text/html; charset=utf-8', text: page.html(state) });
  const request = captureRequest(ground.site.url(`/part?${part}`), {
    isolation: 'batch',
    extract: valuesField.parse(page.values),
    waitUntil: 'load',
    elementMap: false,
    viewport: { width: 800, height: 600, deviceScaleFactor: 0.25 },
  });
  const { verdict, outputs } = await ground.running.actor.capture(request, patience, { batch: page.name });
  if (outputs.extract?.partial !== false) return captured(ground, page, state);
  const read: unknown = JSON.parse(String(outputs.extract?.content ?? '{}'));
  return {
    verdict: verdict?.name ?? null,
    verdict_reasons: [...(verdict?.reasons ?? [])],
    extract: z.record(z.string(), z.unknown()).parse(read),
  };
}

/**
 * Watches a page through its states: as it usually is, twice in the state, and twice as it was before. Returns a line
 * for each state in which something else is told than what is true, or another price is read.
 */
export async function wrongStates(ground: SiteAndActor, page: ShopPage): Promise<readonly string[]> {
  const usual = await captured(ground, page);
  const wrong: string[] = [];
  const price = priceProblem(page, usual);
  if (price !== undefined) wrong.push(`${page.name}, as usual: ${price}`);
  for (const state of STATES) {
    const then = await captured(ground, page, state);
    const told = await toldOf(page, [usual, then, then, usual, usual]);
    const names = page.changed(state).join(', ');
    const wanted = ['', names, '', names, ''];
    const problem = priceProblem(page, then, state);
    if (problem !== undefined) wrong.push(`${page.name}, ${state}: ${problem}`);
    else if (JSON.stringify(told.map(({ names }) => names)) !== JSON.stringify(wanted)) {
      wrong.push(
        `${page.name}, ${state}: told ${JSON.stringify(told)}, not ${JSON.stringify(wanted)}; ${JSON.stringify(then)}`,
      );
    }
  }
  return wrong;
}

function priceProblem(page: ShopPage, { extract }: Captured, state?: State): string | undefined {
  const wanted = page.price(state);
  if (wanted === undefined) return undefined;
  const { value, text } = MONEY.catch({ value: null, text: null }).parse(extract?.price);
  const isRight = value !== null && Math.abs(value.amount - wanted.amount) < 0.001 && value.to === wanted.to;
  return isRight
    ? undefined
    : `read ${JSON.stringify(value)} of ${JSON.stringify(text)}, not ${JSON.stringify(wanted)}`;
}

/** Makes the runs of a watch whose captures are these, and returns the names of the values that each of them tells. */
async function toldOf(page: ShopPage, captures: readonly Captured[]) {
  const { summary, parts } = watchOf(page);
  const told: { readonly names: string; readonly said: string | null }[] = [];
  let progress: Progress = NO_PROGRESS;
  for (const [at, capture] of captures.entries()) {
    const result = exampleResult(at + 1, capture);
    const outcome = { state: 'stored', result, evidence: null } as const;
    const { run: made, held = [] } = await makeRun(summary, progress, { ...parts, capture: async () => outcome });
    if (made === undefined) throw new Error('the run was not made');
    const run = { due: '', at: '', ...made };
    const changed = eventsOf(1, summary, progress, run).filter(({ type }) => type === 'watch.changed');
    const said = changed.length === 0 ? '' : (run.reason ?? '');
    // A sentence also says which values are missing.
    const news = said.split('; ').filter((part) => !/ is missing$|, which cannot be read$/.test(part));
    told.push({ names: news.map((part) => part.split(' ')[0]).join(', '), said: run.reason });
    progress = progressAfter(progress, { run, held }, summary.rules);
  }
  return told;
}

function watchOf({ values }: ShopPage): { readonly summary: Summary; readonly parts: Omit<RunParts, 'capture'> } {
  const written = { url: 'https://shop.example/', every: '1h', values };
  const wanted = requestSchemas(DEFAULT_LIMITS).watch.parse(written);
  const packed = packWatch(written, wanted, { by: ANY_CLIENT, createdAt: '', isPaused: false });
  // Its captures are in the lists above, and no images are compared.
  const artifacts: RunParts['artifacts'] = Object.assign(Object.create(null), { info: async () => ({}) });
  const report = (error: unknown) => {
    throw error;
  };
  return { summary: unpackSummary(packed.summary), parts: { artifacts, comparisons: Object.create(null), report } };
}
