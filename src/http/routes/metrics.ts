import type { Exposition } from '../../metrics/exposition.ts';
import { text } from '../openapi/content.ts';
import { preferredType } from '../request/negotiation.ts';
import { type OperationsContext, route } from '../route.ts';

const PLAIN = 'text/plain';
const OPENMETRICS = 'application/openmetrics-text';

/** Renderers of metrics, one for each application. */
const expositions = new WeakMap<OperationsContext, Promise<Exposition>>();

export const getMetrics = route({
  method: 'GET',
  path: '/metrics',
  operationId: 'metrics',
  summary: 'Metrics for Prometheus.',
  description:
    'In the text format of Prometheus, or in OpenMetrics when `Accept` prefers it. Base units; no label holds a URL or host.',
  tag: 'operations',
  parameters: {},
  answers: { 200: { description: 'The metrics of this moment.', content: { ...text(PLAIN), ...text(OPENMETRICS) } } },
  handle: async (ctx, _, context: OperationsContext) => {
    const exposition = expositions.get(context) ?? openExposition(context);
    expositions.set(context, exposition);
    ctx.vary('Accept');
    const wanted = preferredType(ctx.get('Accept'), [PLAIN, OPENMETRICS]);
    const { type, text: body } = await (await exposition).render(wanted === OPENMETRICS ? 'openmetrics' : 'text');
    ctx.set('Content-Type', type);
    ctx.body = body;
  },
});

/** Loads the library that renders metrics. Called at the first request for metrics. */
async function openExposition({ service, fanOut }: OperationsContext): Promise<Exposition> {
  const { createExposition } = await import('../../metrics/exposition.ts');
  return createExposition({
    stats: () => service.stats(),
    pressure: () => service.pressure(),
    isReady: () => ({
      captures: service.readiness.ready,
      ...(service.reads === undefined ? {} : { reads: service.reads.ready }),
    }),
    subscribers: () => fanOut?.size ?? 0,
    tallies: service.tallies,
  });
}
