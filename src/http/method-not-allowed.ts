import type Router from '@koa/router';
import { CapstanError } from '../capture/errors.ts';
import type { HttpMiddleware, HttpState } from './state.ts';

/**
 * What no route answered: 405 with Allow where the path is known, 404 where it is not. OPTIONS is a method like the
 * others; the router's own answer to it would be a 200.
 */
export function unanswered(router: Router<HttpState>): HttpMiddleware {
  return (ctx) => {
    const methods = router.stack.filter((layer) => layer.match(ctx.path)).flatMap((layer) => layer.methods);
    if (methods.length === 0) throw new CapstanError('not_found', `There is nothing at ${ctx.path}.`);
    const allowed = [...new Set(methods)].toSorted().join(', ');
    ctx.set('Allow', allowed);
    throw new CapstanError('method_not_allowed', `${ctx.method} is not allowed here: ${allowed} would be.`);
  };
}
