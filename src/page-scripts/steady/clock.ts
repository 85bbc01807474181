import { own } from './replaced.ts';

/** Number of clock reads after which the clock advances by 1 ms, so that a script that waits for it ends. */
const CALLS_OF_MS = 1_000;

/** Makes the page's dates begin at `now`. From then on only reads of the clock advance them. */
export function steadyClock(now: number): void {
  let calls = 0;
  const clock = () => now + Math.floor(calls++ / CALLS_OF_MS);
  replaceDate(clock);
  replaceFormats(clock);
}

function replaceDate(clock: () => number): void {
  const RealDate = own.Date;
  const SteadyDate = new Proxy(RealDate, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [clock()] : given, made),
    apply: () => new RealDate(clock()).toString(),
  });
  RealDate.now = clock;
  RealDate.prototype.constructor = SteadyDate;
  own.Date = SteadyDate;
}

type FormatDate = (date: Date | number) => string;

/** Formats take the time from the engine when they are given no date. */
function replaceFormats(clock: () => number): void {
  const { prototype } = Intl.DateTimeFormat;
  const { formatToParts } = prototype;
  const { get: getFormat } = Object.getOwnPropertyDescriptor(prototype, 'format') as { get(): FormatDate };
  Object.defineProperty(prototype, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const bound = getFormat.call(this);
      return (date?: Date | number) => bound(date === undefined ? clock() : date);
    },
  });
  prototype.formatToParts = function (date) {
    return formatToParts.call(this, date === undefined ? clock() : date);
  };
}
