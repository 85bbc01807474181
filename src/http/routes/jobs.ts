import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { CaptureRequest } from '../../capture/domain.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { JobManner } from '../../jobs/jobs.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import { JOB_LIFE_MS, type JobKind, type JobRecord } from '../../storage/job-store.ts';
import { idCursor } from '../cursor.ts';
import { answer } from '../envelope.ts';
import { LINES_TYPE } from '../lines/streamed-body.ts';
import { preferLinesOrJson } from '../negotiation.ts';
import { toBatchLine } from '../outcome.ts';
import { cutPage, linkNext } from '../paging.ts';
import type { BatchLine, JobAnswer } from '../schemas/answers.ts';
import { DEFAULT_LIMIT, JobQuery, MAX_LIMIT, parseQuery } from '../schemas/queries.ts';
import type { HttpContext, HttpState } from '../state.ts';

/** What was asked for with `Prefer: respond-async`: how far it is, what came of it, and no more of it. */
export function jobsRoutes(router: Router<HttpState>, { jobs }: CaptureService): void {
  router.get('/jobs/:id', async (ctx) => {
    const id = ctx.params.id ?? '';
    const { limit = DEFAULT_LIMIT, cursor = 0 } = parseQuery(JobQuery, ctx.querystring);
    const job = (await jobs.get(id)) ?? unknownJob(id);
    ctx.vary('Accept');
    if (preferLinesOrJson(ctx.get('Accept'), 'json') === 'lines') {
      ctx.type = LINES_TYPE;
      ctx.body = Readable.from(allLines(jobs, id, cursor - 1), { objectMode: false });
      return;
    }
    const { items, continueAfter } = cutPage(await jobs.results(id, limit + 1, cursor - 1), limit);
    if (continueAfter !== undefined) linkNext(ctx, idCursor(continueAfter.index + 1));
    answer(ctx, jobAnswer(job, items.map(toBatchLine)));
  });

  router.delete('/jobs/:id', async (ctx) => {
    const id = ctx.params.id ?? '';
    const job = (await jobs.cancel(id)) ?? unknownJob(id);
    answer(ctx, jobAnswer(job), job.state === 'cancelled' ? 'The job is cancelled.' : 'The job had ended already.');
  });
}

/** Takes the work on and answers where it will be found. It is kept before it is answered. */
export async function answerAccepted(
  ctx: HttpContext,
  { jobs }: CaptureService,
  kind: JobKind,
  requests: readonly CaptureRequest[],
  manner?: JobManner,
): Promise<void> {
  const job = await jobs.add(kind, requests, manner);
  answer(ctx, jobAnswer(job), 'The job is kept, and will be done.');
  ctx.status = 202;
  ctx.set({ Location: `/jobs/${job.id}`, 'Preference-Applied': 'respond-async' });
}

/** Every outcome that is there, in pages, so that memory does not grow with the job. */
async function* allLines(
  jobs: CaptureService['jobs'],
  id: string,
  after: number,
): AsyncGenerator<string, void, undefined> {
  let page = await jobs.results(id, MAX_LIMIT, after);
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page.map((item) => `${JSON.stringify(toBatchLine(item))}\n`).join('');
    page = await jobs.results(id, MAX_LIMIT, last.index);
  }
}

function jobAnswer(job: JobRecord, results?: readonly BatchLine[]): JobAnswer {
  const { id, kind, state, done, failed, total, createdAt, startedAt, finishedAt, failure } = job;
  return {
    id,
    kind,
    state,
    progress: { done, failed, total },
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
