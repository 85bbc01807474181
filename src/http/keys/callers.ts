import { createHash } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import { KEY_SCOPES, type KeyScope, type NamedKey } from '../../capture/named-key.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

/** The client behind a request, as far as its API key tells. */
export interface Caller {
  /** Name of its key; null for a key without a name, or when no keys are configured. */
  readonly name: string | null;
  readonly scope: KeyScope;
  /** Owner of the share of the queue that its captures use: null where no other key has a name. */
  readonly owner: string | null;
  /** Maximum number of captures in a minute; null for no limit. */
  readonly rate: number | null;
}

/** Keys without a name have every permission, as have all clients where no keys are configured. */
const UNNAMED: Caller = { name: null, owner: null, scope: 'admin', rate: null };

/** Returns the caller of a request. Valid after the request was authenticated. */
export function callerOf({ state }: Pick<HttpContext, 'state'>): Caller {
  return state.caller ?? UNNAMED;
}

/** Finds the named key by its SHA-256 in hex; undefined for the others. */
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

/** Notes the caller of each request, by `state.client`: the key that it, or its session, was authenticated with. */
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

/** Returns whether a caller may see and cancel the jobs of `owner`. */
export function isShown(ctx: HttpContext, owns: (name: string) => boolean): boolean {
  const { name, scope } = callerOf(ctx);
  return scope === 'admin' || name === null || owns(name);
}
