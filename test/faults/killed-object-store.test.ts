import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { partsOf } from '../../src/storage/remote/keys.ts';
import { capstan, type Ground, ground, type Served, serve } from '../commands/capstan-process.ts';
import { describeWithSharedMongo } from '../support/describe-with-mongo.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clientOf, describeWithS3, s3Flags, sweepOf } from '../support/s3.ts';
import { type AnsweredResult, allResults, resultSchema, stats } from './client.ts';
import { createRandom, type Random, seedOfRun } from './random.ts';

const ROUNDS = Number(process.env.CAPSTAN_KILL_ROUNDS ?? 1);
const KEYS = ['shop-key', 'news-key'] as const;
/** Pause of a reader, without which two of them keep a core busy. */
const PAUSE_MS = 50;
/** Captures that are sent while the store is away. */
const DURING = 4;
const answerSchema = z.object({ data: resultSchema.nullish(), code: z.string().optional() });

interface Kept {
  readonly key: string;
  readonly result: AnsweredResult;
}

/** The clients of two keys, which capture pages and read what they have captured. */
class Clients {
  readonly kept: Kept[] = [];
  /** Answers to readers that are neither the whole image nor a refusal that says to try again. */
  readonly wrong: string[] = [];
  readonly refusals = new Set<string>();
  #isDone = false;
  readonly #running: Promise<unknown>;
  readonly #images = new Map<string, string>();

  constructor(service: Served, random: Random, url: () => string) {
    const capture = (key: string) => this.#capture(service, key, url());
    const read = async () => {
      const one = this.kept.length === 0 ? undefined : this.kept[random.integer(0, this.kept.length - 1)];
      if (one !== undefined) await this.#read(service, one, random.integer(0, 3) === 0);
      await delay(PAUSE_MS);
    };
    const tasks = [...KEYS, ...KEYS].map((key) => () => capture(key)).concat(read, read);
    this.#running = Promise.all(
      tasks.map(async (task) => {
        while (!this.#isDone) await task();
      }),
    );
  }

  end(): Promise<unknown> {
    this.#isDone = true;
    return this.#running;
  }

  async #capture(service: Served, key: string, url: string): Promise<void> {
    const response = await fetch(`${service.url}/screenshot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', 'x-api-key': key },
      body: JSON.stringify({ url }),
    });
    const { data: result, code } = answerSchema.parse(await response.json());
    if (response.status === 200 && result != null) this.kept.push({ key, result });
    else this.wrong.push(`a capture was answered ${response.status} ${code}`);
  }

  /** `foreign`: with the key of the other tenant. */
  async #read(service: Served, { key, result }: Kept, foreign: boolean): Promise<void> {
    const asked = foreign ? KEYS[key === KEYS[0] ? 1 : 0] : key;
    const response = await fetch(`${service.url}${result.screenshot}`, {
      headers: { accept: 'image/*', connection: 'close', 'x-api-key': asked },
    });
    // An answer whose source ends in its middle is broken off.
    const body = await response.arrayBuffer().catch(() => undefined);
    if (body === undefined) return;
    const note = (what: string) => this.wrong.push(`capture ${result.id} was answered ${response.status} ${what}`);
    // As for an id that does not exist.
    if (foreign && response.status === 404) return;
    if (response.status === 200) {
      if (foreign) note('to the other key');
      const digest = createHash('sha256').update(Buffer.from(body)).digest('hex');
      const before = this.#images.get(result.screenshot) ?? digest;
      this.#images.set(result.screenshot, before);
      return before === digest ? undefined : void note('with another image');
    }
    const { code } = answerSchema.parse(JSON.parse(Buffer.from(body).toString()));
    const isKnown = code === 'artifacts_unavailable' || (code === 'artifact_pending' && !foreign);
    if (response.status !== 503 || !isKnown || !response.headers.has('retry-after')) return void note(String(code));
    if (!foreign) this.refusals.add(code);
  }
}

describeWithS3(
  'an object store that is killed with -9',
  (server) => {
    const site = siteForSuite();
    const random = createRandom(seedOfRun());
    let buckets = 0;

    function keepsAll(name: string, database: (place: Ground) => readonly string[]): void {
      it(
        `loses no answered capture of two keys, keeps each once, and answers readers with 503 meanwhile, ${name} (seed ${random.seed})`,
        async () => {
          buckets += 1;
          const bucket = `killed-${buckets}`;
          const client = await clientOf(server, bucket);
          const place = await ground();
          const keyFile = join(place.path, 'keys.txt');
          await writeFile(keyFile, KEYS.map((key) => `${key.replace('-key', '')}:${key}\n`).join(''));
          const stores = [...s3Flags(server, bucket), ...database(place)];
          const flags = [
            ...['--allow-targets', '127.0.0.1', '--max-concurrent', '3', '--data-dir', join(place.path, 'data')],
            ...stores,
          ];
          const service = await serve([...flags, '--api-key-file', keyFile, '--isolate-keys'], place.options);
          let pages = 0;
          const clients = new Clients(service, random, () => {
            pages += 1;
            return site.url(`/title?t=${pages}`);
          });
          const { kept, refusals } = clients;
          for (let round = 0; round < ROUNDS; round += 1) {
            const before = kept.length;
            await expect.poll(() => kept.length).toBeGreaterThan(before + random.integer(1, 6));
            await delay(random.integer(0, 300));
            await server.kill();
            const killed = kept.length;
            refusals.clear();
            await expect.poll(() => kept.length).toBeGreaterThan(killed + DURING);
            await expect.poll(() => [...refusals]).toContain('artifacts_unavailable');
            await server.start();
          }
          await clients.end();
          service.child.kill('SIGTERM');
          await service.ended;
          expect(clients.wrong).toEqual([]);

          const again = await serve(flags, place.options);
          await expect.poll(async () => (await stats(again.url)).store).toEqual({ state: 'up', outbox: 0 });
          const stored = await allResults(again.url);
          const byId = (one: { readonly id: number }, other: { readonly id: number }) => one.id - other.id;
          expect(stored.toSorted(byId)).toEqual(kept.map(({ result }) => result).toSorted(byId));
          for (const { id, screenshot } of stored) {
            const files = await Promise.all(
              ['', '?view=html'].map((view) =>
                fetch(`${again.url}${screenshot}${view}`, { headers: { accept: '*/*' } }),
              ),
            );
            expect([id, ...files.map(({ status }) => status)]).toEqual([id, 200, 200]);
            await Promise.all(files.map((file) => file.arrayBuffer()));
          }
          const checked = await capstan(['db', 'check', '--contents', ...stores], place.options);
          expect(checked.stdout).toContain('no problems found');
          again.child.kill('SIGTERM');
          await again.ended;
          await sweepOf(client).pass();
          const listed = await Array.fromAsync(client.list('captures/'));
          const keys = listed.flatMap(({ objects }) => objects.map(({ key }) => key));
          const captures = new Set(stored.map(({ id }) => id));
          expect(keys.filter((key) => !captures.has(partsOf(key)?.id ?? 0))).toEqual([]);
          expect(keys.filter((key) => partsOf(key)?.part === 'file').length).toBe(captures.size);
          client.close();
        },
        60_000 * (ROUNDS + 1),
      );
    }

    keepsAll('with SQLite', ({ path }) => ['--db-path', join(path, 'results.db')]);

    describeWithSharedMongo('of a service', (url) => {
      keepsAll('with MongoDB', () => ['--mongo-url', `${url()}killed-store`]);
    });
  },
  ['--conditional-put'],
);
