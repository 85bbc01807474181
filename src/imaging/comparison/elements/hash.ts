export function hashOf(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at += 1) hash = mixed(hash, text.charCodeAt(at));
  return hash;
}

/** Keeps 52 bits, so that a collision among 5,000 elements is very unlikely. */
export function mixed(hash: number, value: number): number {
  const high = Math.imul(Math.floor(hash / 2 ** 26) ^ value, 0x01000193) >>> 6;
  const low = Math.imul((hash % 2 ** 26) ^ (value >>> 0), 0x85ebca6b) >>> 6;
  return ((high ^ (low >>> 13)) >>> 0) * 2 ** 26 + ((low ^ (high >>> 11)) & 0x3ffffff);
}
