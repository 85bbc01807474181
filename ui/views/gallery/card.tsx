import { queryOf } from '../../api/client.ts';
import type { Result } from '../../api/types.ts';
import { Badge, MarkBadges, OptionBadges, OutcomeBadge, VerdictBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, pageName, shortUrl } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { hrefOf } from '../../parts/route.ts';
import { SnippetText } from '../../parts/snippet-text.tsx';
import { Thumbnail } from '../../parts/thumbnail.tsx';

interface CardProps {
  readonly result: Result;
  readonly index: number;
  readonly width: number;
  /** The words that were searched for; empty for none. */
  readonly words: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  /** Number of captures that look like this one, itself included, where captures are grouped by their look. */
  readonly alike: number | undefined;
  /** Shows or hides the other captures of its group. */
  readonly fold?: { readonly isOpen: boolean; readonly change: () => void } | undefined;
}

/** A capture in the gallery: a card, or a row of the table, which differ in their style alone. */
export function Card({ result, index, width, words, isChosen, onChoose, alike, fold }: CardProps) {
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
      {alike !== undefined && (
        <span class="card-look">
          {fold === undefined || alike === 1 ? (
            <Badge tone={alike === 1 ? 'warn' : 'plain'}>
              {alike === 1 ? 'looks like no other' : `${alike} alike`}
            </Badge>
          ) : (
            <button type="button" class="button card-fold" aria-expanded={fold.isOpen} onClick={fold.change}>
              {alike} alike
            </button>
          )}
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
