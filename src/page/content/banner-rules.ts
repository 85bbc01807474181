import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AutoConsentCMPRule, Config, RuleBundle } from '@duckduckgo/autoconsent';
import { whenFirstAsked } from '../../capture/basics/once.ts';
import type { BannerAnswer } from '../../capture/options/content.ts';
import type { BannerSearch } from '../../page-scripts/banner/search.ts';
import { type Call, callWithModule } from '../asking/page-scripts.ts';

/** Number of times that a search of the document is repeated: 0.5 s later, then after each change of the document. */
const REPEAT_PASSES = 3;

/** A rule and the pages that it applies to. */
interface PlacedRule {
  readonly rule: AutoConsentCMPRule;
  readonly inTop: boolean;
  readonly inFrames: boolean;
  /** Whether it refuses otherwise than it accepts. */
  readonly canRefuse: boolean;
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
    return { rule, inTop: main, inFrames: frame, canRefuse: canRefuse(rule), url };
  });
  return { source, rules };
});

/** Rules that were made by a program have the text of the button as a comment. */
function canRefuse({ optIn, optOut }: AutoConsentCMPRule): boolean {
  const isSame = JSON.stringify(optIn) === JSON.stringify(optOut);
  return !isSame && !optOut.some(({ comment = '' }) => /^(?:ok|okay|got it|continue)$/i.test(comment.trim()));
}

export interface BannerPlace {
  readonly url: string;
  readonly isTop: boolean;
}

/** Returns the call that looks for a banner and answers it. */
export async function searchBanner(answer: BannerAnswer, { url, isTop }: BannerPlace): Promise<Call<BannerSearch>> {
  const { source, rules } = await loadLibrary();
  const config: Partial<Config> = {
    autoAction: answer === 'accept' ? 'optIn' : 'optOut',
    detectRetries: REPEAT_PASSES,
    // Banners that no rule knows are rejected by the text of their buttons. The library cannot accept that way, and
    // acknowledges also where another button has words that it does not know.
    heuristicMode: answer === 'accept' ? 'off' : 'reject',
    enablePrehide: false,
    logs: SILENT,
  };
  const autoconsent = rules
    .filter(({ canRefuse }) => canRefuse || answer === 'accept')
    .filter((placed) => (isTop ? placed.inTop : placed.inFrames) && (placed.url?.test(url) ?? true))
    .map(({ rule }) => rule);
  return callWithModule('searchBanner', source, config, { autoconsent });
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
