import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AutoConsentCMPRule, Config, RuleBundle } from '@duckduckgo/autoconsent';

/** How often a document is looked through; half a second lies between two looks. */
const REPEAT_PASSES = 3;

/** A rule, and where it holds. */
interface PlacedRule {
  readonly rule: AutoConsentCMPRule;
  readonly inTop: boolean;
  readonly inFrames: boolean;
  /** Null: anywhere. */
  readonly url: RegExp | null;
}

interface Library {
  readonly source: string;
  readonly rules: readonly PlacedRule[];
}

let library: Promise<Library> | undefined;

/** The library as its package has it: read when the first request wants it (0.8 MB), and kept. */
function loadLibrary(): Promise<Library> {
  library ??= read().catch((error: unknown) => {
    library = undefined;
    throw error;
  });
  return library;
}

async function read(): Promise<Library> {
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
}

export type BannerAnswer = 'accept' | 'reject';

export interface BannerPlace {
  readonly url: string;
  readonly isTop: boolean;
}

/**
 * The script that looks for a banner where it is run, and gives it the answer. Its value has `next()`, a promise of what
 * it has to tell (`BannerNews`), and `evaluated(id, result)` for the answers to what it wants evaluated in the page's
 * own world.
 */
export async function bannerScript(answer: BannerAnswer, { url, isTop }: BannerPlace): Promise<string> {
  const { source, rules } = await loadLibrary();
  const config: Partial<Config> = {
    autoAction: answer === 'accept' ? 'optIn' : 'optOut',
    detectRetries: REPEAT_PASSES,
    // What no rule knows is rejected by the words on its buttons; to accept by guessing is not offered.
    heuristicMode: answer === 'accept' ? 'off' : 'reject',
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

/** Runs in a world of its own in the page. */
const RUN = `(config, rules, load) => {
  const module = { exports: {} };
  load(module, module.exports);
  const news = [];
  let wake = () => {};
  let last = '';
  const tell = (item) => { news.push(item); wake(); };
  const consent = new module.exports.default(async (message) => {
    if (message.type === 'eval') tell({ type: 'eval', id: message.id, code: message.code });
    if (message.type !== 'report' || message.state.lifecycle === last) return;
    last = message.state.lifecycle;
    tell({ type: 'state', state: last });
  }, config, rules);
  return {
    next: async () => {
      if (news.length === 0) await new Promise((resolve) => { wake = resolve; });
      return news.shift();
    },
    evaluated: (id, result) => consent.receiveMessageCallback({ type: 'evalResp', id, result }),
  };
}`;
