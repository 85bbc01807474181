import { useEffect, useRef } from 'preact/hooks';
import type { Box } from '../api/types.ts';

export type Size = Pick<Box, 'width' | 'height'>;

interface MarkProps {
  readonly box: Box;
  /** The size of the image, in its pixels. */
  readonly image: Size;
  readonly class: string;
  readonly title?: string | undefined;
  /** Whether the screenshot is scrolled to the mark. */
  readonly isRevealed?: boolean;
}

/** A place in an image, as a box over it. It lies in an element that is as large as the shown image. */
export function Mark({ box, image, class: name, title, isRevealed = false }: MarkProps) {
  const mark = useRef<HTMLSpanElement>(null);
  const share = (part: number, whole: number) => `${(100 * part) / whole}%`;
  useEffect(() => {
    if (isRevealed && mark.current !== null) reveal(mark.current);
  }, [isRevealed, box]);
  return (
    <span
      ref={mark}
      class={`mark ${name}`}
      title={title}
      style={{
        left: share(box.x, image.width),
        top: share(box.y, image.height),
        width: share(box.width, image.width),
        height: share(box.height, image.height),
      }}
    />
  );
}

/** Scrolls the screenshot, and not the page, so that what is pointed at stays under the pointer. */
function reveal(mark: HTMLElement): void {
  const screenshot = mark.closest('.canvas');
  if (screenshot === null) return;
  const [seen, place] = [screenshot.getBoundingClientRect(), mark.getBoundingClientRect()];
  const isSeen = place.top < seen.bottom && place.bottom > seen.top && place.top >= seen.top;
  if (!isSeen) screenshot.scrollTop += place.top - seen.top - (seen.height - Math.min(place.height, seen.height)) / 3;
}
