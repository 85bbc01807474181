import { queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';
import { Badge, MarkBadges, OptionBadges, OutcomeBadge, VerdictBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, pageName, shortUrl } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { hrefOf } from '../../parts/route.ts';
import { SnippetText } from '../../parts/snippet-text.tsx';
import { Thumbnail } from '../../parts/thumbnail.tsx';
import type { Look } from './use-looks.ts';

interface CardProps {
  readonly result: Result;
  readonly index: number;
  readonly width: number;
  /** The words that were searched for; empty for none. */
  readonly words: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  /** Undefined where captures are not grouped by their look. */
  readonly look: Look | undefined;
}

/** A capture in the gallery: a card, or a row of the table, which differ in their style alone. */
export function Card({ result, index, width, words, isChosen, onChoose, look }: CardProps) {
  const { id, url, host, probed_at: at, snippets = [] } = result;
  // The one with the most of the words.
  const [snippet] = snippets.toSorted((a, b) => b.highlights.length - a.highlights.length);
  const name = pageName(result);
  return (
    <article class={isChosen ? 'card chosen' : 'card'}>
      <a
        class="card-link"
        href={hrefOf(`/results/${id}${queryOf({ words })}`)}
        data-index={index}
        data-place={id}
        title={url}
      >
        <Thumbnail result={result} width={width} />
        <span class="card-title">{name}</span>
        {snippet === undefined ? (
          <span class="card-path">
            <span class="card-host">{host}</span>
            <span class="card-route">{shortUrl(url).slice(shortUrl(url).search(/[/?#]|$/))}</span>
          </span>
        ) : (
          <SnippetText snippet={snippet} class="card-snippet" isShort />
        )}
      </a>
      {look !== undefined && (
        <span class="card-look">
          <LookButton {...look} />
        </span>
      )}
      <p class="card-facts">
        <span class="card-made">
          <MarkBadges result={result} max={2} />
          <OptionBadges result={result} max={2} />
        </span>
        <time dateTime={at} title={dateAndTime(at)}>
          {ago(at)}
        </time>
        <VerdictBadge result={result} />
        <OutcomeBadge result={result} />
      </p>
      <button
        type="button"
        class="card-choose"
        aria-pressed={isChosen}
        aria-label={`Select ${name}`}
        title="Select (x)"
        onClick={onChoose}
      >
        <Icon name={isChosen ? 'check' : 'plus'} size={14} />
      </button>
    </article>
  );
}

/** How many captures look like this one, and the button that shows them. */
function LookButton({ alike, fold }: Look) {
  if (alike === 1) return <Badge tone="warn">looks like no other</Badge>;
  if (fold === undefined) return <Badge tone="plain">{`${alike} alike`}</Badge>;
  return (
    <button type="button" class="button card-fold" aria-expanded={fold.isOpen} onClick={fold.change}>
      {alike} alike
    </button>
  );
}
