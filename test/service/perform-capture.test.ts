import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { from, lastValueFrom } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOptions } from '../../src/capture/request.ts';
import type { Snapshot } from '../../src/capture/result/snapshot.ts';
import { type CaptureParts, performCapture } from '../../src/service/capturing/perform-capture.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { captureRequest } from '../support/capture-request.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const NOTHING = { items: [], omitted: 0 };
const SNAPSHOT: Snapshot = {
  url: 'https://example.com/',
  finalUrl: 'https://example.com/',
  title: 'Example',
  responseCode: 200,
  responseReason: 'OK',
  contentType: 'text/html',
  contentLength: 1,
  image: Buffer.from('picture'),
  outputs: {},
  elements: null,
  words: null,
  html: '<p>',
  width: 1,
  height: 1,
  truncated: false,
  truncatedBy: '',
  fullHeight: 0,
  cutPhase: null,
  timings: {},
  protocol: 'h2',
  evidence: { dialogs: NOTHING, popups: NOTHING, cookies: NOTHING },
  remoteIp: null,
  hostFacts: null,
  softwareSigns: { url: '', headers: [], cookies: [], metas: [], scripts: [], libraries: [], title: '', favicon: null },
  banner: null,
  verdict: null,
};

describe('performCapture', () => {
  let directory: string;
  let storage: Storage;

  beforeAll(async () => {
    directory = await makeDirectory();
    storage = await createStorage({ dataDir: join(directory, 'data'), dbPath: join(directory, 'results.db') });
  });

  afterAll(async () => {
    await storage.close();
  });

  const commanded = (signal: AbortSignal, options: CaptureOptions = {}): CaptureCommand => ({
    id: storage.ids.next(),
    request: captureRequest('https://example.com/', options),
    batch: null,
    apiKeyName: null,
    requestId: null,
    signal,
  });

  const performing = (
    command: CaptureCommand,
    actors: CaptureParts['actors'],
    { captureStore }: Pick<CaptureParts, 'captureStore'> = storage,
  ) =>
    performCapture(command, {
      egress: {
        dial: () => Promise.reject(new Error('a target was dialled')),
        screen: async () => null,
        screenLiteral: () => null,
        aliasesOf: async () => [],
        certificateOf: async () => null,
      },
      actors,
      technologies: { find: async () => [] },
      ipFacts: { lookUp: async () => null, counts: null },
      captureStore,
      logger: pino({ level: 'silent' }),
    });

  /** Performs a capture whose browser returns `page`. Returns its state, and whether it has a record and files. */
  async function perform(page: (leave: () => void) => Snapshot, options: CaptureOptions = {}) {
    const client = new AbortController();
    const command = commanded(client.signal, options);
    const outcomes = performing(command, {
      capture: async (_request, _signal, { onReturned } = {}) => {
        onReturned?.();
        return page(() => client.abort(new CapstanError('cancelled')));
      },
    });
    const { state } = await lastValueFrom(from(outcomes));
    const record = await storage.results.get(command.id);
    const files = await storage.artifacts.info(command.id);
    return { state, record: record !== undefined, files: files !== undefined };
  }

  it('does not store a capture whose client disconnected before its end', async () => {
    const taken = await perform((leave) => {
      leave();
      return SNAPSHOT;
    });
    expect(taken).toEqual({ state: 'cancelled', record: false, files: false });
    expect(await perform(() => SNAPSHOT)).toEqual({ state: 'stored', record: true, files: true });
  });

  it('does not record a failure whose client disconnected before its end', async () => {
    const failing = (leave: () => void) => {
      leave();
      throw new CapstanError('target_unreachable');
    };
    expect(await perform(failing)).toEqual({ state: 'cancelled', record: false, files: false });
    expect(await perform(() => failing(() => {}))).toEqual({ state: 'failed', record: true, files: false });
  });

  it('tells at once that it cannot be stored, and holds its slot until its browser is free', async () => {
    const captureStore: CaptureParts['captureStore'] = {
      pending: storage.captureStore.pending,
      keep: () => Promise.reject(new CapstanError('storage_full')),
    };
    const browser = Promise.withResolvers<void>();
    const actors: CaptureParts['actors'] = {
      capture: async (_request, _signal, { onReturned = () => {} } = {}) => {
        void browser.promise.then(onReturned);
        return SNAPSHOT;
      },
    };
    const outcomes = performing(commanded(new AbortController().signal), actors, { captureStore });
    const { value } = await outcomes.next();
    expect(value).toMatchObject({ state: 'failed', failure: { code: 'storage_full' }, result: null });
    let isOver = false;
    const ending = outcomes.next().then(() => {
      isOver = true;
    });
    await setImmediate();
    expect(isOver).toBe(false);
    browser.resolve();
    await ending;
  });

  it('stores a capture whose screenshot cannot be hashed', async () => {
    // The screenshot of this snapshot is not an image.
    const taken = await perform(() => SNAPSHOT, { evidence: ['perception_hash'] });
    expect(taken).toEqual({ state: 'stored', record: true, files: true });
  });
});
