import type { Amount } from '../../capture/stored-limits.ts';
import type { StoredDocument } from '../ports/document-store.ts';

/**
 * Returns the oldest documents that must be removed to bring what is `used` within `max`. The newest one stays even if
 * it alone is too large: its client has not read it yet.
 */
export function oldestBeyond<D extends Pick<StoredDocument, 'bytes'>>(
  oldestFirst: readonly D[],
  used: Amount,
  max: Amount,
): readonly D[] {
  let { count, bytes } = used;
  const firstKept = oldestFirst.findIndex((document, at) => {
    const isNewest = at === oldestFirst.length - 1;
    if (count <= max.count && (bytes <= max.bytes || isNewest)) return true;
    count -= 1;
    bytes -= document.bytes;
    return false;
  });
  return firstKept === -1 ? oldestFirst : oldestFirst.slice(0, firstKept);
}
