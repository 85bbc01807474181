import { startSilentImages } from '../../test/egress/silent-images.ts';
import { CAPTURES_BESIDE, hostileCapture, type ProcessFault } from './process-fault.ts';

/** A page with 400 images on names that no name server answers for. */
export const dnsStarvation: ProcessFault = {
  name: 'DNS starvation',
  prepare: async () => {
    const hostile = await startSilentImages();
    return {
      args: ['--name-servers', hostile.nameServer.address],
      run: async (service, answers) => {
        await using capture = hostileCapture(service, hostile.hostileUrl);
        await capture.until('no silent name was looked up', async () => hostile.silentNames().size > 0);
        const urls = Array.from({ length: CAPTURES_BESIDE }, (_, at) => hostile.goodUrl(`site-${at}`));
        await Promise.all(urls.map((url) => answers.capture(service.url, url)));
      },
      [Symbol.asyncDispose]: () => hostile[Symbol.asyncDispose](),
    };
  },
};
