/**
 * Returns how many of `free` places an owner may take that holds `own` already: afterwards it holds at most one place
 * more than remain free, so a single owner can fill only half of all places. An owner without any may take one.
 */
export function shareOf(free: number, own: number): number {
  return Math.min(free, Math.max(own === 0 ? 1 : 0, Math.ceil((free - own) / 2)));
}
