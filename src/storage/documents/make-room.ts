import type { Amount } from '../../capture/stored-limits.ts';
import type { StoredDocument } from '../ports/document-store.ts';

/**
 * Returns the oldest documents, without which all that is `used` is within `max`. The newest one stays when it is only
 * too large: its client has not read it yet.
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
