import { keyDigest } from '../../capture/basics/key-digest.ts';
import { ANY_CLIENT } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import { isIsolated, KEY_SCOPES, type KeyScope, type NamedKey } from '../../capture/named-key.ts';
import type { Caller, HttpContext, HttpMiddleware } from '../state.ts';

/** Caller with a key without a name, or any caller when no keys are configured: has every permission. */
export const UNNAMED: Caller = { ...ANY_CLIENT, scope: 'admin', rate: null };

/** Caller without a key of a service with `--isolate-keys`: the client of a signed link. */
const OF_A_LINK: Caller = { ...ANY_CLIENT, isIsolated: true, scope: 'capture', rate: null };

/** Returns the caller of a request. Valid after the request was authenticated. */
export function callerOf({ state }: Pick<HttpContext, 'state'>): Caller {
  return state.caller ?? UNNAMED;
}

/** Finds the caller by the SHA-256 of its named key, in hex; undefined for a caller with every permission. */
export type CallerFinder = (client: string | undefined) => Caller | undefined;

/** `isolateKeys`: whether keys that are not for administrators see their own captures alone. */
export function callerFinder(keys: readonly NamedKey[], isolateKeys: boolean): CallerFinder {
  const callers = new Map(
    keys.map(({ name, key, rate, scope }): [string, Caller] => [
      keyDigest(key),
      {
        apiKeyName: name,
        // A single key has the whole queue.
        owner: keys.length > 1 ? name : null,
        isIsolated: isIsolated({ scope }, isolateKeys),
        rate,
        scope,
      },
    ]),
  );
  const withoutKey = isolateKeys ? OF_A_LINK : undefined;
  return (client) => (client === undefined ? withoutKey : callers.get(client));
}

/** Sets `state.caller` from `state.client`, the key that authenticated the request or its session. */
export function identifyCaller(find: CallerFinder): HttpMiddleware {
  return async (ctx, next) => {
    ctx.state.caller = find(ctx.state.client);
    await next();
  };
}

/** @throws `key_not_permitted` when the caller's key has a smaller scope. */
export function requireScope(ctx: HttpContext, needed: KeyScope): void {
  const { apiKeyName, scope } = callerOf(ctx);
  if (KEY_SCOPES.indexOf(scope) >= KEY_SCOPES.indexOf(needed)) return;
  throw new CapstanError(
    'key_not_permitted',
    `The API key ${apiKeyName} has the scope ${scope}, and this needs the scope ${needed}.`,
  );
}

/**
 * Returns the key whose jobs, queries or watches a list shows: undefined for all; null for none, because without a
 * named key nothing can be said to be the client's own.
 */
export function listedKey(ctx: HttpContext): string | null | undefined {
  return listedKeyOf(callerOf(ctx));
}

/** Like `listedKey`, of a caller. */
export function listedKeyOf({ apiKeyName, scope }: Pick<Caller, 'apiKeyName' | 'scope'>): string | null | undefined {
  return scope === 'admin' ? undefined : apiKeyName;
}

/** Returns whether the caller may see and cancel a job. `owns`: whether the job belongs to the key with this name. */
export function isShown(ctx: HttpContext, owns: (name: string) => boolean): boolean {
  const { apiKeyName, scope } = callerOf(ctx);
  return scope === 'admin' || (apiKeyName !== null && owns(apiKeyName));
}
