import { CapstanError } from '../../capture/errors.ts';
import type { HttpMiddleware } from '../state.ts';

/** Refuses requests without exactly one Host (RFC 9112, 3.2). HTTP/1.0 needs none. */
export function requireHost(): HttpMiddleware {
  return async (ctx, next) => {
    const hosts = ctx.req.headersDistinct.host ?? [];
    const isOld = ctx.req.httpVersion === '1.0' && hosts.length === 0;
    if (!isOld && (hosts.length !== 1 || hosts[0] === '')) {
      const given = hosts.length > 1 ? `not ${hosts.length}` : 'and it is missing or empty';
      throw new CapstanError('invalid_request', `The request must have one Host, ${given}.`);
    }
    await next();
  };
}
