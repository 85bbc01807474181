import { CaptureLimitsSchema, LimitsChangeSchema } from '../../capture/operation/limits.ts';
import { PressureSchema } from '../../capture/operation/pressure.ts';
import { answer } from '../answer/envelope.ts';
import { envelope } from '../openapi/content.ts';
import { requestedBy } from '../request/requested-by.ts';
import { type OperationsContext, route, routeWithBody } from '../route.ts';

export const getPressure = route({
  method: 'GET',
  path: '/pressure',
  operationId: 'pressure',
  summary: 'Load, and whether captures are accepted.',
  tag: 'operations',
  parameters: {},
  answers: { 200: { description: 'As of the last second.', content: envelope('Pressure', PressureSchema) } },
  handle: (ctx, _, { service }: OperationsContext) => answer(ctx, service.pressure()),
});

export const patchLimits = routeWithBody({
  method: 'PATCH',
  path: '/limits',
  operationId: 'setLimits',
  summary: 'Changes limits until the service ends.',
  description:
    'Waiting and running captures continue. Above a lowered limit, no new capture starts until enough have ended. In a cluster, the limits are those of the whole cluster, and outlast its processes.',
  tag: 'operations',
  parameters: {},
  body: { name: 'LimitsChange', schema: () => LimitsChangeSchema },
  answers: { 200: { description: 'The limits in force.', content: envelope('Limits', CaptureLimitsSchema) } },
  failures: ['cluster_unavailable'],
  handle: async (ctx, { body }, { service }) =>
    answer(ctx, await service.setLimits(body, requestedBy(ctx)), 'The limits are in force.'),
});
