import type Router from '@koa/router';
import { CapstanError } from '../../capture/errors.ts';
import type { HttpMiddleware, HttpState } from '../state.ts';

/**
 * Answers requests that match no route: 405 with `Allow` for a known path, otherwise 404. OPTIONS is treated like any
 * other method; the router itself would answer it with 200.
 */
export function unanswered(router: Router<HttpState>): HttpMiddleware {
  return (ctx) => {
    const methods = router.stack.filter((layer) => layer.match(ctx.path)).flatMap((layer) => layer.methods);
    if (methods.length === 0) throw new CapstanError('not_found', `There is no path ${ctx.path}.`);
    const allowed = [...new Set(methods)].toSorted().join(', ');
    ctx.set('Allow', allowed);
    throw new CapstanError('method_not_allowed', `${ctx.method} is not allowed for ${ctx.path}: use ${allowed}.`);
  };
}
