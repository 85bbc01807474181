import { createHash } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import { KEY_SCOPES, type KeyScope, type NamedKey } from '../../capture/named-key.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

/** The client of a request, as identified by its API key. */
export interface Caller {
  /** Name of the API key; null for a key without a name, or when no keys are configured. */
  readonly name: string | null;
  readonly scope: KeyScope;
  /** Name under which its captures share the queue with those of other keys; null when no other key has a name. */
  readonly owner: string | null;
  /** Maximum number of captures in a minute; null for no limit. */
  readonly rate: number | null;
}

/** Caller with a key without a name, or any caller when no keys are configured: has every permission. */
const UNNAMED: Caller = { name: null, owner: null, scope: 'admin', rate: null };

/** Returns the caller of a request. Valid after the request was authenticated. */
export function callerOf({ state }: Pick<HttpContext, 'state'>): Caller {
  return state.caller ?? UNNAMED;
}

/** Finds the caller by the SHA-256 of its named key, in hex; undefined for all other keys. */
export type CallerFinder = (client: string | undefined) => Caller | undefined;

export function callerFinder(keys: readonly NamedKey[]): CallerFinder {
  const callers = new Map(
    keys.map(({ name, key, rate, scope }): [string, Caller] => [
      createHash('sha256').update(key, 'utf8').digest('hex'),
      { name, owner: keys.length > 1 ? name : null, rate, scope },
    ]),
  );
  return (client) => (client === undefined ? undefined : callers.get(client));
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
  const { name, scope } = callerOf(ctx);
  if (KEY_SCOPES.indexOf(scope) >= KEY_SCOPES.indexOf(needed)) return;
  throw new CapstanError(
    'key_not_permitted',
    `The API key ${name} has the scope ${scope}, and this needs the scope ${needed}.`,
  );
}

/** Returns whether the caller may see and cancel a job. `owns`: whether the job belongs to the key with this name. */
export function isShown(ctx: HttpContext, owns: (name: string) => boolean): boolean {
  const { name, scope } = callerOf(ctx);
  return scope === 'admin' || name === null || owns(name);
}
