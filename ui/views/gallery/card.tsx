import type { Result } from '../../api/types.ts';
import { OutcomeBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, shortUrl } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';

interface CardProps {
  readonly result: Result;
  readonly index: number;
  readonly width: number;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export function Card({ result, index, width, isChosen, onChoose }: CardProps) {
  const { id, title, url, host, probed_at: at } = result;
  const name = title.trim() === '' ? shortUrl(url) : title;
  return (
    <article class={isChosen ? 'card chosen' : 'card'}>
      <a class="card-link" href={hrefOf(`/captures/${id}`)} data-index={index} title={url}>
        <Thumbnail result={result} width={width} />
        <span class="card-title">{name}</span>
      </a>
      <p class="card-facts">
        <span class="card-host">{host}</span>
        <time dateTime={at} title={dateAndTime(at)}>
          {ago(at)}
        </time>
        <OutcomeBadge result={result} />
      </p>
      <button
        type="button"
        class="card-choose"
        aria-pressed={isChosen}
        aria-label={`Compare ${name}`}
        title="Choose for a comparison (x)"
        onClick={onChoose}
      >
        <Icon name={isChosen ? 'check' : 'compare'} size={14} />
      </button>
    </article>
  );
}
