import { z } from 'zod';
import { InFlightSchema } from '../../capture/operation/in-flight.ts';
import { answer } from '../answer/envelope.ts';
import { envelope } from '../openapi/content.ts';
import { DEFAULT_LIMIT, limitParameter } from '../request/parameters.ts';
import { route } from '../route.ts';

export const getCaptures = route({
  method: 'GET',
  path: '/captures',
  operationId: 'listCapturesInFlight',
  summary: 'Captures that wait or run now, with their place in the queue or their phase.',
  description:
    'Oldest first; in a cluster, those of all api nodes. `message` names the api nodes that did not answer within 1 s.',
  tag: 'operations',
  parameters: {
    request_id: z
      .string()
      .optional()
      .meta({ description: 'Returns only the capture that the request with this `X-Request-Id` waits for.' }),
    node: z.string().optional().meta({ description: 'Returns only the captures of this api node of a cluster.' }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: {
    200: { description: 'As of now.', content: envelope('InFlightList', z.array(InFlightSchema)) },
  },
  handle: async (ctx, { request_id: requestId, node, limit = DEFAULT_LIMIT }, { service }) => {
    const { captures, missing } = await service.inFlight({ limit, requestId, node });
    answer(ctx, captures, missing);
  },
});
