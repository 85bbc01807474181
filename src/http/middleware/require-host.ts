import { CapstanError } from '../../capture/errors.ts';
import type { HttpMiddleware } from '../state.ts';

/** A host and an optional port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\w.:]+\])(?::\d*)?$/;

/** Refuses requests without exactly one valid Host (RFC 9112, 3.2). HTTP/1.0 needs none. */
export function requireHost(): HttpMiddleware {
  return async (ctx, next) => {
    const hosts = ctx.req.headersDistinct.host ?? [];
    const [host = ''] = hosts;
    const isOld = ctx.req.httpVersion === '1.0' && hosts.length === 0;
    if (!isOld && (hosts.length !== 1 || host === '')) {
      const given = hosts.length > 1 ? `not ${hosts.length}` : 'and it is missing or empty';
      throw new CapstanError('invalid_request', `The request must have one Host, ${given}.`);
    }
    if (!isOld && !HOST.test(host)) {
      throw new CapstanError(
        'invalid_request',
        `The Host ${JSON.stringify(host)} is not a host with an optional port.`,
      );
    }
    await next();
  };
}
