import { CapstanError } from '../../capture/errors.ts';
import { callerOf } from '../keys/callers.ts';
import type { RateLimits } from '../keys/rate-limits.ts';
import type { RouteContext } from '../route.ts';
import type { HttpContext } from '../state.ts';

/**
 * Counts captures towards the rate of the caller's API key, and sets `X-RateLimit-*`. Does nothing for keys without a
 * rate. @throws `rate_limited` when the key has fewer captures left; none is counted then.
 */
export function spendRate(ctx: HttpContext, { rates }: Pick<RouteContext, 'rates'>, captures: number): void {
  useRate(ctx, captures, rates.take);
}

/** Refuses captures as `spendRate` does, and counts none. */
export function requireRate(ctx: HttpContext, { rates }: Pick<RouteContext, 'rates'>, captures: number): void {
  useRate(ctx, captures, rates.look);
}

function useRate(ctx: HttpContext, captures: number, use: RateLimits['take']): void {
  const { apiKeyName: name, rate } = callerOf(ctx);
  if (name === null || rate === null || captures === 0) return;
  const { limit, remaining, resetSeconds, retryAfterSeconds } = use(name, rate, captures);
  if (!ctx.headerSent)
    ctx.set({
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(resetSeconds),
    });
  if (retryAfterSeconds === 0) return;
  throw new CapstanError(
    'rate_limited',
    `The API key ${name} may request ${limit} captures a minute: ${remaining} are left, and this needs ${captures}.`,
    { retryAfterSeconds },
  );
}
