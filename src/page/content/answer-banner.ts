import { setTimeout as delay } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { z } from 'zod';
import { type Deadline, within } from '../../capture/deadline.ts';
import type { BannerAnswer } from '../../capture/options/content.ts';
import { type Banner, NO_BANNER } from '../../capture/result/banner.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { News } from '../../page-scripts/banner/search.ts';
import { evaluate } from '../asking/ask-page.ts';
import { type Call, call, functionOf, type PageScripts, type ResultOf } from '../asking/page-scripts.ts';
import { framesIn } from '../frames/frames-below.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { type BannerPlace, searchBanner } from './banner-rules.ts';

/**
 * Time limit for finding and answering a banner, in milliseconds. Some banners need three clicks on two pages of their
 * dialog. Where there is none, the page itself ends the search earlier, unless a script blocks it.
 */
const ANSWERING_MS = 8_000;
/** Time for the transition with which a banner disappears, in milliseconds. */
const LEAVING_MS = 400;
/** Number of frames searched besides the page itself; some banners are in a frame. */
const MAX_FRAMES = 8;
/** Time limit for a rule's query in the page's own world, in milliseconds. */
const QUESTION_MS = 1_000;

const news: z.ZodType<News> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('eval'), id: z.string(), code: z.string() }),
  z.object({ type: z.literal('state'), state: z.string(), rule: z.string() }),
]);

const ANSWERED = new Set(['done', 'optOutSucceeded', 'optInSucceeded']);
const GIVEN_UP = new Set(['nothingDetected', 'optOutFailed', 'optInFailed']);

/** The library's names of banners that it knows only by the words on their buttons. */
const BY_WORDS = /^HEURISTIC/;

/**
 * Looks for a cookie banner in a loaded page and answers it, by the rules of DuckDuckGo's autoconsent, else by the
 * words on its buttons. Resolves with whether there was time to look for one. A page without a banner stays unchanged.
 */
export async function answerBanner(page: IsolatedPage, answer: BannerAnswer, deadline: Deadline): Promise<boolean> {
  if (deadline.waitingMs === 0) return false;
  // A search that breaks off has found nothing; null means that there was none.
  page.visit.banner ??= NO_BANNER;
  try {
    const endsAt = performance.now() + Math.min(ANSWERING_MS, deadline.waitingMs);
    const answered = await before(endsAt, page.session.send('Page.getFrameTree'));
    if (answered === null) return false;
    const { frameTree } = answered;
    const frames = framesIn(frameTree).slice(0, 1 + MAX_FRAMES);
    const answering = frames.map((frame) => answerIn(page, frame, answer, endsAt));
    const known = await firstAnswer(answering);
    // A banner that a rule could not refuse is not acknowledged instead. A search that did not end may have clicked
    // something.
    const mayAcknowledge = !known.found && performance.now() < endsAt;
    const isOpen = known.action === 'none' && (answer === 'accept' || mayAcknowledge);
    const banner = isOpen ? await answerByWords(page, answer) : known;
    page.visit.banner = banner.found || !known.found ? banner : known;
    if (page.visit.banner.action !== 'none') await delay(LEAVING_MS);
  } catch (error) {
    if (!(error instanceof CdpError)) throw error;
    // The document was replaced, as happens on some sites after the answer.
  }
  return deadline.waitingMs > 0;
}

/** Resolves with the answer, or with null at `endsAt`. */
function before<T>(endsAt: number, work: Promise<T>): Promise<T | null> {
  return within(Math.max(0, endsAt - performance.now()), work, null);
}

/** Resolves with the first banner that is answered; when none is, with one that was found, or with `NO_BANNER`. */
function firstAnswer(answers: readonly Promise<Banner>[]): Promise<Banner> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((banner) => banner.action !== 'none' && resolve(banner), reject);
    Promise.all(answers).then((banners) => resolve(banners.find(({ found }) => found) ?? NO_BANNER), reject);
  });
}

/** Resolves with the banner of this frame, when it is answered or no longer looked for. */
async function answerIn(
  { session, frame: main }: IsolatedPage,
  frame: Protocol.Page.Frame,
  answer: BannerAnswer,
  endsAt: number,
): Promise<Banner> {
  const place: BannerPlace = { url: frame.url, isTop: frame.id === main.id };
  let banner = NO_BANNER;
  try {
    const starting = searchBanner(answer, place).then((search) => startIn(session, frame.id, search));
    const consent = await before(endsAt, starting);
    if (consent === null) return banner;
    for (;;) {
      const item = await before(endsAt, consent.next());
      if (item === null) return banner;
      if (item.type === 'state' && item.rule !== '') {
        banner = { found: true, rule: BY_WORDS.test(item.rule) ? 'words' : item.rule, action: 'none' };
      }
      if (item.type === 'state' && GIVEN_UP.has(item.state)) return banner;
      if (item.type === 'eval') {
        // Queries run only in the main frame: in a child frame, the world of its own scripts cannot be addressed.
        const result = place.isTop && (await ask(session, item.code));
        await before(endsAt, consent.evaluated(item.id, result));
      } else if (ANSWERED.has(item.state)) {
        return { ...banner, found: true, action: answer === 'accept' ? 'accepted' : 'rejected' };
      }
    }
  } catch (error) {
    // A frame may end at any time, and frames of other processes are not accessible.
    if (error instanceof CdpError && !place.isTop) return banner;
    throw error;
  }
}

async function startIn(session: PageSession, frameId: string, expression: Call) {
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId });
  const { result } = await session.send('Runtime.evaluate', { expression, contextId });
  const { objectId } = result;
  // Requires an HTML document.
  if (objectId === undefined || result.subtype === 'error') return null;
  const tell = async (name: keyof PageScripts, ...values: (string | boolean)[]): Promise<unknown> => {
    const { result: answer } = await session.send('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: functionOf(name),
      arguments: [{ objectId }, ...values.map((value) => ({ value }))],
      awaitPromise: true,
      returnByValue: true,
    });
    return answer.value;
  };
  return {
    next: async () => news.parse(await tell('nextBannerNews')),
    evaluated: (id: string, result: boolean) => tell('answerBannerQuery', id, result),
  };
}

/** Evaluates a query of the library among the page's own scripts. The result is untrusted. */
async function ask(session: PageSession, expression: string): Promise<boolean> {
  const asked = session.send('Runtime.evaluate', {
    expression: `Promise.resolve(${expression}).then(Boolean)`,
    awaitPromise: true,
    returnByValue: true,
    timeout: QUESTION_MS,
  });
  const answer = await within(
    QUESTION_MS,
    asked.catch(() => null),
    null,
  );
  return answer?.result.value === true;
}

const clicked: z.ZodType<ResultOf<'answerByWords'>> = z.enum(['accepted', 'rejected', 'acknowledged', 'none']);

/** Answers a banner that no rule knows by the words on its buttons, in the page itself. */
async function answerByWords(page: IsolatedPage, answer: BannerAnswer): Promise<Banner> {
  const action = clicked.catch('none').parse(await evaluate(page, call('answerByWords', answer)));
  return action === 'none' ? NO_BANNER : { found: true, rule: 'words', action };
}
