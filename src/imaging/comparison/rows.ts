import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { Box } from '../../capture/comparison/comparison.ts';

/** Maximum number of pixels of a band, the rows that are read together. */
const BAND_PIXELS = 2 ** 15;
/** Maximum number of bands of a file that are in memory: 4 MiB. */
const MAX_BANDS = 32;
/** Maximum number of pixels of an image, or of a copied part, in memory. Larger images are in a file. */
export const MAX_PIXELS_IN_MEMORY = 2 ** 22;

/** Size of the header before the pixels in a file of libvips. */
const HEADER_BYTES = 64;

/** Rows of an image. They are in memory, or in a libvips file of which the bands used last are cached. */
export class Rows {
  /** The pixels, or the path of their file. */
  readonly source: Uint32Array<ArrayBuffer> | string;
  readonly #width: number;
  /** A band has `2 ** #shift` rows. */
  readonly #shift: number;
  readonly #height: number;
  readonly #file: number | null;
  readonly #bands: (Uint32Array<ArrayBuffer> | undefined)[];
  readonly #usedAt: Float64Array;
  #clock = 0;
  #loaded = 0;
  #last: Uint32Array = new Uint32Array();
  #lastAt = -1;
  #memory: Uint32Array<ArrayBuffer> | undefined;

  constructor(width: number, height: number, source: Uint32Array<ArrayBuffer> | string) {
    this.source = source;
    this.#width = width;
    this.#height = height;
    this.#shift = Math.max(0, Math.floor(Math.log2(BAND_PIXELS / width)));
    const count = Math.ceil(height / 2 ** this.#shift);
    const length = width << this.#shift;
    this.#bands = Array.from({ length: count }, (_, at) =>
      typeof source === 'string' ? undefined : source.subarray(at * length, (at + 1) * length),
    );
    this.#file = typeof source === 'string' ? openSync(source, 'r+') : null;
    this.#usedAt = new Float64Array(count);
  }

  /** Returns a part of a row, without copying: it is overwritten when many other bands have been read. */
  row(y: number, x = 0, width = this.#width): Uint32Array {
    const from = (y & ((1 << this.#shift) - 1)) * this.#width + x;
    return this.#bandOf(y).subarray(from, from + width);
  }

  /** Signed, which numbers of 32 bits are without an allocation. */
  at(x: number, y: number): number {
    return (this.#bandOf(y)[(y & ((1 << this.#shift) - 1)) * this.#width + x] ?? 0) | 0;
  }

  /** Fills boxes inside the image with one colour. */
  fill(boxes: readonly Box[], colour: number): void {
    const height = 1 << this.#shift;
    for (let at = 0; at < this.#bands.length; at += 1) {
      const [top, bottom] = [at * height, Math.min((at + 1) * height, this.#height)];
      const inBand = boxes.filter((box) => box.y < bottom && box.y + box.height > top);
      for (const box of inBand) {
        const end = Math.min(bottom, box.y + box.height);
        for (let y = Math.max(top, box.y); y < end; y += 1) this.row(y, box.x, box.width).fill(colour);
      }
      if (inBand.length === 0 || this.#file === null) continue;
      const pixels = this.#bandOf(top).subarray(0, (bottom - top) * this.#width);
      writeSync(this.#file, pixels, 0, pixels.byteLength, this.#placeOf(at));
    }
  }

  /** Returns memory for a copy of so many pixels, the same each time; null when they are in memory, or too many. */
  memoryFor(pixels: number): Uint32Array | null {
    if (this.#file === null || pixels > MAX_PIXELS_IN_MEMORY) return null;
    this.#memory ??= new Uint32Array(MAX_PIXELS_IN_MEMORY);
    return this.#memory.subarray(0, pixels);
  }

  /** Closes the file, and returns all memory at once: V8 lets some 64 MiB of it pile up before it collects them. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    const own = this.#file === null ? [this.source] : [this.#memory, ...this.#bands];
    for (const pixels of own) if (typeof pixels === 'object') pixels.buffer.transfer(0);
  }

  #bandOf(y: number): Uint32Array {
    const at = y >> this.#shift;
    if (at === this.#lastAt) return this.#last;
    this.#last = this.#bands[at] ?? this.#read(at);
    this.#lastAt = at;
    this.#clock += 1;
    this.#usedAt[at] = this.#clock;
    return this.#last;
  }

  #read(at: number): Uint32Array {
    const band = this.#freeBand();
    if (this.#file !== null) readSync(this.#file, band, 0, band.byteLength, this.#placeOf(at));
    this.#bands[at] = band;
    return band;
  }

  /** Takes the memory of the band that was used least recently when there are enough. */
  #freeBand(): Uint32Array<ArrayBuffer> {
    if (this.#loaded < MAX_BANDS) {
      this.#loaded += 1;
      return new Uint32Array(this.#width << this.#shift);
    }
    let oldest = -1;
    for (let at = 0; at < this.#bands.length; at += 1) {
      if (this.#bands[at] !== undefined && (oldest === -1 || (this.#usedAt[at] ?? 0) < (this.#usedAt[oldest] ?? 0))) {
        oldest = at;
      }
    }
    const band = this.#bands[oldest];
    if (band === undefined) throw new Error('no band is in memory');
    this.#bands[oldest] = undefined;
    return band;
  }

  #placeOf(band: number): number {
    return HEADER_BYTES + band * (this.#width << this.#shift) * Uint32Array.BYTES_PER_ELEMENT;
  }
}
