import { concatMap, fromEvent, lastValueFrom, takeUntil } from 'rxjs';
import type { BatchItem } from '../../capture/outcome.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { Config } from '../../config/mod.ts';
import type { CaptureService } from '../../service/create-service.ts';
import { temporary } from '../own-service.ts';
import type { Capturing, ShotOutcome } from './shot-files.ts';

/** Captures pages in this process, with a service that lives as long as they take. */
export function captureHere(requests: readonly CaptureRequest[], config: Config): Capturing {
  return async (logger, ending, each) => {
    const { createService } = await import('../../service/create-service.ts');
    const service = await createService({ ...temporary(config), dbPath: null, maxQueue: requests.length }, logger);
    ending.watchOver(service);
    try {
      const outcomes = service.submitBatch(requests, { concurrency: config.maxConcurrent }).pipe(
        takeUntil(fromEvent(ending.signal, 'abort')),
        concatMap((item) => each(outcomeOf(item, service.artifacts))),
      );
      await lastValueFrom(outcomes, { defaultValue: undefined });
    } finally {
      await service.stop(0);
    }
  };
}

function outcomeOf({ index, url, outcome }: BatchItem, artifacts: CaptureService['artifacts']): ShotOutcome {
  if (outcome.state !== 'stored') return { index, url, failure: outcome.failure };
  const { artifacts: stored, ...result } = outcome.result;
  return {
    index,
    url,
    capture: {
      result,
      evidence: outcome.evidence,
      outputs: result.outputs.map(({ name }) => name).filter((name) => stored?.kinds.includes(name)),
      open: async (kind) => {
        const artifact = await artifacts.open(result.id, kind, { undelivered: true });
        if (artifact === undefined) throw new Error(`the ${kind} of ${url} is gone`);
        return artifact.stream();
      },
    },
  };
}
