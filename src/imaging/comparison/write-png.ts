import { pipeline } from 'node:stream/promises';
import { crc32, createDeflate } from 'node:zlib';

/** Maximum size of the rows that are compressed together, in bytes. */
const BAND_BYTES = 2 ** 18;
const LEVEL = 3;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** 8 bits a channel, RGB, compressed by deflate, with filters, not interlaced. */
const KIND = [8, 2, 0, 0, 0];

/**
 * Encodes an image as PNG, a few rows at a time, which sharp does only for images that it decodes. `paint` fills a row
 * of RGB, 3 bytes a pixel; `write` takes the next piece of the file.
 */
export async function writePng(
  { width, height }: { readonly width: number; readonly height: number },
  paint: (row: Buffer, y: number) => void,
  write: (piece: Buffer) => void,
): Promise<void> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(KIND, 8);
  write(Buffer.concat([SIGNATURE, chunkOf('IHDR', header)]));
  await pipeline(bandsOf(width, height, paint), createDeflate({ level: LEVEL }), async (pieces) => {
    for await (const piece of pieces) write(chunkOf('IDAT', piece));
  });
  write(chunkOf('IEND', Buffer.alloc(0)));
}

/** The byte before each row says that no filter was used. */
function* bandsOf(width: number, height: number, paint: (row: Buffer, y: number) => void): Iterable<Buffer> {
  const bytes = 1 + 3 * width;
  const rows = Math.max(1, Math.floor(BAND_BYTES / bytes));
  // Painted again when it was compressed: `pipeline` waits, because a band is larger than what a stream buffers.
  const band = Buffer.alloc(rows * bytes);
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    for (let row = 0; row < count; row += 1) paint(band.subarray(row * bytes + 1, (row + 1) * bytes), top + row);
    yield band.subarray(0, count * bytes);
  }
}

function chunkOf(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
