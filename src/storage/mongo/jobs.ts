import { Binary, type Collection, type Db, type Filter } from 'mongodb';
import type { Failure } from '../../capture/errors.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobItem,
  type JobKind,
  type JobRecord,
  type JobState,
  type JobStore,
  keyOfJob,
  MAX_JOBS,
  refusalOfJob,
} from '../ports/job-store.ts';
import { insertNew } from './collections.ts';
import type { Ask } from './connection.ts';
import { inMs } from './documents.ts';

interface JobDocument {
  readonly _id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly total: number;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly failure: Failure | null;
  readonly owner: string | null;
  readonly lease_until: Date;
  readonly work: Binary;
}

interface ItemDocument extends JobItem {
  readonly _id: string;
  readonly job: string;
}

const UNFINISHED = { $in: ['queued', 'running'] satisfies JobState[] };
const FINISHED = { $nin: ['queued', 'running'] satisfies JobState[] };
/** Replaces the requests of an ended job, which may contain credentials. */
const NOTHING = new Binary(new Uint8Array());
const RUNNING = 'running' satisfies JobState;

/** Creates the indexes. */
export async function prepareJobs(db: Db): Promise<void> {
  const { jobs, items } = collectionsOf(db);
  // Answers whose turn it is without reading the jobs, whose work may be large.
  const turn = { state: 1, created_at: 1, owner: 1, lease_until: 1, _id: 1 } as const;
  await jobs.createIndex(turn, { name: 'by_turn' });
  await items.createIndex({ job: 1, index: 1 }, { name: 'by_job' });
  await items.createIndex({ job: 1, failed: 1 }, { name: 'by_failed' });
}

function collectionsOf(db: Db) {
  return { jobs: db.collection<JobDocument>('jobs'), items: db.collection<ItemDocument>('job_results') };
}

/** Uses the server's time, because the clocks of the machines may differ. */
export function mongoJobs(db: Db, ask: Ask): JobStore {
  const { jobs, items } = collectionsOf(db);

  const get = async (id: string): Promise<JobRecord | undefined> => {
    const document = await jobs.findOne({ _id: id }, { projection: { work: 0 } });
    if (document === null) return undefined;
    const [done, failed] = await Promise.all([
      items.countDocuments({ job: id }),
      items.countDocuments({ job: id, failed: true }),
    ]);
    return recordOf(document, done, failed);
  };

  const remove = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    await items.deleteMany({ job: { $in: [...ids] } });
    await jobs.deleteMany({ _id: { $in: [...ids] } });
  };

  return {
    add: (job, maxJobs = MAX_JOBS) =>
      ask(async () => {
        const ofKey = jobsOf(keyOfJob(job.id));
        const [all, own, kept] = await Promise.all([
          jobs.countDocuments({ state: UNFINISHED }),
          jobs.countDocuments({ state: UNFINISHED, ...ofKey }),
          jobs.countDocuments(ofKey),
        ]);
        const refusal = refusalOfJob(job, { all, own }, maxJobs);
        if (refusal !== undefined) throw refusal;
        const excess = kept + 1 - maxJobs;
        if (excess > 0) await remove(await idsOf(jobs, { state: FINISHED, ...ofKey }, excess));
        await jobs.updateOne(
          { _id: job.id },
          [
            {
              $set: {
                kind: { $literal: job.kind },
                state: 'queued',
                total: job.total,
                created_at: '$$NOW',
                started_at: null,
                finished_at: null,
                failure: null,
                owner: null,
                lease_until: new Date(0),
                work: new Binary(job.work),
              },
            },
          ],
          { upsert: true },
        );
      }),
    get: (id) => ask(() => get(id)),
    newest: (limit, key) =>
      ask(() =>
        jobs
          .find(key === undefined ? {} : jobsOf(key), { projection: { _id: 1 } })
          .sort({ created_at: -1 })
          .limit(limit)
          .map(({ _id }) => _id)
          .toArray(),
      ),
    results: (id, limit, after = -1) =>
      ask(() =>
        items
          .find({ job: id, index: { $gt: after } })
          .sort({ index: 1 })
          .limit(limit)
          .map(({ index, failed, body }) => ({ index, failed, body }))
          .toArray(),
      ),
    take: (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) =>
      ask(async () => {
        const taken = await takeInTurn(jobs, owner, { leaseMs, maxRunning: isForIdleKeys ? 0 : MAX_JOBS });
        if (taken === undefined) return undefined;
        const done = await items
          .find({ job: taken._id })
          .project<{ index: number }>({ _id: 0, index: 1 })
          .sort({ index: 1 })
          .toArray();
        const work = Uint8Array.from(taken.work.buffer);
        return { id: taken._id, kind: taken.kind, work, done: done.map(({ index }) => index) };
      }),
    renew: (id, owner) =>
      ask(async () => {
        const { matchedCount } = await jobs.updateOne(own(id, owner), [{ $set: { lease_until: inMs(JOB_LEASE_MS) } }]);
        return matchedCount > 0;
      }),
    put: (id, owner, outcomes) =>
      ask(async () => {
        if ((await jobs.countDocuments(own(id, owner))) === 0) return;
        const documents = outcomes.map((item) => ({ _id: `${id}/${item.index}`, job: id, ...item }));
        await insertNew(items, documents);
      }),
    finish: (id, owner, end) =>
      ask(async () => {
        const failure = end.state === 'failed' ? end.failure : null;
        await jobs.updateOne(own(id, owner), [
          { $set: { state: end.state, finished_at: '$$NOW', failure: { $literal: failure }, work: NOTHING } },
        ]);
      }),
    release: (id, owner) =>
      ask(async () => {
        await jobs.updateOne(own(id, owner), { $set: { owner: null } });
      }),
    cancel: (id) =>
      ask(async () => {
        await jobs.updateOne({ _id: id, state: UNFINISHED }, [
          { $set: { state: 'cancelled', finished_at: '$$NOW', work: NOTHING } },
        ]);
        return get(id);
      }),
    prune: (lifeMs = JOB_LIFE_MS) =>
      ask(async () => {
        const old = { $expr: { $lte: ['$finished_at', { $subtract: ['$$NOW', lifeMs] }] } };
        await remove(await idsOf(jobs, { state: FINISHED, ...old }, MAX_JOBS));
      }),
  };
}

/** Returns the filter for the jobs of a key, see `jobKeyOf`. */
function jobsOf(key: string): Filter<JobDocument> {
  // All ids of a key begin with it; `/` is the character after its last one, `.`.
  return key === '' ? { _id: { $not: /\./ } } : { _id: { $gte: key, $lt: `${key.slice(0, -1)}/` } };
}

const KEY = { $substrCP: ['$_id', 0, { $add: [{ $indexOfCP: ['$_id', '.'] }, 1] }] };
const IS_LEASED = { $and: [{ $ne: ['$owner', null] }, { $gt: ['$lease_until', '$$NOW'] }] };

/** Takes the oldest job of the key with the fewest running jobs. */
async function takeInTurn(
  jobs: Collection<JobDocument>,
  owner: string,
  { leaseMs, maxRunning }: { readonly leaseMs: number; readonly maxRunning: number },
) {
  const keys = await jobs
    .aggregate<{ _id: string }>([
      { $match: { state: UNFINISHED } },
      {
        $group: {
          _id: KEY,
          running: { $sum: { $cond: [IS_LEASED, 1, 0] } },
          oldest: { $min: { $cond: [IS_LEASED, null, '$created_at'] } },
        },
      },
      { $match: { oldest: { $ne: null }, running: { $lte: maxRunning } } },
      { $sort: { running: 1, oldest: 1 } },
    ])
    .toArray();
  for (const { _id: key } of keys) {
    const taken = await jobs.findOneAndUpdate(
      { state: UNFINISHED, ...jobsOf(key), $expr: { $not: [IS_LEASED] } },
      [
        {
          $set: {
            state: RUNNING,
            owner: { $literal: owner },
            lease_until: inMs(leaseMs),
            started_at: { $ifNull: ['$started_at', '$$NOW'] },
          },
        },
      ],
      { sort: { created_at: 1 }, returnDocument: 'after' },
    );
    // Null: another process has taken it meanwhile.
    if (taken !== null) return taken;
  }
  return undefined;
}

async function idsOf(
  jobs: Collection<JobDocument>,
  filter: Parameters<typeof jobs.find>[0],
  limit: number,
): Promise<readonly string[]> {
  const documents = await jobs.find(filter).project<{ _id: string }>({ _id: 1 }).sort({ finished_at: 1 }).limit(limit);
  return (await documents.toArray()).map(({ _id }) => _id);
}

function recordOf(document: Omit<JobDocument, 'work'>, done: number, failed: number): JobRecord {
  const { _id, kind, state, total, created_at, started_at, finished_at, failure } = document;
  return {
    id: _id,
    kind,
    state,
    total,
    done,
    failed,
    createdAt: created_at.toISOString(),
    startedAt: started_at?.toISOString() ?? null,
    finishedAt: finished_at?.toISOString() ?? null,
    failure,
  };
}

function own(id: string, owner: string) {
  return { _id: id, owner, state: RUNNING } as const;
}
