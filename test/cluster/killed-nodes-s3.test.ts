import { describe, expect, it } from 'vitest';
import { findCapture } from '../../src/storage/remote/captures.ts';
import { partsOf } from '../../src/storage/remote/keys.ts';
import { keysOf } from '../../src/storage/remote/pack.ts';
import { s3Backend } from '../../src/storage/s3/backend.ts';
import { createRandom, seedOfRun } from '../faults/random.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clientOf, describeWithS3, sweepOf } from '../support/s3.ts';
import { clusterOf, ownServersForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { killNodes, type Victim } from './killed-nodes.ts';

const VICTIMS: readonly [Victim, ...Victim[]] = ['s3', 'worker', 'api', 'nats'];
const BUCKET = 'killed';

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster with captures in an object store${reason}`, () => {
  describeWithS3(
    'all of whose processes are killed with -9',
    (server) => {
      const site = siteForSuite();
      const servers = ownServersForSuite();
      const random = createRandom(seedOfRun());
      // `npm run bench -- cluster-s3` runs more rounds.
      const rounds = Number(process.env.CAPSTAN_KILL_ROUNDS ?? 0);

      it(
        `keeps every answered capture, and each once (seed ${random.seed})`,
        async () => {
          const client = await clientOf(server, BUCKET);
          let pages = 0;
          await using cluster = await clusterOf(servers, 'killed-s3');
          const answers = await killNodes({
            servers,
            cluster,
            name: 'killed-s3',
            s3: { server, bucket: BUCKET },
            url: () => {
              pages += 1;
              return site.url(`/title?t=killed-${pages}`);
            },
            victims: rounds === 0 ? VICTIMS : Array.from({ length: rounds }, () => random.pick(VICTIMS)),
            random,
            ...(rounds > 0 && { report: (text) => console.log(text) }),
          });
          expect(answers.get(200)).toBeGreaterThan(10);
          const problems: unknown[] = [];
          await sweepOf(client, { onProblem: (problem) => problems.push(problem) }).pass();
          expect(problems).toEqual([]);
          const backend = s3Backend(client);
          const keys = (await Array.fromAsync(backend.list('captures/'))).map(({ key }) => key);
          // The store that was killed may have captures that it does not list: each is asked for.
          const files = keys.filter((key) => partsOf(key)?.part === 'file');
          const unnamed: string[] = [];
          for (const key of files) {
            const found = await findCapture(backend, partsOf(key)?.id ?? 0);
            if (found === undefined || !keysOf(found).includes(key)) unnamed.push(key);
          }
          expect(unnamed).toEqual([]);
          client.close();
        },
        180_000 + 60_000 * rounds,
      );
    },
    ['--conditional-put'],
  );
});
