import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startSite } from '../test/fixtures/site.ts';
import { setup as useOneDirectory } from '../test/support/one-temporary-directory.ts';

/*
 * Demonstrates capturing and querying without a network: starts a sample site and the service on loopback.
 *
 * npm run demo [-- [--cluster] [<data directory>]]
 *
 * `--cluster` starts NATS, MongoDB, two api nodes and three workers, and kills a worker meanwhile.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { cluster: { type: 'boolean', default: false } },
});
const [dataDir = join(import.meta.dirname, '../data', values.cluster ? 'demo-cluster' : 'demo')] = positionals;

// The service must end with this process, whatever ends it.
process.once('SIGTERM', () => process.exit(143));
process.once('SIGINT', () => process.exit(130));

process.once('exit', await useOneDirectory());
const site = await startSite();
try {
  process.stdout.write(`A sample site serves on ${site.origin}, and nothing else is contacted.\n`);
  const demonstrate = values.cluster
    ? (await import('./demo/cluster.ts')).demonstrateCluster
    : (await import('./demo/sample.ts')).demonstrateService;
  process.exitCode = (await demonstrate(site, resolve(dataDir))) ? 0 : 1;
} finally {
  await site.close();
}
