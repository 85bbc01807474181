import type { Verdict, VerdictName } from '../../capture/result/verdict.ts';
import type { Signs } from '../../page-scripts/signs/read-signs.ts';
import { folded } from '../../words/folded.ts';
import { RULES, type Seen } from './rules.ts';

/** Minimum confidence for a verdict other than `content`. */
const MIN_CONFIDENCE = 0.6;

/** Known facts of a page beside its signs. */
interface KnownPage extends Pick<Seen, 'title' | 'status' | 'isBlank' | 'isBrokenOff'> {
  readonly finalUrl: string;
}

/** Returns the verdict for which the rules speak most. */
export function judge(signs: Signs, page: KnownPage): Verdict {
  const seen = foldedSigns(signs, page);
  const doubts = new Map<VerdictName, number>();
  const held = RULES.filter((rule) => rule.holds(seen)).sort((a, b) => b.weight - a.weight);
  for (const { verdict, weight } of held) doubts.set(verdict, (doubts.get(verdict) ?? 1) * (1 - weight));
  const [name = 'content', doubt = 1] = [...doubts].sort((a, b) => a[1] - b[1])[0] ?? [];
  const confidence = 1 - doubt;
  if (confidence < MIN_CONFIDENCE) return { name: 'content', confidence: rounded(1 - confidence), reasons: [] };
  const reasons = held.filter(({ verdict }) => verdict === name).map(({ reason }) => reason);
  return { name, confidence: rounded(confidence), reasons };
}

function foldedSigns(signs: Signs, { title, status, finalUrl, isBlank, isBrokenOff }: KnownPage): Seen {
  const [text, headings, written] = [folded(signs.text), folded(signs.headings), folded(title)];
  return {
    ...signs,
    text,
    headings,
    names: signs.names.toLowerCase(),
    frames: signs.frames.map((url) => url.toLowerCase()),
    scripts: signs.scripts.map((url) => url.toLowerCase()),
    overlay: {
      ...signs.overlay,
      text: folded(signs.overlay.text),
      names: signs.overlay.names.toLowerCase(),
      frames: signs.overlay.frames.map((url) => url.toLowerCase()),
    },
    title: written,
    status,
    isBlank,
    isBrokenOff,
    url: finalUrl.toLowerCase(),
    words: `${written} ${headings} ${text}`,
  };
}

function rounded(share: number): number {
  return Math.round(share * 100) / 100;
}
