import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long for their size, in the order in which they start. Vitest starts the largest files first where it
 * knows no times of an earlier run: these came last, and the run waited for one of them.
 */
const LONG = [
  'test/container/container.test.ts',
  'test/docs/examples.test.ts',
  'test/faults/soak.test.ts',
  'test/bin/install.test.ts',
  'test/cluster/killed-nodes.test.ts',
  'test/cluster/lost-worker.test.ts',
  'test/cluster/rolling-restart.test.ts',
  'test/commands/demo-cluster.test.ts',
  // Their captures have deadlines, which the builds of the first files would take from them.
  'test/actors/playwright-driver.test.ts',
  'test/actors/direct-driver.test.ts',
];

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((file) => moduleId.endsWith(file));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
