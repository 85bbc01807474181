import { once } from 'node:events';
import { openCluster } from '../../src/cluster/open-cluster.ts';
import { serveStub, storedAtOnce } from '../support/stub-service.ts';

/*
 * A node of a cluster as a process of its own, with a stub in place of browsers and stores. Prints its address, or
 * `ready`. Ends with its parent.
 *
 * node bench/cluster/stub-node.ts api|worker <NATS URL> <name of the cluster> <slots>
 */

const [, , role, natsUrl = '', name = '', slots = ''] = process.argv;
const LIMITS = { maxConcurrent: Number(slots), maxQueue: 1000 };

let setUp: () => void = () => {};
const isUp = new Promise<void>((resolve) => {
  setUp = resolve;
});
const cluster = openCluster({
  servers: { natsUrl: [natsUrl], natsCreds: null, natsTlsCa: null, natsTlsCert: null, natsTlsKey: null },
  name,
  role: role === 'api' ? 'api' : 'worker',
  limits: LIMITS,
  onState: () => setUp(),
  onProblem: (problem) => console.error(problem),
  onBadMessages: () => {},
});

const stop = role === 'api' ? await startApi() : startWorker();
await isUp;
process.channel?.ref();
await once(process, 'disconnect');
await stop();
await cluster.close();

async function startApi(): Promise<() => Promise<void>> {
  const api = cluster.createApi({ evidenceOf: () => Promise.resolve(null), inFlight: () => [], onLimits: () => {} });
  const stub = await serveStub({ limits: LIMITS, perform: api.perform, turns: api.turns });
  cluster.start();
  await isUp;
  console.log(stub.address);
  return () => stub.stop();
}

function startWorker(): () => Promise<void> {
  const worker = cluster.createWorker({
    slots: LIMITS.maxConcurrent,
    outbox: () => 0,
    capture: (command) => Promise.resolve(storedAtOnce(command)),
    findOutcome: () => Promise.resolve(undefined),
    logEnd: async () => {},
  });
  cluster.start();
  void isUp.then(() => console.log('ready'));
  return () => worker.stop(0);
}
