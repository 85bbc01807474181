const LINE_CHARACTERS = 76;

/** Returns the hash of an icon as search engines of devices (Shodan, Censys) compute it: MurmurHash3 of its Base64. */
export function faviconHash(icon: Uint8Array): number {
  const base64 = Buffer.from(icon).toString('base64');
  // Lines as MIME has them, and as Python writes them: the last one ends with a line break, too.
  const lines = base64.replace(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g'), '$&\n');
  return murmur3(Buffer.from(lines, 'latin1'));
}

/** MurmurHash3, x86, 32 bits, with the seed 0: https://github.com/aappleby/smhasher. Returns a signed integer. */
function murmur3(data: Buffer): number {
  const whole = data.length - (data.length % 4);
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scrambled(data.readUInt32LE(at));
    hash = Math.imul(rotated(hash, 13), 5) + 0xe6546b64;
  }
  let rest = 0;
  for (let at = data.length - 1; at >= whole; at -= 1) rest = (rest << 8) | (data[at] ?? 0);
  hash ^= scrambled(rest) ^ data.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scrambled(block: number): number {
  return Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotated(bits: number, by: number): number {
  return (bits << by) | (bits >>> (32 - by));
}
