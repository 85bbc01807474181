import { beforeAll } from 'vitest';
import { clientOf, describeWithS3, s3Options } from '../support/s3.ts';
import { NO_BROWSER } from '../support/service.ts';
import { describeRemoval } from './removed-captures.ts';
import { describeStoredImages } from './stored-images.ts';

describeWithS3('captures in an object store over HTTP', (server) => {
  const s3 = (name: string) => ({ ...NO_BROWSER, ...s3Options(server, 'captures'), s3Prefix: name });

  beforeAll(async () => {
    (await clientOf(server, 'captures')).close();
  });

  describeStoredImages(s3);
  describeRemoval(() => s3('removal'));
});
