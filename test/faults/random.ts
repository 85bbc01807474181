/** Seeded pseudo-random numbers, so that a failing run can be repeated. */
export interface Random {
  readonly seed: number;
  /** 0 <= x < 1 */
  next(): number;
  /** An integer, both bounds included. */
  integer(from: number, to: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** The seed of a run: from the environment (`CAPSTAN_SEED`), or a new one. */
export function seedOfRun(): number {
  return Number(process.env.CAPSTAN_SEED ?? Math.floor(Math.random() * 2 ** 32));
}

/** mulberry32: 32 bits of state are enough to choose moments. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    seed,
    next,
    integer,
    pick: (choices) => choices[integer(0, choices.length - 1)] ?? choices[0],
  };
}
