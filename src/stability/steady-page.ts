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

/** Maximum delay of short timers, in milliseconds. Longer ones are those of carousels and late content. */
const LONG_MS = 400;
/** Number of animation frames, spaced so that an entrance animation of 2 s ends, and of calls of short intervals. */
const MAX_FRAMES = 12;
const FRAME_MS = 2_000 / MAX_FRAMES;
const MAX_CALLS = 12;
/** Number of clock reads after which the clock advances by 1 ms, so that a script that waits for it ends. */
const CALLS_OF_MS = 1_000;

/**
 * Returns the script that gives each document of a page the same clock, random numbers and progress of animations in
 * every capture. It runs before the page's own scripts.
 */
export function steadyPage({ now, seed, frames, timers }: World): string {
  return `(() => {
  let calls = 0;
  const clock = () => ${now} + Math.floor(calls++ / ${CALLS_OF_MS});
  const RealDate = Date;
  const SteadyDate = new Proxy(RealDate, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [clock()] : given, made),
    apply: () => new RealDate(clock()).toString(),
  });
  RealDate.now = clock;
  RealDate.prototype.constructor = SteadyDate;
  window.Date = SteadyDate;
  const { formatToParts } = Intl.DateTimeFormat.prototype;
  const getFormat = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, 'format').get;
  Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
    configurable: true,
    get() {
      const bound = getFormat.call(this);
      return (date) => bound(date === undefined ? clock() : date);
    },
  });
  Intl.DateTimeFormat.prototype.formatToParts = function (date) {
    return formatToParts.call(this, date === undefined ? clock() : date);
  };

  let state = ${seed >>> 0};
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  Math.random = random;
  const byte = () => Math.floor(random() * 256);
  if (window.crypto !== undefined) {
    Crypto.prototype.getRandomValues = (array) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = byte();
      return array;
    };
    const hex = (count) => Array.from({ length: count }, () => byte().toString(16).padStart(2, '0')).join('');
    Crypto.prototype.randomUUID = () => hex(4) + '-' + hex(2) + '-4' + hex(2).slice(1) + '-a' + hex(2).slice(1) + '-' + hex(6);
  }

  const { setTimeout: later, setInterval: again, clearInterval: end, requestAnimationFrame: draw } = window;
  if (!${timers}) {
    window.setTimeout = (run, ms, ...given) => ms >= ${LONG_MS} ? later(() => {}, 0) : later(run, ms, ...given);
  }
  window.setInterval = (run, ms, ...given) => {
    if (ms >= ${LONG_MS}) return ${timers} ? again(run, ms, ...given) : again(() => {}, 1e9);
    if (${frames} || typeof run !== 'function') return again(run, ms, ...given);
    let left = ${MAX_CALLS};
    const id = again(() => {
      if (--left <= 0) end(id);
      run(...given);
    }, ms);
    return id;
  };
  if (${frames}) return;
  let [drawn, last] = [0, 0];
  window.requestAnimationFrame = (run) => draw((time) => {
    if (time !== last) [drawn, last] = [drawn + 1, time];
    if (drawn <= ${MAX_FRAMES}) run(drawn * ${FRAME_MS});
  });
})();`;
}
