import { CapstanError } from '../../capture/errors.ts';
import type { HttpMiddleware } from '../state.ts';

/** A host and an optional port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\w.:]+\])(?::\d*)?$/;

/** The target of a request in the absolute form, `http://host/path` (RFC 9112, 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Refuses requests without exactly one valid Host (RFC 9112, 3.2). HTTP/1.0 needs none. The host of a target in the
 * absolute form takes the place of the header, for all that comes after.
 */
export function requireHost(): HttpMiddleware {
  return async (ctx, next) => {
    const hosts = ctx.req.headersDistinct.host ?? [];
    const [, named, path = ''] = ABSOLUTE.exec(ctx.req.url ?? '') ?? [];
    const [given = ''] = hosts;
    const isOld = ctx.req.httpVersion === '1.0' && hosts.length === 0;
    if (!isOld && (hosts.length !== 1 || given === '')) {
      const found = hosts.length > 1 ? `not ${hosts.length}` : 'and it is missing or empty';
      throw new CapstanError('invalid_request', `The request must have one Host, ${found}.`);
    }
    const host = [...hosts, ...(named === undefined ? [] : [named])].find((each) => !HOST.test(each));
    if (host !== undefined) {
      throw new CapstanError(
        'invalid_request',
        `The Host ${JSON.stringify(host)} is not a host with an optional port.`,
      );
    }
    if (named !== undefined) {
      ctx.req.headers.host = named;
      ctx.req.url = path.startsWith('/') ? path : `/${path}`;
    }
    await next();
  };
}
