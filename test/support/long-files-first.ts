import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long for their size. Vitest starts the largest files first where it knows no times of an earlier run:
 * these came last, and the run waited for one of them.
 */
const LONG = [
  'test/container/container.test.ts',
  'test/docs/examples.test.ts',
  'test/faults/soak.test.ts',
  'test/actors/playwright-driver.test.ts',
  'test/actors/direct-driver.test.ts',
  'test/bin/install.test.ts',
  'test/cluster/killed-nodes.test.ts',
  'test/cluster/lost-worker.test.ts',
  'test/cluster/rolling-restart.test.ts',
  'test/commands/demo-cluster.test.ts',
];

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((file) => moduleId.endsWith(file));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
