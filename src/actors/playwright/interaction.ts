import { tmpdir } from 'node:os';
import type { Page } from 'playwright';
import { type Deadline, within } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpClosedError } from '../../cdp/connection.ts';
import { call } from '../../page/asking/page-scripts.ts';
import { checkSyntax } from '../../page/content/add-scripts.ts';
import { PageCrashedError } from '../../page/frames/main-frame.ts';
import type { Interaction, IsolatedPage } from '../../page/isolated-page.ts';
import { waitWithin } from '../../page/wait/wait-within.ts';
import type { BrowserHost } from '../browser-host.ts';
import { formSteps } from './fill-form.ts';
import { loadPlaywright } from './load-playwright.ts';
import { PageTransport } from './page-transport.ts';
import { performAction } from './perform-action.ts';
import { reasonOf } from './reason.ts';
import type { Step } from './step.ts';
import { untilItHolds } from './wait-for-function.ts';

/**
 * Playwright's timeout, shorter than ours by this margin in milliseconds, so that its error can give the reason, on a
 * busy machine too.
 */
const SOONER_MS = 250;
/** Share of the time left for the screenshot in which a page must answer, or counts as busy. */
const ANSWER_SHARE = 0.25;

/** Playwright on a page that is already open. It attaches on first use. */
export class PlaywrightInteraction implements Interaction {
  readonly #host: BrowserHost;
  readonly #page: IsolatedPage;
  #transport: PageTransport | undefined;
  #joining: Promise<Page> | undefined;

  constructor(host: BrowserHost, page: IsolatedPage) {
    this.#host = host;
    this.#page = page;
  }

  async act({ actions = [], form }: CaptureRequest, deadline: Deadline): Promise<boolean> {
    const steps: Step[] = actions.map((action, index) => ({
      name: `actions[${index}] (${action.type})`,
      selector: 'selector' in action ? action.selector : undefined,
      text: 'text' in action ? action.text : undefined,
      takesHidden: action.type === 'press' || action.type === 'scroll',
      take: (stage) => performAction(stage, action),
    }));
    if (form !== undefined) steps.push(...formSteps(form));
    for (const step of steps) if (!(await this.#take(step, deadline))) return false;
    return true;
  }

  async waitForFunction(source: string, deadline: Deadline): Promise<boolean> {
    const over = new AbortController();
    const { session } = this.#page;
    const take = async () => {
      await checkSyntax(session, 'waitForFunction', `(${source}\n)`);
      await untilItHolds(session, source, over.signal);
    };
    return this.#take({ name: 'waitForFunction', take }, deadline).finally(() => over.abort());
  }

  async ariaSnapshot(ms: number): Promise<string> {
    const page = await this.#join();
    return page.locator('body').ariaSnapshot({ timeout: ms });
  }

  /** Detaches Playwright from the page. */
  release(): void {
    this.#transport?.close();
  }

  /** Returns whether a step was done before the waiting time was over. Throws when the page prevents the step. */
  async #take({ name, take, ...sought }: Step, deadline: Deadline): Promise<boolean> {
    if (deadline.waitingMs === 0) return false;
    const patience = {
      get timeout() {
        return Math.max(1, Math.floor(deadline.waitingMs) - SOONER_MS);
      },
    };
    const taken = this.#join().then((page) => take({ page, isolated: this.#page, deadline, patience }));
    try {
      const done = await waitWithin(this.#page, deadline, name, taken);
      if (!done) await this.#endScripts(deadline);
      return done;
    } catch (error) {
      if (error instanceof CapstanError || error instanceof PageCrashedError || !(error instanceof Error)) throw error;
      if (this.#page.frame.crashed) throw new PageCrashedError();
      if (this.#host.connection.closed) throw new CdpClosedError('the browser is gone', { cause: error });
      if (error.name === 'TimeoutError' && (await this.#endScripts(deadline))) return false;
      const reason = reasonOf(error, sought);
      if (reason === undefined) return false;
      throw new CapstanError('action_failed', `${name}: ${reason}`);
    }
  }

  #join(): Promise<Page> {
    this.#joining ??= this.#connect();
    return this.#joining;
  }

  async #connect(): Promise<Page> {
    const { connection } = this.#host;
    const target = { targetId: this.#page.frame.id };
    const [chromium, { targetInfo }, { sessionId }] = await Promise.all([
      loadPlaywright(),
      connection.root.send('Target.getTargetInfo', target),
      connection.root.send('Target.attachToTarget', { ...target, flatten: true }),
    ]);
    const transport = new PageTransport(connection, targetInfo, sessionId);
    this.#transport = transport;
    const browser = await chromium.connectOverCDP(transport, {
      isLocal: true,
      // Playwright changes no settings of the page, and writes no files.
      noDefaults: true,
      artifactsDir: tmpdir(),
      timeout: 0,
    });
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error('Playwright did not find the page');
    return page;
  }

  /** Ends a script that blocks the page, so that a screenshot can be taken. Resolves with whether there was one. */
  async #endScripts({ remainingMs }: Deadline): Promise<boolean> {
    const { session } = this.#page;
    const asked = session.send('Runtime.evaluate', { expression: call('answers') });
    const answer = asked.then(
      () => true,
      () => true,
    );
    if (await within(remainingMs * ANSWER_SHARE, answer, false)) return false;
    session.post('Runtime.terminateExecution');
    return true;
  }
}
