import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { failedResult } from '../../src/capture/build-result.ts';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { loadConfig } from '../../src/config/mod.ts';
import { createHttpApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/server.ts';
import { tallyEvents } from '../../src/metrics/tallies.ts';
import { type CaptureService, createService } from '../../src/service/create-service.ts';
import { createBatchRunner } from '../../src/streams/batch.ts';
import { type CapturePipelineOptions, createCapturePipeline } from '../../src/streams/capture-pipeline.ts';
import { createEventStream } from '../../src/streams/events.ts';

/** Returns the outcome of a capture that needed no browser and no store. */
export function storedAtOnce(command: CaptureCommand): CaptureOutcome {
  const timing = { startedAt: Date.now(), durationMs: 0 };
  // A record like any other, without the failure.
  const result = failedResult(command, new CapstanError('internal'), timing);
  return {
    state: 'stored',
    result: { ...result, failed: false, failed_code: '', failed_reason: '' },
    evidence: null,
  };
}

export interface StubService {
  /** `http://127.0.0.1:<port>` */
  readonly address: string;
  stop(): Promise<void>;
}

/**
 * Serves the service over HTTP with stubs in place of its browsers and stores. This leaves the service's own work for a
 * capture: read, validate, queue, run, count, publish the event, answer.
 */
export async function serveStub(
  options: Pick<CapturePipelineOptions, 'limits' | 'perform' | 'turns'>,
): Promise<StubService> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-dispatch-'));
  const logger = pino({ level: 'silent' });
  const config = loadConfig({
    flags: { dataDir: directory, browserPath: '/nonexistent' },
    env: {},
    readFile: () => '{}',
    machine: { cores: availableParallelism() },
  });
  const real = await createService(config, logger);

  const events = createEventStream();
  tallyEvents(events.events$);
  let id = 0;
  const pipeline = createCapturePipeline({
    ...options,
    ids: () => ++id,
    events,
    report: (error) => console.error(error),
  });
  const submitBatch = createBatchRunner({ pipeline, submit: pipeline.submit, events, ids: randomUUID });
  const stub: CaptureService = Object.create(real, {
    submit: { value: pipeline.submit },
    submitBatch: { value: submitBatch },
    refuseUnread: { value: () => pipeline.refuseUnread() },
  });

  const app = createHttpApp(stub, {
    apiKeys: [],
    maxBatch: 1000,
    defaultTimeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    logger,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  return {
    address: server.address,
    async stop() {
      await server.close(0);
      await real.stop(0);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
