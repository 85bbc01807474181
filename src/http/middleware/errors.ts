import type { Logger } from 'pino';
import { CapstanError } from '../../capture/errors.ts';
import { answerFailure } from '../answer/envelope.ts';
import type { HttpMiddleware } from '../state.ts';

/** Headers of the intended answer, which do not apply to a failure. */
const ANSWER_HEADERS = ['Content-Length', 'Content-Type', 'ETag', 'Link', 'Location', 'X-Capture-Id', 'Accept-Ranges'];

/** Answers exceptions with an envelope from the catalogue, and logs those that are not in it. */
export function answerErrors(logger: Logger): HttpMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      if (ctx.headerSent) throw thrown;
      const error = CapstanError.from(thrown);
      if (error.code === 'internal') logger.error({ request_id: ctx.state.requestId, err: thrown }, 'request failed');
      for (const name of ANSWER_HEADERS) ctx.remove(name);
      answerFailure(ctx, error);
    }
  };
}
