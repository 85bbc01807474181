import { whyNoTmpfs } from '../../test/faults/tmpfs.ts';
import { CAPTURES_BESIDE, type ProcessFault, recovered } from './process-fault.ts';

const FULL = ['', 'storage_full', 'storage_unavailable', 'database_unavailable'];

/** The disk of the database, the data directory and the log file is full. */
export const fullDisks: ProcessFault = {
  name: 'full disks',
  whyNot: ({ disk }) => (disk === undefined ? (whyNoTmpfs ?? 'no small file system is mounted') : undefined),
  prepare: async ({ disk, site }) => {
    if (disk === undefined) throw new Error('no small file system is mounted');
    return {
      args: ['--log-file', 'disk/capstan.log'],
      run: async (service, answers) => {
        await disk.fill();
        for (let count = 0; count < CAPTURES_BESIDE; count += 1) {
          await answers.capture(service.url, site.url('/short'), FULL);
        }
        await answers.capture(service.url, site.url('/empty-response'), [...FULL, 'target_unreachable']);
        await disk.free();
        await recovered('the service is not ready', async () => (await fetch(`${service.url}/readyz`)).ok);
        await answers.capture(service.url, site.url('/short'));
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};
