import { Readable } from 'node:stream';
import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { bytesText, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { isJobOf, type JobOptions } from '../../jobs/jobs.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { JOB_LIFE_MS, type JobKind, type JobRecord } from '../../storage/ports/job-store.ts';
import { answer } from '../answer/envelope.ts';
import { toBatchLine } from '../answer/outcome.ts';
import { linkedPage, PAGE_END } from '../answer/paging.ts';
import { type BatchLine, BatchLineSchema, type JobAnswer, JobSchema } from '../answer/schemas.ts';
import { callerOf, isShown, listedKey } from '../keys/callers.ts';
import { envelope, lines } from '../openapi/content.ts';
import { DATABASE_FAILURES } from '../openapi/failures.ts';
import { idCursor } from '../request/cursor.ts';
import { preferLinesOrJson, preferredLinesType } from '../request/negotiation.ts';
import { DEFAULT_LIMIT, idCursorParameter, limitParameter, MAX_LIMIT } from '../request/parameters.ts';
import { publicPath } from '../request/public-address.ts';
import { type Answer, route } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Jobs, which are created by `Prefer: respond-async`: their progress, their results, and cancelling them. */

const jobId = z.string().meta({ description: "A job's id." });

export const getJobs = route({
  method: 'GET',
  path: '/jobs',
  operationId: 'listJobs',
  summary: 'The newest jobs, with their progress.',
  tag: 'capture',
  parameters: { limit: limitParameter(String(DEFAULT_LIMIT)) },
  answers: { 200: { description: 'Newest first.', content: envelope('JobList', z.array(JobSchema)) } },
  failures: [...DATABASE_FAILURES],
  handle: async (ctx, { limit = DEFAULT_LIMIT }, { service: { jobs } }) => {
    const ofKey = listedKey(ctx);
    const found = ofKey === null ? [] : await jobs.newest(limit, ofKey);
    answer(
      ctx,
      found.map((job) => jobAnswer(job)),
    );
  },
});

export const getJob = route({
  method: 'GET',
  path: '/jobs/{id}',
  operationId: 'getJob',
  summary: 'State, progress and outcomes of a job.',
  description: `A page of the outcomes. ${PAGE_END} With \`Accept: application/x-ndjson\`, all of them so far, one on each line. A finished job is deleted after 24 hours, or earlier when its API key has more than ${STORED_LIMITS.finishedJobs.count}, or ${bytesText(STORED_LIMITS.finishedJobs.bytes)} of outcomes.`,
  tag: 'capture',
  parameters: { id: jobId, limit: limitParameter(String(DEFAULT_LIMIT)), cursor: idCursorParameter },
  answers: {
    200: {
      description: 'The job.',
      content: { ...envelope('Job', JobSchema), ...lines(BatchLineSchema) },
      headers: ['Link'],
    },
  },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id, limit = DEFAULT_LIMIT, cursor = 0 }, { service: { jobs } }) => {
    const job = (isShown(ctx, (name) => isJobOf(name, id)) ? await jobs.get(id) : undefined) ?? unknownJob(id);
    ctx.vary('Accept');
    if (preferLinesOrJson(ctx.get('Accept'), 'json') === 'lines') {
      ctx.type = preferredLinesType(ctx.get('Accept'));
      ctx.body = Readable.from(allLines(jobs, id, cursor - 1), { objectMode: false });
      return;
    }
    const items = linkedPage(ctx, await jobs.results(id, limit, cursor - 1), (last) => idCursor(last.index + 1));
    answer(ctx, jobAnswer(job, items.map(toBatchLine)));
  },
});

export const deleteJob = route({
  method: 'DELETE',
  path: '/jobs/{id}',
  operationId: 'cancelJob',
  scope: 'capture',
  summary: 'Cancels a job.',
  description: 'Its results are kept. A job that has ended is not changed.',
  tag: 'capture',
  parameters: { id: jobId },
  answers: { 200: { description: 'The job, cancelled or ended.', content: envelope('Job', JobSchema) } },
  failures: ['not_found', ...DATABASE_FAILURES],
  handle: async (ctx, { id }, { service: { jobs } }) => {
    const job = (isShown(ctx, (name) => isJobOf(name, id)) ? await jobs.cancel(id) : undefined) ?? unknownJob(id);
    answer(ctx, jobAnswer(job), job.state === 'cancelled' ? 'The job is cancelled.' : 'The job had ended already.');
  },
});

/** The answer to `Prefer: respond-async`. */
export const ACCEPTED: Answer = {
  description: 'Kept, and will be done.',
  content: envelope('Job', JobSchema),
  headers: ['Location', 'Preference-Applied', 'Idempotent-Replayed'],
};

/** Stores a job and answers with its location. The job is stored before the answer is sent. */
export async function answerAccepted(
  ctx: HttpContext,
  { jobs }: ServiceView,
  kind: Exclude<JobKind, 'scan'>,
  requests: readonly CaptureRequest[],
  options?: JobOptions,
): Promise<void> {
  const { owner, apiKeyName, isIsolated } = callerOf(ctx);
  const job = await jobs.add(kind, requests, { ...options, by: { owner, apiKeyName, isIsolated } });
  answer(ctx, jobAnswer(job), 'The job is kept, and will be done.');
  ctx.status = 202;
  ctx.set({ Location: publicPath(ctx, `/jobs/${job.id}`), 'Preference-Applied': 'respond-async' });
}

/** Generates the lines of all outcomes so far, in pages, so that memory does not grow with the job. */
async function* allLines(
  jobs: ServiceView['jobs'],
  id: string,
  after: number,
): AsyncGenerator<string, void, undefined> {
  let { items } = await jobs.results(id, MAX_LIMIT, after);
  for (let last = items.at(-1); last !== undefined; last = items.at(-1)) {
    yield items.map((item) => `${JSON.stringify(toBatchLine(item))}\n`).join('');
    ({ items } = await jobs.results(id, MAX_LIMIT, last.index));
  }
}

export function jobAnswer(job: JobRecord, results?: readonly BatchLine[]): JobAnswer {
  const { id, kind, state, done, failed, failedBy, total, createdAt, startedAt, finishedAt, failure } = job;
  return {
    id,
    kind,
    state,
    progress: { done, failed, failed_by: failedBy, total },
    created_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
    expires_at: finishedAt === null ? null : new Date(Date.parse(finishedAt) + JOB_LIFE_MS).toISOString(),
    error: failure?.reason ?? null,
    code: failure?.code ?? null,
    ...(results === undefined ? {} : { results }),
  };
}

function unknownJob(id: string): never {
  throw new CapstanError('not_found', `There is no job with the id ${JSON.stringify(id)}.`);
}
