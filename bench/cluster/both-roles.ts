import type { BenchOptions } from '../support/bench.ts';
import type { Contender } from '../support/contender.ts';
import { interleavedRounds } from '../support/rounds.ts';
import { serviceContender } from '../support/service-contender.ts';
import { startBenchSite } from '../support/site.ts';
import { median } from '../support/statistics.ts';
import type { Finding } from '../support/table.ts';
import { ratioFinding, seriesTable } from '../throughput.ts';
import { startServers } from './servers.ts';

const AT_ONCE = 4;
const SHARE = 0.95;
const SINGLE = 'one process, MongoDB, GridFS';

export interface BothRoles {
  /** CPU seconds of a capture of one process with both roles, browsers included. */
  readonly cpuSecondsPerCapture: number;
  readonly findings: readonly Finding[];
}

/** Throughput of one process with both roles, relative to a process without a cluster and with the same stores. */
export async function bothRoles(options: BenchOptions): Promise<BothRoles> {
  const { browserPath, captures, print } = options;
  await using servers = await startServers();
  const site = await startBenchSite();
  const contender = (name: string, ...flags: readonly string[]): Contender => ({
    ...serviceContender({
      browserPath,
      database: [
        '--mongo-url',
        `${servers.mongo.url}${flags.length === 0 ? 'single' : 'both'}`,
        '--artifacts',
        'gridfs',
      ],
      flags,
    }),
    name,
  });
  try {
    const series = await interleavedRounds(
      [
        contender(
          'both roles, MongoDB, GridFS',
          '--role',
          'all',
          '--nats-url',
          servers.nats.url,
          '--cluster-name',
          'both',
        ),
        contender(SINGLE),
        { ...serviceContender({ browserPath }), name: 'one process, SQLite, files' },
      ],
      { ...options, concurrencies: [AT_ONCE], urls: site.urls(captures) },
    );
    print(seriesTable(series));
    return {
      cpuSecondsPerCapture: median(series[0]?.rounds.map((round) => round.cpuSecondsPerCapture) ?? []),
      findings: [ratioFinding(series, SINGLE, SHARE)],
    };
  } finally {
    await site.stop();
  }
}
