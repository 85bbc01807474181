import { z } from 'zod';
import { type InFlight, InFlightSchema } from '../../capture/in-flight.ts';
import { answer } from '../answer/envelope.ts';
import { envelope } from '../openapi/content.ts';
import { DEFAULT_LIMIT, limitParameter } from '../request/parameters.ts';
import { route } from '../route.ts';

export const getCaptures = route({
  method: 'GET',
  path: '/captures',
  operationId: 'listCapturesInFlight',
  summary: 'Captures that wait or run now, with their place in the queue or their phase.',
  description: 'Captures of the process that answers, oldest first.',
  tag: 'operations',
  parameters: {
    request_id: z
      .string()
      .optional()
      .meta({ description: 'Returns only the capture that the request with this `X-Request-Id` waits for.' }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: {
    200: { description: 'As of now.', content: envelope('InFlightList', z.array(InFlightSchema)) },
  },
  handle: (ctx, { request_id: requestId, limit = DEFAULT_LIMIT }, { service }) => {
    const found: InFlight[] = [];
    for (const capture of service.inFlight()) {
      if (requestId !== undefined && capture.request_id !== requestId) continue;
      if (found.push(capture) >= limit) break;
    }
    answer(ctx, found);
  },
});
