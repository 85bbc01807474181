import type { Snippet } from '../api/types.ts';

/** Number of characters before the first word that was found, where there is room for one line. */
const BEFORE = 10;

interface SnippetTextProps {
  readonly snippet: Snippet;
  readonly class: string;
  /** Whether the beginning is left out, so that one line shows the first word that was found. */
  readonly isShort?: boolean;
}

/** A part of the text of a page, with the words that were found in it. */
export function SnippetText({ snippet, class: name, isShort = false }: SnippetTextProps) {
  const { text, highlights } = snippet;
  const first = highlights[0]?.start ?? 0;
  const from = isShort && first > BEFORE ? text.indexOf(' ', first - BEFORE) + 1 : 0;
  const start = from > first ? first : from;
  const ends = highlights.map(({ end }) => end);
  return (
    <span class={name}>
      {start > 0 && '… '}
      {highlights.map((each, at) => (
        <>
          {text.slice(Math.max(start, ends[at - 1] ?? 0), each.start)}
          <mark key={each.start}>{text.slice(each.start, each.end)}</mark>
        </>
      ))}
      {text.slice(ends.at(-1) ?? start)}
    </span>
  );
}
