import { CAPTURES_BESIDE, hostileCapture, type ProcessFault } from './process-fault.ts';

const FLOODS = ['/flood?by=push', '/flood?by=hash&bytes=1900000'] as const;

/** Pages that navigate in a loop, with short and long URLs. */
export const navigationFlood: ProcessFault = {
  name: 'navigation flood',
  prepare: async ({ site }) => ({
    run: async (service, answers) => {
      for (const path of FLOODS) {
        const before = site.hits('/flood');
        await using hostile = hostileCapture(service, site.url(path));
        await hostile.until('the hostile page was not loaded', async () => site.hits('/flood') > before);
        for (let count = 0; count < CAPTURES_BESIDE / FLOODS.length; count += 1) {
          await answers.capture(service.url, site.url('/short'));
        }
      }
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
};
