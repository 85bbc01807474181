import { areaOutside } from '../../capture/comparison/boxes.ts';
import type { Box } from '../../capture/comparison/comparison.ts';

/** Height of the bands by which boxes are found, in pixels. */
const BAND = 64;

/** The rectangles of an image in which no difference counts. A selector can match thousands of elements. */
export class IgnoredPlaces {
  readonly #boxes: readonly Box[];
  readonly #bands = new Map<number, Box[]>();

  constructor(boxes: readonly Box[], height: number) {
    this.#boxes = boxes;
    for (const box of boxes) {
      const bottom = Math.min(box.y + box.height, height);
      for (let band = Math.floor(box.y / BAND); band * BAND < bottom; band += 1) {
        const inBand = this.#bands.get(band) ?? [];
        inBand.push(box);
        this.#bands.set(band, inBand);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#boxes.length === 0;
  }

  /** Not by a closure, for which each pixel would allocate. */
  has(x: number, y: number): boolean {
    const boxes = this.#bands.get(Math.floor(y / BAND));
    if (boxes === undefined) return false;
    for (const box of boxes) {
      if (x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height) return true;
    }
    return false;
  }

  /** Returns the number of pixels of a box in which differences count. */
  areaOutside(box: Box): number {
    return areaOutside(box, this.#boxes);
  }
}
