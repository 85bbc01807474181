import { z } from 'zod';
import { instant } from '../../capture/basics/values.ts';
import { CapstanError, type FailureCode } from '../../capture/errors.ts';
import { LoadSampleSchema } from '../../capture/operation/history.ts';
import { ServiceStatsSchema } from '../../capture/operation/stats.ts';
import type { Readiness } from '../../service/capture-service.ts';
import { answer } from '../answer/envelope.ts';
import { ProbeSchema } from '../answer/schemas.ts';
import { ANY_JSON, envelope } from '../openapi/content.ts';
import { type OperationsContext, route } from '../route.ts';
import type { HttpContext } from '../state.ts';

export const getLiveness = route({
  method: 'GET',
  path: '/livez',
  operationId: 'livez',
  summary: 'Whether the process is running.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'The process is running.', content: envelope('Probe', ProbeSchema) } },
  handle: (ctx, _, _context: OperationsContext) => answer(ctx, { status: 'live' }),
});

/** Why a process can make no captures. */
const WHY_NO_CAPTURES: readonly FailureCode[] = [
  'browser_unavailable',
  'cluster_unavailable',
  'artifacts_unavailable',
  'database_unavailable',
  'shutting_down',
  'storage_unavailable',
];

export const getReadiness = route({
  method: 'GET',
  path: '/readyz',
  operationId: 'readyz',
  summary: 'Whether captures can be made.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'Captures can be made.', content: envelope('Probe', ProbeSchema) } },
  failures: WHY_NO_CAPTURES,
  handle: (ctx, _, { service }: OperationsContext) => answerReadiness(ctx, service.readiness),
});

export const getReadReadiness = route({
  method: 'GET',
  path: '/readyz/reads',
  operationId: 'readyzReads',
  summary: 'Whether stored captures can be read.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'Stored captures can be read.', content: envelope('Probe', ProbeSchema) } },
  failures: ['database_unavailable', 'shutting_down'],
  handle: (ctx, _, { service }) => answerReadiness(ctx, service.reads),
});

export const getAnyReadiness = route({
  method: 'GET',
  path: '/readyz/any',
  operationId: 'readyzAny',
  summary: 'Whether captures can be made, or stored ones read.',
  description: 'For load balancers: they send clients to a process as long as it can answer some of their requests.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'At least one of the two.', content: envelope('Probe', ProbeSchema) } },
  failures: WHY_NO_CAPTURES,
  handle: (ctx, _, { service }) => {
    const { readiness, reads } = service;
    if (readiness.ready) answerReadiness(ctx, readiness);
    else answerReadiness(ctx, reads.ready ? { ready: true, degraded: ['captures'] } : readiness);
  },
});

function answerReadiness(ctx: HttpContext, readiness: Readiness): void {
  if (!readiness.ready) throw new CapstanError(readiness.code, readiness.reason);
  answer(ctx, { status: 'ready', degraded: readiness.degraded });
}

export const getStats = route({
  method: 'GET',
  path: '/stats',
  operationId: 'stats',
  summary: 'Counters, queue, browsers, stores, uptime.',
  tag: 'operations',
  parameters: {},
  answers: { 200: { description: 'What the service is doing.', content: envelope('Stats', ServiceStatsSchema) } },
  handle: (ctx, _, { service }: OperationsContext) => answer(ctx, service.stats()),
});

export const getStatsHistory = route({
  method: 'GET',
  path: '/stats/history',
  operationId: 'statsHistory',
  summary: 'Load in the last hour, one sample every 5 s.',
  description: 'Samples of the process that answers, since its start, oldest first.',
  tag: 'operations',
  parameters: { after: instant.optional().meta({ description: 'Returns only samples after this time.' }) },
  answers: {
    200: { description: 'As of now.', content: envelope('LoadHistory', z.array(LoadSampleSchema)) },
  },
  handle: (ctx, { after }, { service }) => answer(ctx, service.loadAfter(after === undefined ? 0 : Date.parse(after))),
});

export const getOpenApi = route({
  method: 'GET',
  path: '/openapi.json',
  operationId: 'openapi',
  summary: 'The OpenAPI document.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'This document.', content: ANY_JSON } },
  handle: (ctx, _, { document }) => {
    ctx.type = 'json';
    ctx.body = document();
  },
});
