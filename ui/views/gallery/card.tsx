import type { Result } from '../../api/types.ts';
import { OutcomeBadge } from '../../parts/badge.tsx';
import { ago, dateAndTime, shortUrl } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';

interface CardProps {
  readonly result: Result;
  readonly index: number;
  readonly width: number;
}

export function Card({ result, index, width }: CardProps) {
  const { id, title, url, host, probed_at: at } = result;
  const name = title.trim() === '' ? shortUrl(url) : title;
  return (
    <article class="card">
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
    </article>
  );
}
