import { web } from '../dom/web.ts';

/** Minimum time in which a banner may appear in a loaded page, in milliseconds. */
const APPEARING_MS = 2_000;
/** Minimum time for each search, and for each matching rule, to find a banner, in milliseconds. */
const SEARCHING_MS = 1_500;

/** A message of a search: a query to evaluate in the page's own world, or its state and the rule that matched. */
export type News =
  | { readonly type: 'eval'; readonly id: string; readonly code: string }
  | { readonly type: 'state'; readonly state: string; readonly rule: string };

/** The messages of autoconsent, with the fields that are used. */
type Message =
  | { readonly type: 'eval'; readonly id: string; readonly code: string }
  | {
      readonly type: 'report';
      readonly state: {
        readonly lifecycle: string;
        readonly findCmpAttempts: number;
        readonly detectedPopups: readonly string[];
      };
    };

interface Consent {
  receiveMessageCallback(message: { type: 'evalResp'; id: string; result: boolean }): void;
}

interface Library {
  default?: new (send: (message: Message) => Promise<void>, config: object, rules: object) => Consent;
}

/** The module of autoconsent, which fills `module.exports`. */
export type LoadLibrary = (module: { exports: Library }, exports: Library) => void;

/**
 * A search for a banner, which answers it. The page's timer ends it: one of the service could end it on a busy machine
 * before the page starts. Scripts of the page can clear timeouts of all worlds, but not those of signals.
 */
export class BannerSearch {
  readonly #began = web.performance.now();
  readonly #news: News[] = [];
  readonly #consent: Consent;
  #wake = () => {};
  #last = '';
  #searches = 0;
  #ending = 0;

  constructor(load: LoadLibrary, config: object, rules: object) {
    const module: { exports: Library } = { exports: {} };
    load(module, module.exports);
    const { default: AutoConsent } = module.exports;
    if (AutoConsent === undefined) throw new TypeError('autoconsent has no default export');
    this.#endLater();
    this.#consent = new AutoConsent((message) => this.#hear(message), config, rules);
  }

  /** Resolves with the next news. */
  async next(): Promise<News | undefined> {
    if (this.#news.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#news.shift();
  }

  /** Takes the result of a query. */
  evaluated(id: string, result: boolean): void {
    this.#consent.receiveMessageCallback({ type: 'evalResp', id, result });
  }

  async #hear(message: Message): Promise<void> {
    if (message.type === 'eval') this.#tell({ type: 'eval', id: message.id, code: message.code });
    if (message.type !== 'report') return;
    const { lifecycle, findCmpAttempts, detectedPopups } = message.state;
    if (findCmpAttempts > this.#searches || lifecycle === 'cmpDetected') this.#endLater();
    this.#searches = findCmpAttempts;
    if (lifecycle === this.#last) return;
    this.#last = lifecycle;
    if (lifecycle === 'openPopupDetected') this.#ending += 1;
    this.#tell({ type: 'state', state: lifecycle, rule: detectedPopups.at(-1) ?? '' });
  }

  #tell(news: News): void {
    this.#news.push(news);
    this.#wake();
  }

  #endLater(): void {
    this.#ending += 1;
    const own = this.#ending;
    const ms = Math.max(SEARCHING_MS, APPEARING_MS - (web.performance.now() - this.#began));
    web.AbortSignal.timeout(ms).addEventListener('abort', () => {
      if (own === this.#ending) this.#tell({ type: 'state', state: 'nothingDetected', rule: '' });
    });
  }
}
