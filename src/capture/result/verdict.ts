/** Kinds of page that a captured page can turn out to be. */
export const VERDICTS = [
  'content',
  'bot_wall',
  'login_wall',
  'consent_wall',
  'paywall',
  'error',
  'parked',
  'blank',
  'unfinished',
] as const;

/** Verdicts on which a capture may be repeated: another load may show more. */
export const RETRIED_VERDICTS = ['blank', 'unfinished'] as const satisfies readonly VerdictName[];

export type VerdictName = (typeof VERDICTS)[number];

/** The judgement on a captured page. */
export interface Verdict {
  readonly name: VerdictName;
  /** 0 to 1. */
  readonly confidence: number;
  /** The names of the rules that spoke for it, the strongest first; none for `content`. Never a text of the page. */
  readonly reasons: readonly string[];
}
