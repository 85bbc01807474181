import { describe, expect, it } from 'vitest';
import { createRandom, seedOfRun } from '../faults/random.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { clusterOf, ownServersForSuite, whyNoCluster } from './cluster-of-processes.ts';
import { killNodes, type Victim } from './killed-nodes.ts';

const VICTIMS = ['worker', 'nats', 'api'] as const;

const whyNot = await whyNoCluster();
const reason = whyNot === undefined ? '' : ` (skipped: ${whyNot})`;

describe.skipIf(whyNot !== undefined)(`a cluster whose processes are killed with -9${reason}`, () => {
  const site = siteForSuite();
  const servers = ownServersForSuite();
  const random = createRandom(seedOfRun());

  // `npm run bench -- cluster-kill` runs more rounds, `cluster-mongo` those in which MongoDB is restarted.
  const rounds = Number(process.env.CAPSTAN_KILL_ROUNDS ?? 0);
  const choices: readonly [Victim, ...Victim[]] = process.env.CAPSTAN_KILL_MONGO === '1' ? ['mongo'] : VICTIMS;

  it(
    `gives each accepted capture one outcome and keeps every answered capture (seed ${random.seed})`,
    async () => {
      let pages = 0;
      await using cluster = await clusterOf(servers, 'killed');
      const answers = await killNodes({
        servers,
        cluster,
        name: 'killed',
        url: () => {
          pages += 1;
          return site.url(`/title?t=killed-${pages}`);
        },
        victims: rounds === 0 ? VICTIMS : Array.from({ length: rounds }, () => random.pick(choices)),
        random,
        ...(rounds > 0 && { report: (text) => console.log(text) }),
      });
      expect(answers.get(200)).toBeGreaterThan(10);
    },
    180_000 + 60_000 * Number(process.env.CAPSTAN_KILL_ROUNDS ?? 0),
  );
});
