import { useState } from 'preact/hooks';
import { addressOf } from '../api/address.ts';
import { queryOf } from '../api/client.ts';
import type { Result } from '../api/types.ts';
import { Icon } from './icon.tsx';

/** Thumbnail of a capture, or a placeholder. Hidden from screen readers, because the title is next to it. */
export function Thumbnail({ result, width }: { readonly result: Result; readonly width: number }) {
  const [isMissing, setMissing] = useState(false);
  const { screenshot, format, failed } = result;
  if (failed || screenshot === '' || isMissing) {
    return (
      <span class="thumbnail none">
        <Icon name={failed ? 'warning' : 'gallery'} size={28} />
      </span>
    );
  }
  if (format === 'pdf') return <span class="thumbnail none paper">PDF</span>;
  return (
    <span class="thumbnail">
      <img
        src={thumbnailPath(screenshot, width)}
        alt=""
        loading="lazy"
        decoding="async"
        onError={() => setMissing(true)}
      />
    </span>
  );
}

/** Widths to request, in pixels. There are few, so that screens of all sizes share the service's cached thumbnails. */
const WIDTHS = [160, 320, 640];
const MAX_WIDTH = 960;

function thumbnailPath(screenshot: string, width: number): string {
  const pixels = width * devicePixelRatio;
  const chosen = WIDTHS.find((each) => each >= pixels * 0.75) ?? MAX_WIDTH;
  return addressOf(`${screenshot}${queryOf({ width: chosen, height: (chosen * 9) / 16 })}`);
}
