import { useState } from 'preact/hooks';
import { addressOf } from '../api/address.ts';
import { queryOf } from '../api/client.ts';
import type { Box, Result } from '../api/types.ts';
import { Icon } from './icon.tsx';
import { Mark } from './mark.tsx';

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
      {boxesOf(result).map((box) => (
        <Mark key={`${box.x} ${box.y}`} box={box} image={shownPart(result)} class="mark-found" />
      ))}
    </span>
  );
}

/** Height of a thumbnail in widths. */
const RATIO = 9 / 16;

function boxesOf({ snippets = [] }: Result): readonly Box[] {
  return snippets.flatMap(({ boxes }) => boxes);
}

/** The part of the image that the thumbnail shows: its top. */
function shownPart({ width }: Result) {
  return { width, height: width * RATIO };
}

/** Widths to request, in pixels. There are few, so that screens of all sizes share the service's cached thumbnails. */
const WIDTHS = [160, 320, 640];
const MAX_WIDTH = 960;

function thumbnailPath(screenshot: string, width: number): string {
  const pixels = width * devicePixelRatio;
  const chosen = WIDTHS.find((each) => each >= pixels * 0.75) ?? MAX_WIDTH;
  return addressOf(`${screenshot}${queryOf({ width: chosen, height: chosen * RATIO })}`);
}
