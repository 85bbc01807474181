import { own } from './replaced.ts';

/** Makes the page's random numbers, bytes and UUIDs a series that follows from `seed`. */
export function steadyRandomness(seed: number): void {
  const random = numbersOf(seed);
  Math.random = random;
  if (own.crypto === undefined) return;
  const byte = () => Math.floor(random() * 256);
  own.Crypto.prototype.getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = byte();
    return array;
  };
  const hex = (count: number) => Array.from({ length: count }, () => byte().toString(16).padStart(2, '0')).join('');
  own.Crypto.prototype.randomUUID = () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-a${hex(2).slice(1)}-${hex(6)}`;
}

/** Returns a function that returns numbers from 0 to 1. */
function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
