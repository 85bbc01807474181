import type { BenchOptions } from './support/bench.ts';
import { residentKiB } from './support/process-tree.ts';
import { startServiceProcess } from './support/service-process.ts';
import { startBenchSite } from './support/site.ts';
import { trend } from './support/statistics.ts';
import type { Finding } from './support/table.ts';

/** Captures before the first sample: caches fill, the code gets compiled, the heap reaches its size. */
const WARM_UP_SHARE = 0.2;
const CONCURRENCY = 3;
/**
 * Resident memory is a saw-tooth of tens of MiB while screenshots are allocated and collected. A leak shows in the
 * lowest points, so one is taken from each of this many blocks.
 */
const BLOCKS = 16;
/** Largest slope that is not a leak, in KiB per capture: a leaked record has 1 KiB, and a leaked page hundreds. */
const MAX_SLOPE_KIB = 1;

type Sample = readonly [captures: number, residentKiB: number];

/** Memory of the service's own process over many captures, without its browsers. */
export async function memory({ browserPath, memoryCaptures, report }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  const service = await startServiceProcess({ browserPath });
  try {
    const warmUp = Math.floor(memoryCaptures * WARM_UP_SHARE);
    const samples: Sample[] = [];
    let captures = 0;
    const captureUntil = async (goal: number) => {
      const waiting = site.urls(goal - captures).values();
      const worker = async () => {
        for (const url of waiting) {
          const { status, body } = await service.capture(url);
          if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
          captures += 1;
          if (captures > warmUp) samples.push([captures, residentKiB(service.pid)]);
          if (captures % 100 === 0) report(`memory: ${captures} captures, ${residentKiB(service.pid)} KiB resident`);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    };

    await captureUntil(warmUp);
    const heapBefore = await service.bytesAfterCollection();
    await captureUntil(memoryCaptures);
    const heapAfter = await service.bytesAfterCollection();

    const { slope, standardError } = trend(lowestOfBlocks(samples));
    const heapSlope = (heapAfter - heapBefore) / 1024 / (memoryCaptures - warmUp);
    return [
      {
        what: `resident memory over ${memoryCaptures} captures, slope`,
        figure: `${slope.toFixed(1)} +- ${(2 * standardError).toFixed(1)} KiB/capture (${spreadMiB(samples)} MiB)`,
        target: `none: <= ${MAX_SLOPE_KIB} within the error`,
        met: slope - 2 * standardError <= MAX_SLOPE_KIB,
      },
      {
        what: 'heap and buffers after a full collection, growth',
        figure: `${heapSlope.toFixed(2)} KiB/capture (${mebibytes(heapBefore)} to ${mebibytes(heapAfter)} MiB)`,
        target: `<= ${MAX_SLOPE_KIB} KiB/capture`,
        met: heapSlope <= MAX_SLOPE_KIB,
      },
    ];
  } finally {
    await service.stop();
    await site.stop();
  }
}

function lowestOfBlocks(samples: readonly Sample[]): readonly Sample[] {
  const size = Math.ceil(samples.length / BLOCKS);
  const blocks = Map.groupBy(samples.entries(), ([index]) => Math.floor(index / size));
  return [...blocks.values()].map((block) =>
    block.map(([, sample]) => sample).reduce((lowest, sample) => (sample[1] < lowest[1] ? sample : lowest)),
  );
}

function spreadMiB(samples: readonly Sample[]): string {
  const sizes = samples.map(([, size]) => size / 1024);
  return `${Math.min(...sizes).toFixed(0)} to ${Math.max(...sizes).toFixed(0)}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
