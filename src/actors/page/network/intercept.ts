import type { Protocol } from 'devtools-protocol';
import type { Credentials } from '../../../capture/options/credentials.ts';
import type { PageSession } from '../isolated-page.ts';

/*
 * The one place that pauses what a page asks for (`Fetch.enable`). Whoever wants to see, change or stop requests adds
 * a rule:
 *
 *     await page.visit.interception.add({
 *       patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }],
 *       judge: (paused) => (paused.responseStatusCode === 204 ? { verdict: 'fail' } : undefined),
 *     });
 *
 * Each paused request is put to every rule, those that another rule's patterns paused among them: a rule answers
 * `undefined` for what is not its own, and looks at `responseStatusCode` or `responseErrorReason` when it cares about
 * the stage. `own` outweighs `fail`, which outweighs `continue`; the headers of several `continue`s are added up. A
 * page without rules pauses nothing and costs nothing. What no rule answers goes on as it was.
 */

export type PausedRequest = Protocol.Fetch.RequestPausedEvent;

/** What is to become of a paused request. */
export type Verdict =
  /** As if a person had told the browser to block it. */
  | { readonly verdict: 'fail' }
  /** The rule settles it by itself, with what answer it likes. */
  | { readonly verdict: 'own' }
  /** Sent with these headers in place of its own of the same names. Only before it is sent. */
  | { readonly verdict: 'continue'; readonly headers: Readonly<Record<string, string>> };

export interface InterceptionRule {
  /** Which requests are paused for it. In `urlPattern` `*` stands for any characters, `?` for one. */
  readonly patterns: readonly Protocol.Fetch.RequestPattern[];
  /** It must neither throw nor reject. The request waits for the answer. */
  judge?(paused: PausedRequest): Verdict | undefined | Promise<Verdict | undefined>;
  /** Who to say that the visitor is where a server asks; undefined where that is not this rule's business. */
  answer?(challenge: Protocol.Fetch.AuthRequiredEvent): Credentials | undefined;
}

/** What is paused on one page, and what becomes of it. */
export class Interception {
  readonly #session: PageSession;
  readonly #rules: InterceptionRule[] = [];

  constructor(session: PageSession) {
    this.#session = session;
  }

  /**
   * Resolves when the rules hold for every request from then on; they need not be awaited before a navigation that is
   * sent after them. Rejects with a `CdpClosedError` when the page is gone.
   */
  async add(...rules: readonly InterceptionRule[]): Promise<void> {
    if (rules.length === 0) return;
    if (this.#rules.length === 0) this.#listen();
    this.#rules.push(...rules);
    await this.#session.send('Fetch.enable', {
      patterns: this.#rules.flatMap(({ patterns }) => [...patterns]),
      handleAuthRequests: this.#rules.some(({ answer }) => answer !== undefined),
    });
  }

  #listen(): void {
    this.#session.on('Fetch.requestPaused', (paused) => void this.#settle(paused));
    this.#session.on('Fetch.authRequired', (challenge) => {
      const known = this.#rules
        .map((rule) => rule.answer?.(challenge))
        .find((credentials) => credentials !== undefined);
      this.#session.post('Fetch.continueWithAuth', {
        requestId: challenge.requestId,
        // Not asked again, and nobody is there to be asked: the page that stands behind the question is shown.
        authChallengeResponse: known ? { response: 'ProvideCredentials', ...known } : { response: 'CancelAuth' },
      });
    });
  }

  async #settle(paused: PausedRequest): Promise<void> {
    const { requestId } = paused;
    const judged = await Promise.all(this.#rules.map((rule) => rule.judge?.(paused)));
    const verdicts = judged.filter((verdict) => verdict !== undefined);
    if (verdicts.some(({ verdict }) => verdict === 'own')) return;
    if (verdicts.some(({ verdict }) => verdict === 'fail')) {
      this.#session.post('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
      return;
    }
    const added = verdicts.flatMap((verdict) =>
      verdict.verdict === 'continue' ? Object.entries(verdict.headers) : [],
    );
    const sent = added.length === 0 ? {} : { headers: withHeaders(paused.request.headers, added) };
    this.#session.post('Fetch.continueRequest', { requestId, ...sent });
  }
}

function withHeaders(
  own: Readonly<Record<string, string>>,
  added: readonly (readonly [name: string, value: string])[],
): Protocol.Fetch.HeaderEntry[] {
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  const kept = Object.entries(own).filter(([name]) => !names.has(name.toLowerCase()));
  return [...kept, ...added].map(([name, value]) => ({ name, value }));
}
