import type { Sides } from '../boxes/boxes.ts';

/**
 * Where an image is in the page's window, in CSS pixels. `scale`: image pixels for a CSS pixel; the size is in pixels.
 */
export interface ImagePlace {
  readonly left: number;
  readonly top: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

export const moved = ({ left, top, right, bottom }: Sides, dx: number, dy: number): Sides => ({
  left: left + dx,
  top: top + dy,
  right: right + dx,
  bottom: bottom + dy,
});

/** Returns the part of a rectangle within another one; without one, all of it. */
export const clipped = (place: Sides, clip: Sides | null): Sides =>
  clip === null
    ? place
    : {
        left: Math.max(place.left, clip.left),
        top: Math.max(place.top, clip.top),
        right: Math.min(place.right, clip.right),
        bottom: Math.min(place.bottom, clip.bottom),
      };

export const isEmpty = ({ left, top, right, bottom }: Sides): boolean => left >= right || top >= bottom;

/** Returns where in an image a rectangle is, in whole pixels; undefined when the image does not show it. */
export function inImage({ left, top, right, bottom }: Sides, image: ImagePlace) {
  const x = Math.round((left - image.left) * image.scale);
  const y = Math.round((top - image.top) * image.scale);
  const width = Math.max(1, Math.round((right - image.left) * image.scale) - x);
  const height = Math.max(1, Math.round((bottom - image.top) * image.scale) - y);
  const isInImage = x < image.width && y < image.height && x + width > 0 && y + height > 0;
  return isInImage ? ([x, y, width, height] as const) : undefined;
}
