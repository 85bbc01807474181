import type { Protocol } from 'devtools-protocol';
import type { Credentials } from '../../capture/options/credentials.ts';
import type { PageSession } from '../frames/page-session.ts';

/*
 * The one place that pauses a page's requests (`Fetch.enable`). To see, change or stop requests, add a rule:
 *
 *     await page.visit.interception.add({
 *       patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }],
 *       judge: (paused) => (paused.responseStatusCode === 204 ? { verdict: 'fail' } : undefined),
 *     });
 *
 * Every rule judges every paused request, even one that was paused by another rule's patterns. A rule returns
 * `undefined` for a request that does not concern it, and distinguishes the stages by `responseStatusCode` and
 * `responseErrorReason`. `own` takes precedence over `fail`, and `fail` over `continue`; the headers of several
 * `continue` verdicts are merged. A request without a verdict continues unchanged. Without rules nothing is paused.
 */

export type PausedRequest = Protocol.Fetch.RequestPausedEvent;

/** The decision about a paused request. */
export type Verdict =
  /** Fails as if blocked by a browser extension. */
  | { readonly verdict: 'fail' }
  /** The rule answers the request itself. */
  | { readonly verdict: 'own' }
  /** Adds headers, which replace those of the same names. Valid only before the request is sent. */
  | { readonly verdict: 'continue'; readonly headers: Readonly<Record<string, string>> };

export interface InterceptionRule {
  /** Requests to pause for this rule. In `urlPattern`, `*` stands for any characters and `?` for one. */
  readonly patterns: readonly Protocol.Fetch.RequestPattern[];
  /** Returns the rule's verdict, for which the request waits. Must neither throw nor reject. */
  judge?(paused: PausedRequest): Verdict | undefined | Promise<Verdict | undefined>;
  /** Returns the credentials for a server that asks for them; undefined when the rule does not apply. */
  answer?(challenge: Protocol.Fetch.AuthRequiredEvent): Credentials | undefined;
}

/** Pauses the requests of one page and decides about them. */
export class Interception {
  readonly #session: PageSession;
  readonly #rules: InterceptionRule[] = [];

  constructor(session: PageSession) {
    this.#session = session;
  }

  /**
   * Resolves when the rules apply to every later request; a navigation sent afterwards need not await it. Rejects with
   * a `CdpClosedError` when the page has ended.
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
        // No retry and no prompt: the page that the server shows without credentials is captured.
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
