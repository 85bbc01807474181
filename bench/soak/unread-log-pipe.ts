import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { askUntilLinesAreDropped, makePipe } from '../../test/commands/unread-pipe.ts';
import { CAPTURES_BESIDE, type ProcessFault } from './process-fault.ts';

/** Standard error is a full pipe that nobody reads. */
export const unreadLogPipe: ProcessFault = {
  name: 'unread log pipe',
  prepare: async ({ place, site }) => {
    const pipe = makePipe(place);
    return {
      options: { stderrFd: pipe.writeFd },
      run: async (service, answers) => {
        await askUntilLinesAreDropped(service);
        for (let count = 0; count < CAPTURES_BESIDE; count += 1) await answers.capture(service.url, site.url('/short'));
      },
      async [Symbol.asyncDispose]() {
        pipe.hangUp();
        pipe[Symbol.dispose]();
        await rm(join(place.path, 'stderr'));
      },
    };
  },
};
