/** Clock, randomness and timing as a page sees them. */
export interface World {
  /** Its time, which stands still, in milliseconds since 1970. */
  readonly now: number;
  readonly seed: number;
  /** Whether animation frames and short intervals go on after their first ones. */
  readonly frames: boolean;
  /** Whether long timers fire. */
  readonly timers: boolean;
}
