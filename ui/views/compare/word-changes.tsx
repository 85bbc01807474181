import type { Comparison } from '../../api/types.ts';
import { worded } from '../../parts/badge.tsx';
import { integer } from '../../parts/format.ts';
import { TargetLink } from '../../parts/target-link.tsx';

/** Class of a line of `text.unified`, by its first character. */
const LINES: Readonly<Record<string, string>> = { '+': 'diff-added', '-': 'diff-removed', '@': 'diff-place' };

/** Title, status and verdict, where they differ. */
export function FactChanges({ comparison }: { readonly comparison: Comparison }) {
  const { title, response_code: status, verdict } = comparison;
  const facts = [
    ['Title', title],
    ['Status', status],
    ['Verdict', verdict],
  ] as const;
  return (
    <dl class="change-what">
      {facts.map(
        ([name, change]) =>
          change !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code class="diff-removed">{worded(String(change.from ?? 'unknown'))}</code>{' '}
                <code class="diff-added">{worded(String(change.to ?? 'unknown'))}</code>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** The painted text as a unified diff. */
export function TextChanges({ text }: { readonly text: NonNullable<Comparison['text']> }) {
  const { added, removed, unified, truncated } = text;
  if (unified === '') return <p class="muted">The same text.</p>;
  return (
    <>
      <p class="muted number">
        {integer(added)} added, {integer(removed)} removed
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard */}
      <section class="diff" tabIndex={0} aria-label="Differences of the text">
        <pre>
          {unified
            .trimEnd()
            .split('\n')
            .map((line, at) => (
              <span key={at} class={LINES[line.charAt(0)] ?? ''}>
                {`${line}\n`}
              </span>
            ))}
        </pre>
      </section>
      {truncated && <p class="muted">The diff is longer; this is its beginning.</p>}
    </>
  );
}

/** Links of only one of the pages. */
export function LinkChanges({ links }: { readonly links: NonNullable<Comparison['links']> }) {
  const { added, removed, truncated } = links;
  if (added.length + removed.length === 0) return <p class="muted">The same links.</p>;
  return (
    <>
      <ul class="link-changes">
        {removed.map((url) => (
          <li key={`-${url}`} class="diff-removed">
            <span class="sr-only">Removed: </span>
            <TargetLink url={url} />
          </li>
        ))}
        {added.map((url) => (
          <li key={`+${url}`} class="diff-added">
            <span class="sr-only">Added: </span>
            <TargetLink url={url} />
          </li>
        ))}
      </ul>
      {truncated && <p class="muted">There are more.</p>}
    </>
  );
}
