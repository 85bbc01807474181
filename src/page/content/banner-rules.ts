import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AutoConsentCMPRule, Config, RuleBundle } from '@duckduckgo/autoconsent';
import { whenFirstAsked } from '../../capture/once.ts';
import type { BannerAnswer } from '../../capture/options/content.ts';

/** Number of times that a search of the document is repeated: 0.5 s later, then after each change of the document. */
const REPEAT_PASSES = 3;
/** Minimum time in which a banner may appear in a loaded page, in milliseconds. */
const APPEARING_MS = 2_000;
/** Minimum time for each search, and for each matching rule, to find a banner, in milliseconds. */
const SEARCHING_MS = 1_500;

/** A rule and the pages that it applies to. */
interface PlacedRule {
  readonly rule: AutoConsentCMPRule;
  readonly inTop: boolean;
  readonly inFrames: boolean;
  /** Null applies to all pages. */
  readonly url: RegExp | null;
}

interface Library {
  readonly source: string;
  readonly rules: readonly PlacedRule[];
}

/** The library's rules (0.8 MB): read at the first request that needs them, and kept. */
const loadLibrary = whenFirstAsked(async (): Promise<Library> => {
  const { resolve } = createRequire(import.meta.url);
  const [source, json] = await Promise.all([
    readFile(resolve('@duckduckgo/autoconsent'), 'utf8'),
    readFile(resolve('@duckduckgo/autoconsent/rules/rules.json'), 'utf8'),
  ]);
  const { autoconsent }: RuleBundle = JSON.parse(json);
  const rules = autoconsent.map((rule) => {
    const { main = true, frame = false, urlPattern } = rule.runContext ?? {};
    const url = urlPattern === undefined ? null : new RegExp(urlPattern);
    return { rule, inTop: main, inFrames: frame, url };
  });
  return { source, rules };
});

export interface BannerPlace {
  readonly url: string;
  readonly isTop: boolean;
}

/**
 * Returns the script that looks for a banner and answers it. Its value has `next()`, a promise of the next message
 * (`BannerNews`), and `evaluated(id, result)` for the results of queries in the page's own world.
 */
export async function bannerScript(answer: BannerAnswer, { url, isTop }: BannerPlace): Promise<string> {
  const { source, rules } = await loadLibrary();
  const config: Partial<Config> = {
    autoAction: answer === 'accept' ? 'optIn' : 'optOut',
    detectRetries: REPEAT_PASSES,
    // Banners that no rule knows are rejected, or acknowledged when that is all they offer, by the text of their
    // buttons. The library cannot accept that way: where there are both buttons, it rejects.
    heuristicMode: answer === 'accept' ? 'off' : 'tier1',
    enablePrehide: false,
    logs: SILENT,
  };
  const autoconsent = rules
    .filter((placed) => (isTop ? placed.inTop : placed.inFrames) && (placed.url?.test(url) ?? true))
    .map(({ rule }) => rule);
  return `(${RUN})(${JSON.stringify(config)}, ${JSON.stringify({ autoconsent })}, (module, exports) => {${source}
})`;
}

const SILENT: Config['logs'] = {
  lifecycle: false,
  rulesteps: false,
  detectionsteps: false,
  evals: false,
  errors: false,
  messages: false,
  waits: false,
};

/**
 * Runs in an isolated world of the page. The page's timer ends the search; ours could end it on a busy machine before
 * the page starts. Scripts of the page can clear timeouts of all worlds, but not those of signals.
 */
const RUN = `(config, rules, load) => {
  const module = { exports: {} };
  load(module, module.exports);
  const news = [];
  let wake = () => {};
  let last = '';
  let searches = 0;
  let ending = 0;
  const began = performance.now();
  const tell = (item) => { news.push(item); wake(); };
  const giveUp = () => tell({ type: 'state', state: 'nothingDetected', rule: '' });
  const searching = () => {
    const own = ++ending;
    const end = AbortSignal.timeout(Math.max(${SEARCHING_MS}, ${APPEARING_MS} - (performance.now() - began)));
    end.onabort = () => { if (own === ending) giveUp(); };
  };
  searching();
  const consent = new module.exports.default(async (message) => {
    if (message.type === 'eval') tell({ type: 'eval', id: message.id, code: message.code });
    if (message.type !== 'report') return;
    if (message.state.findCmpAttempts > searches || message.state.lifecycle === 'cmpDetected') searching();
    searches = message.state.findCmpAttempts;
    if (message.state.lifecycle === last) return;
    last = message.state.lifecycle;
    if (last === 'openPopupDetected') ending += 1;
    tell({ type: 'state', state: last, rule: message.state.detectedPopups.at(-1) ?? '' });
  }, config, rules);
  return {
    next: async () => {
      if (news.length === 0) await new Promise((resolve) => { wake = resolve; });
      return news.shift();
    },
    evaluated: (id, result) => consent.receiveMessageCallback({ type: 'evalResp', id, result }),
  };
}`;
